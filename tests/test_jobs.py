"""Large jobs in folders: nothing lost, nothing doubled, nothing foreign touched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from layoutdm.errors import LayoutdmError
from layoutdm.jobs import Job, Made, Output, run, status
from layoutdm.lock import FILE, holder, locked

JOB = Job(count=6, seed=7, labels=("text",), formats=("jsonl", "coco", "svg", "yolo", "sheet"))


def make(indices):
    for index in indices:
        box = [0.5, (index + 1) / 20, 0.5, 0.1]
        yield Made({"id": f"7-{index}", "width": 10, "height": 20, "labels": ["text"],
                    "boxes": [box]})  # fmt: skip


def counting(asked):
    def made(indices):
        asked.append(indices)
        return make(indices)

    return made


def content(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.fixture
def whole(tmp_path):
    run(JOB, tmp_path / "whole", make=make)
    return content(tmp_path / "whole")


class Killed(BaseException):
    """As an end that no code expects."""


# The value -----------------------------------------------------------------------------------


def test_a_job_is_a_value_and_its_fingerprint_tells_what_decides_its_bytes():
    assert Job.from_dict(json.loads(json.dumps(JOB.as_dict()))) == JOB
    assert Job(count=2, options={"steps": None, "require": False, "tries": 3}) == Job(count=2)
    prints = {
        Job(count=2).fingerprint,
        Job(count=3).fingerprint,
        Job(count=2, seed=1).fingerprint,
        Job(count=2, weights="a").fingerprint,
        Job(count=2, request={"more": True}).fingerprint,
        Job(count=2, options={"steps": 5}).fingerprint,
        Job(count=2, formats=("csv",)).fingerprint,
    }
    assert len(prints) == 7
    assert Job(count=2, model="a").fingerprint == Job(count=2, model="b").fingerprint


@pytest.mark.parametrize(
    "wrong",
    [
        {"count": 0}, {"count": True}, {"count": "8"}, {"count": 1, "seed": -1},
        {"count": 1, "seed": None}, {"count": 1, "request": [1]}, {"count": 1, "formats": "jsonl"},
        {"count": 1, "options": {"steps": {1, 2}}}, {"count": 1, "other": 2}, {"seed": 1}, [], None,
        {"count": 1, "options": {"top_p": float("nan")}},
    ],
)  # fmt: skip
def test_records_that_are_no_job_are_refused(wrong):
    with pytest.raises(LayoutdmError):
        Job.from_dict(wrong)


# Interruptions -------------------------------------------------------------------------------


@pytest.mark.parametrize("after", range(7))
def test_a_job_that_is_cut_off_anywhere_while_drawing_ends_the_same(tmp_path, whole, after):
    def dies(indices):
        for index, item in enumerate(make(indices)):
            if index == after:
                raise Killed
            yield item
        raise Killed

    out = tmp_path / "cut"
    with pytest.raises((Killed, ValueError)):
        run(JOB, out, make=dies)
    assert status(out).state == "stopped" and status(out).done == after
    asked = []
    outcome = run(JOB, out, make=counting(asked), resume=True)
    assert (outcome.finished, outcome.made, outcome.tally.count) == (True, 6 - after, 6)
    assert asked == ([range(after, 6)] if after < 6 else [])
    assert content(out) == whole


@pytest.mark.parametrize("before", ["replace", "unlink", "rename", "mkdir", "write_text"])
def test_a_job_that_is_cut_off_at_any_change_of_the_folder_ends_the_same(
    tmp_path, whole, before, monkeypatch
):
    """Dies before its n-th such call, for every n, and goes on each time."""
    real = getattr(Path, before)
    for n in range(200):
        out = tmp_path / f"cut{n}"
        left = [n]

        def dies(self, *arguments, out=out, left=left, **named):
            if out in (self, *self.parents):
                if not left[0]:
                    raise Killed
                left[0] -= 1
            return real(self, *arguments, **named)

        monkeypatch.setattr(Path, before, dies)
        try:
            run(JOB, out, make=make, resume=True)
            ended = True
        except Killed:
            ended = False
        monkeypatch.setattr(Path, before, real)
        if not ended:
            (out / FILE).unlink(missing_ok=True)
            run(JOB, out, make=make, resume=True)
        assert content(out) == whole, n
        if ended:
            break
    assert ended and (n > 0 or before == "rename")


@pytest.mark.parametrize("before", ["replace", "unlink", "rmdir", "write_text"])
def test_overwriting_that_is_cut_off_anywhere_leaves_nothing_stale(
    tmp_path, whole, before, monkeypatch
):
    real = getattr(Path, before)
    for n in range(200):
        out = tmp_path / f"cut{n}"
        run(Job(count=3, seed=7, formats=("csv", "html", "yolo")), out, make=make)
        (out / "html" / "mine.html").write_text("mine")
        left = [n]

        def dies(self, *arguments, out=out, left=left, **named):
            if out in (self, *self.parents) and self.name != FILE:
                if not left[0]:
                    raise Killed
                left[0] -= 1
            return real(self, *arguments, **named)

        monkeypatch.setattr(Path, before, dies)
        try:
            run(JOB, out, make=make, overwrite=True)
            ended = True
        except Killed:
            ended = False
        monkeypatch.setattr(Path, before, real)
        if not ended:
            run(JOB, out, make=make, overwrite=True)
        assert content(out) == {**whole, "html/mine.html": b"mine"}, n
        if ended:
            break
    assert ended and n > 0


def test_stopping_is_asked_after_every_layout_and_progress_tells_how_many(tmp_path, whole):
    done = []
    out = tmp_path / "cut"
    outcome = run(JOB, out, make=make, progress=done.append, stop=lambda: len(done) > 3)
    assert not outcome.finished and done == [0, 1, 2, 3] and status(out).done == 3
    run(JOB, out, make=make, resume=True, progress=done.append)
    assert done[4:] == [3, 4, 5, 6] and content(out) == whole
    found = status(out)
    assert (found.state, found.done, found.job) == ("finished", 6, JOB)
    assert {"layouts.jsonl", "coco.json", "svg/7-0.svg", "sheet.png"} <= set(found.files)


def test_a_line_that_was_being_written_is_made_again(tmp_path, whole):
    out = tmp_path / "cut"
    run(JOB, out, make=make, stop=lambda: True)
    for rest in (b'{"id":"7-', b"\0" * 40, b"\0\0\n\0\0\n"):
        with (out / "layouts.jsonl.part").open("ab") as file:
            file.write(rest)
        run(JOB, out, make=make, resume=True, stop=lambda: True)
    run(JOB, out, make=make, resume=True)
    assert content(out) == whole


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{oops", "line 2: is damaged"),
        (b"\xff\xfe", "line 2: is damaged"),
        (b"[" * 5000, "line 2: is damaged"),
        (b'{"id":"8-1","labels":[],"boxes":[]}', "line 2: the layout '8-1' is not of this job"),
        (b'{"id":"7-0","labels":[],"boxes":[]}', "line 2: the layout '7-0' is there twice"),
        (b'{"id":"7-' + b"9" * 5000 + b'","labels":[],"boxes":[]}', "is not of this job"),
        (None, "'7-1' is missing"),
    ],
)
def test_damage_in_the_middle_is_told_in_one_sentence_and_nothing_is_changed(
    tmp_path, line, message
):
    run(JOB, tmp_path, make=make, stop=lambda: len(content(tmp_path)["layouts.jsonl.part"]) > 250)
    part = tmp_path / "layouts.jsonl.part"
    lines = part.read_bytes().splitlines(keepends=True)
    assert len(lines) > 2
    part.write_bytes(b"".join([lines[0], *([line + b"\n"] if line else []), *lines[2:]]))
    before = content(tmp_path)
    with pytest.raises(LayoutdmError, match="--overwrite") as caught:
        run(JOB, tmp_path, make=make, resume=True)
    assert message in str(caught.value) and "\n" not in str(caught.value)
    assert content(tmp_path) == before


def test_a_whole_line_at_the_end_that_is_no_layout_is_told_not_cut_off(tmp_path):
    run(JOB, tmp_path, make=make)
    with (tmp_path / "layouts.jsonl").open("ab") as file:
        file.write(b'{"note": "by hand"}\n')
    before = (tmp_path / "layouts.jsonl").read_bytes()
    with pytest.raises(LayoutdmError, match="line 7: is no layout; make everything anew"):
        run(replace(JOB, count=8), tmp_path, make=make, resume=True)
    found = [path for path in tmp_path.glob("layouts.jsonl*") if path.stat().st_size]
    assert [path.read_bytes() for path in found] == [before]


# Folders that hold something -----------------------------------------------------------------


def test_a_folder_that_holds_a_job_needs_resume_or_overwrite(tmp_path, whole):
    out = tmp_path / "whole"
    with pytest.raises(LayoutdmError, match="finished job; add --resume"):
        run(JOB, out, make=make)
    assert content(out) == whole
    asked = []
    outcome = run(JOB, out, make=counting(asked), resume=True)
    assert asked == [] and outcome.finished and outcome.made == 0 and outcome.tally.count == 6
    assert content(out) == whole
    with pytest.raises(LayoutdmError, match="exclude each other"):
        run(JOB, out, make=make, resume=True, overwrite=True)


def test_overwriting_makes_everything_anew_and_leaves_nothing_stale(tmp_path, whole):
    out = tmp_path / "whole"
    (out / "svg" / "mine.svg").write_text("mine")
    (out / "notes.txt").write_text("mine")
    small = Job(count=2, seed=7, labels=("text",), formats=("csv",))
    asked = []
    run(small, out, make=counting(asked), overwrite=True)
    assert asked == [range(2)]
    assert set(content(out)) == {
        "job.json", "files.txt", "layouts.jsonl", "layouts.csv", "svg/mine.svg", "notes.txt"
    }  # fmt: skip
    (out / "svg" / "mine.svg").unlink()
    (out / "notes.txt").unlink()
    run(JOB, out, make=make, overwrite=True)
    assert content(out) == whole


def test_a_resumed_job_may_grow_and_gain_formats_and_none_is_out_of_date(tmp_path, whole):
    out = tmp_path / "grown"
    run(Job(count=3, seed=7, labels=("text",), formats=("coco", "svg")), out, make=make)
    (out / "coco.json").unlink()  # a lost file is written again, too
    asked = []
    more = Job(count=6, seed=7, labels=("text",), formats=("yolo", "sheet"))
    run(more, out, make=counting(asked), resume=True)
    assert asked == [range(3, 6)]
    names = {"job.json", "files.txt"}
    assert {n: c for n, c in content(out).items() if n not in names} == {
        n: c for n, c in whole.items() if n not in names
    }
    with pytest.raises(LayoutdmError, match="more than the 3"):
        run(Job(count=3, seed=7, labels=("text",)), out, make=make, resume=True)
    with pytest.raises(LayoutdmError, match=r"another seed \(7, now 8\)"):
        run(Job(count=6, seed=8, labels=("text",)), out, make=make, resume=True)


@pytest.mark.parametrize(
    "name",
    ["layouts.jsonl", "layouts.jsonl.part", "coco.json", "svg/drawing.svg", "sheet.png",
     "files.txt"],
)  # fmt: skip
@pytest.mark.parametrize("how", [{}, {"resume": True}, {"overwrite": True}])
def test_what_is_not_of_the_job_is_refused_and_left_untouched(tmp_path, name, how):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("mine")
    with pytest.raises(LayoutdmError, match="is not of this job and would be lost"):
        run(JOB, tmp_path, make=make, **how)
    assert content(tmp_path) == {name: b"mine"}


@pytest.mark.parametrize(
    "text", ["{}", "[]", "{oops", "3", '{"format": 2}', '{"job": {}, "finished": 0}', "[" * 10**5]
)
def test_a_note_that_is_not_ours_is_refused(tmp_path, text):
    (tmp_path / "job.json").write_text(text)
    for how in ({}, {"resume": True}, {"overwrite": True}):
        with pytest.raises(LayoutdmError, match="choose another folder"):
            run(JOB, tmp_path, make=make, **how)
    assert content(tmp_path) == {"job.json": text.encode()}


def test_a_list_of_files_that_leads_out_of_the_folder_is_not_followed(tmp_path, whole):
    (tmp_path / "precious").write_text("mine")
    out = tmp_path / "whole"
    with (out / "files.txt").open("a") as file:
        file.write(f"../precious\n{tmp_path}/precious\n")
    run(JOB, out, make=make, overwrite=True)
    assert (tmp_path / "precious").read_text() == "mine"
    assert content(out) == whole


def test_a_file_that_appears_while_the_job_runs_is_not_lost(tmp_path):
    def careless(indices):
        (tmp_path / "coco.json").write_text("mine")
        return make(indices)

    with pytest.raises(LayoutdmError, match=r"coco\.json: is not of this job"):
        run(JOB, tmp_path, make=careless)
    assert (tmp_path / "coco.json").read_text() == "mine"
    (tmp_path / "coco.json").unlink()
    assert run(JOB, tmp_path, make=make, resume=True).finished


def test_a_wrong_format_or_place_is_told_before_anything_is_made(tmp_path):
    with pytest.raises(LayoutdmError, match="choose from jsonl, coco"):
        run(Job(count=1, formats=("tiff",)), tmp_path / "a", make=make)
    (tmp_path / "file").write_text("")
    with pytest.raises(LayoutdmError, match="is a file"):
        run(JOB, tmp_path / "file", make=make)
    with pytest.raises(LayoutdmError, match="holds no job"):
        status(tmp_path)
    assert set(content(tmp_path)) == {"file"}


# Files of one's own --------------------------------------------------------------------------


def test_files_of_a_layout_are_there_before_its_record_and_go_with_the_job(tmp_path):
    def pages(indices):
        for index, item in zip(indices, make(indices), strict=True):
            yield Made(item.record, {f"images/7-{index}.txt": b"page"})

    def count(records, path, job):
        path.write_text(str(sum(1 for _ in records())))

    outputs = {"jsonl": Output("layouts.jsonl"), "number": Output("number.txt", count)}
    job = Job(count=4, seed=7, kind="pages", formats=("number",))
    run(job, tmp_path, make=pages, outputs=outputs, stop=lambda: True)
    (tmp_path / "images" / "7-0.txt").write_text("half")  # as if written, its record not yet
    (tmp_path / "layouts.jsonl.part").write_text("")
    run(job, tmp_path, make=pages, outputs=outputs, resume=True)
    assert (tmp_path / "number.txt").read_text() == "4"
    images = sorted((tmp_path / "images").iterdir())
    assert [path.read_text() for path in images] == ["page"] * 4
    run(JOB, tmp_path, make=make, overwrite=True)
    assert not (tmp_path / "images").exists() and not (tmp_path / "number.txt").exists()


def test_a_part_of_a_larger_job_has_the_larger_jobs_layouts(tmp_path, whole):
    run(Job(count=2, seed=7, first=3), tmp_path / "shard", make=make)
    lines = whole["layouts.jsonl"].splitlines(keepends=True)
    assert (tmp_path / "shard" / "layouts.jsonl").read_bytes() == b"".join(lines[3:5])


def test_best_first_where_it_is_required(tmp_path):
    def scored(indices):
        for index, item in zip(indices, make(indices), strict=True):
            report = {"met": index != 2, "score": [0.5, 1.0, 0.2, 1.0][index], "missed": [
                {"path": "relations[0]", "wanted": "a below b"}]}  # fmt: skip
            yield Made({**item.record, "metadata": {"report": report}})

    job = Job(count=4, seed=7, options={"require": True})
    outcome = run(job, tmp_path, make=scored)
    lines = (tmp_path / "layouts.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["7-1", "7-3", "7-0", "7-2"]
    assert (outcome.tally.count, outcome.tally.met) == (4, 3)
    assert list(outcome.tally.lines(20)) == [
        "1 of 4 layouts miss a wish after 20 tries each:", "  relations[0] (a below b): 4",
    ]  # fmt: skip


# Locks ---------------------------------------------------------------------------------------


def test_only_one_at_a_time(tmp_path):
    def nested(indices):
        assert status(tmp_path).state == "running"
        for how in ({}, {"resume": True}, {"overwrite": True}):
            with pytest.raises(LayoutdmError):
                run(JOB, tmp_path, make=make, **how)
        return make(indices)

    assert run(JOB, tmp_path, make=nested).finished
    assert holder(tmp_path) is None


def test_the_lock_of_another_process_is_told_and_ends_with_it(tmp_path):
    code = (
        "import sys; from pathlib import Path; from layoutdm.lock import locked\n"
        f"with locked(Path({str(tmp_path)!r}), 'train'):\n"
        "    print('held', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout.readline() == "held\n"
        with (
            pytest.raises(LayoutdmError, match=f"in use by `train` since .*{process.pid}"),
            locked(tmp_path, "x"),
        ):
            pass
        found = holder(tmp_path)
        assert found is not None and (found.what, found.pid) == ("train", process.pid)
    finally:
        process.kill()
        process.wait()
    assert (tmp_path / FILE).exists() and holder(tmp_path) is None
    with locked(tmp_path, "x"):
        pass
    assert not (tmp_path / FILE).exists()


@pytest.mark.parametrize("system_locks", [True, False])
def test_a_lock_with_the_id_of_a_living_process_that_began_later_is_stale(
    tmp_path, system_locks, monkeypatch
):
    """In a container every first process has the id 1, and so would the one that died."""
    if not system_locks:
        monkeypatch.setattr("layoutdm.lock._take", lambda file: None)
    for pid in (1, os.getpid()):
        left = {"what": "generate", "pid": pid, "started": "1-2", "host": "h", "since": "then"}
        (tmp_path / FILE).write_text(json.dumps(left))
        assert holder(tmp_path) is None
        with locked(tmp_path, "x"):
            found = holder(tmp_path)
            assert found is not None and found.pid == os.getpid()
            with pytest.raises(LayoutdmError, match="in use"), locked(tmp_path, "y"):
                pass
    for text in ("", "{", "[]", '{"pid": 1}'):
        (tmp_path / FILE).write_text(text)
        with locked(tmp_path, "x"):
            pass


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(LayoutdmError, match="choose another folder"),
        locked(tmp_path / "file" / "inside", "x"),
    ):
        pass
