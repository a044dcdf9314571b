"""Files and folders appear whole or not at all, and nobody's part is in another's way."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from layoutdm import atomic
from layoutdm.atomic import replacing, swapping, write_bytes, write_text
from layoutdm.errors import LayoutdmError
from layoutdm.folders import LIST, replacing_folder


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_error_leaves_the_old_file_and_no_part(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with pytest.raises(ZeroDivisionError), replacing(path) as part:
        part.write_text("new")
        _ = 1 / 0
    assert path.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_the_mode_of_an_old_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_text(path, "old")
    path.chmod(0o640)
    write_bytes(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_what_the_system_refuses_is_said_of_the_named_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with pytest.raises(OSError, match=r"/a\.txt") as caught, replacing(path) as part:
        (part / "inside").read_text()
    assert caught.value.filename == str(path)


def test_two_threads_on_one_path_do_not_disturb_each_other(tmp_path: Path) -> None:
    path, started = tmp_path / "a.txt", threading.Barrier(2)
    errors: list[BaseException] = []

    def work(text: str) -> None:
        try:
            for _ in range(20):
                started.wait(300)
                with replacing(path) as part:
                    part.write_text(text)
                    started.wait(300)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(text,)) for text in ("one" * 999, "two" * 999)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert path.read_text() in ("one" * 999, "two" * 999)
    assert names(tmp_path) == ["a.txt"]


def test_two_threads_on_one_folder_do_not_disturb_each_other(tmp_path: Path) -> None:
    path, started = tmp_path / "set", threading.Barrier(2)
    errors: list[BaseException] = []

    def work(text: str) -> None:
        try:
            for _ in range(20):
                started.wait(300)
                with swapping(path) as part:
                    (part / "a").write_text(text)
                    (part / "b").write_text(text)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(text,)) for text in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert (path / "a").read_text() == (path / "b").read_text()
    assert names(tmp_path) == ["set"]


@pytest.mark.parametrize("there", [False, True], ids=["a new folder", "a folder that is there"])
def test_a_folder_that_comes_in_the_last_moment_is_replaced_in_its_turn(
    there: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, rename = tmp_path / "set", Path.rename
    if there:
        fill(path, a="first")
    came: list[str] = []

    def with_another_before(source: Path, target: Path) -> Path:
        if target == path and not came:  # as if another process had been a moment faster
            came.append("second")
            fill(path, b="second")
        return rename(source, target)

    monkeypatch.setattr(Path, "rename", with_another_before)
    fill(path, c="third")
    assert came
    assert names(path) == [LIST, "c"]
    assert names(tmp_path) == ["set"]


def test_a_foreign_folder_that_comes_in_the_last_moment_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, rename = tmp_path / "set", Path.rename

    def with_another_before(source: Path, target: Path) -> Path:
        if target == path and not path.exists():
            path.mkdir()
            (path / "mine").write_text("mine")
        return rename(source, target)

    monkeypatch.setattr(Path, "rename", with_another_before)
    with pytest.raises(LayoutdmError, match="holds mine, which"):
        fill(path, a="1")
    assert names(path) == ["mine"]
    assert names(tmp_path) == ["set"]


FILLS = """
import sys
from pathlib import Path
from layoutdm.folders import replacing_folder
for number in range(30):
    with replacing_folder(Path(sys.argv[1])) as part:
        for name in "ab":
            (part / name).write_text(f"{sys.argv[2]} {number}")
"""


def test_processes_that_fill_one_folder_at_once_all_succeed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FILLS, str(tmp_path / "set")]
    writers = [subprocess.Popen([*command, str(writer)]) for writer in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert (tmp_path / "set" / "a").read_text() == (tmp_path / "set" / "b").read_text()
    assert names(tmp_path) == ["set"]


DIES = """
import os, signal, sys
from pathlib import Path
from layoutdm import atomic
target = Path(sys.argv[1])
own = os.getpid()
os.getpid = lambda: 1  # as in a container, where every process has this number
with getattr(atomic, sys.argv[2])(target) as part:
    (part / "half" if part.is_dir() else part).write_text("half")
    os.kill(own, signal.SIGKILL)
"""


def die(target: Path, way: str) -> None:
    run = subprocess.run([sys.executable, "-c", DIES, str(target), way], check=False)
    assert run.returncode == -signal.SIGKILL


@pytest.mark.parametrize("way", ["replacing", "swapping"])
def test_the_next_writer_removes_what_a_killed_one_left(way: str, tmp_path: Path) -> None:
    die(tmp_path / "a", way)
    assert len(names(tmp_path)) == 1
    assert not (tmp_path / "a").exists()
    with getattr(atomic, way)(tmp_path / "a") as part:
        (part / "whole" if part.is_dir() else part).write_text("whole")
    assert names(tmp_path) == ["a"]


def test_the_part_of_a_living_writer_stays(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with replacing(path) as mine:
        mine.write_text("mine")
        with replacing(path) as other:
            other.write_text("other")
        assert path.read_text() == "other"
        assert mine.read_text() == "mine"
    assert path.read_text() == "mine"


def test_parts_of_other_targets_stay(tmp_path: Path) -> None:
    others = [".b.0123456789abcdef.part", ".a.b.0123456789abcdef.part", ".a.part", "a.part"]
    for name in others:
        (tmp_path / name).write_text("")
    write_text(tmp_path / "a", "whole")
    assert names(tmp_path) == sorted([*others, "a"])


def test_a_folder_that_a_killed_writer_had_moved_away_comes_back(tmp_path: Path) -> None:
    (tmp_path / ".a.0123456789abcdef.old").mkdir()
    (tmp_path / ".a.0123456789abcdef.old" / "kept").write_text("kept")
    atomic.clean_up(tmp_path / "a")
    assert (tmp_path / "a" / "kept").read_text() == "kept"
    assert names(tmp_path) == ["a"]


@pytest.mark.parametrize("way", ["replacing", "swapping"])
def test_a_link_that_leads_to_itself_is_told_and_stays(way: str, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with (
        pytest.raises(LayoutdmError, match="leads back to itself"),
        getattr(atomic, way)(tmp_path / "loop"),
    ):
        pass
    assert (tmp_path / "loop").is_symlink() and names(tmp_path) == ["loop"]


@pytest.mark.parametrize("way", ["replacing", "swapping"])
def test_where_nothing_can_be_written_the_named_file_is_told(way: str) -> None:
    with pytest.raises(OSError) as caught, getattr(atomic, way)(Path("/proc/layoutdm-x")):
        pass
    assert caught.value.filename == "/proc/layoutdm-x"


def test_long_names_of_any_letters_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("漢" * 80)  # 240 of the 255 bytes that a name may have
    write_text(path, "whole")
    assert path.read_text() == "whole"
    assert names(tmp_path) == [path.name]


def test_a_pipe_is_written_through(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[str] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_text()))
    reader.start()
    write_text(pipe, "through")
    reader.join(900)
    assert found == ["through"]


# Folders with a list ---------------------------------------------------------------------------


def fill(path: Path, **files: str) -> None:
    with replacing_folder(path) as part:
        for name, text in files.items():
            (part / name).write_text(text)


def test_a_folder_replaces_its_own_files(tmp_path: Path) -> None:
    fill(tmp_path / "set", a="1", b="2")
    fill(tmp_path / "set", c="3")
    assert names(tmp_path / "set") == [LIST, "c"]


@pytest.mark.parametrize("damage", ["[]", "{", '{"files": [1]}', '{"files": {"a": 1}}', "\ud800"])
def test_a_folder_with_a_damaged_list_is_left_alone(damage: str, tmp_path: Path) -> None:
    fill(tmp_path / "set", a="1")
    (tmp_path / "set" / LIST).write_bytes(damage.encode("utf-8", "surrogatepass"))
    with pytest.raises(LayoutdmError, match="holds a, which"):
        fill(tmp_path / "set", c="3")
    assert (tmp_path / "set" / "a").read_text() == "1"


def test_a_file_that_was_changed_since_is_left_alone(tmp_path: Path) -> None:
    fill(tmp_path / "set", a="1")
    (tmp_path / "set" / "a").write_text("my corrections")
    with pytest.raises(LayoutdmError, match="holds a, which was changed after layoutdm wrote it"):
        fill(tmp_path / "set", c="3")
    assert (tmp_path / "set" / "a").read_text() == "my corrections"


def test_a_file_that_comes_while_we_write_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "set"
    fill(path, a="1")
    with pytest.raises(LayoutdmError, match="holds new, which"), replacing_folder(path):
        (path / "new").write_text("by someone else")
    assert names(path) == [LIST, "a", "new"]


def test_links_are_never_followed_nor_lost(tmp_path: Path) -> None:
    path, precious = tmp_path / "set", tmp_path / "precious"
    precious.mkdir()
    path.mkdir()
    (path / "link").symlink_to(precious)
    with pytest.raises(LayoutdmError, match="holds link, which"):
        fill(path, a="1")
    assert (path / "link").is_symlink()
