"""A line of code knows its room: imports keep to the table of the design.

Every import counts, also those inside functions and those for type checks only. Nothing may depend
on a room that stands below it in the table.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import layoutdm

SOURCE = Path(layoutdm.__file__).parent

# Small files that all rooms may use, and what these use themselves.
TOOLS: dict[str, set[str]] = {
    "errors": set(),
    "extras": {"errors"},
    "atomic": {"errors"},
    "folders": {"errors", "atomic"},
    "lock": {"errors", "atomic"},
    "boxes": {"errors"},
    "simplex": {"errors"},
    "doors": set(),
}
SAMPLING = {"diffusion", "terms", "plan"}
DATA = {"layout", "relations", "formats", "pictures", "spec", "data", "tokens"}
MODEL = DATA | SAMPLING | {"generator", "settle", "model"}
RUN_HALF = MODEL | {"metrics", "evaluate", "jobs"}

# The rooms from the ground up, each with the other rooms that it may import.
ROOMS: dict[str, set[str]] = {
    "layout": {"one_liners"},
    "one_liners": {"layout", "formats", "pictures"},  # Layout's from_x and as_x
    "relations": set(),
    "formats": {"layout"},
    "pictures": {"layout"},
    "spec": {"layout", "relations"},
    "data": {"layout", "formats"},
    "tokens": {"layout"},
    "diffusion": {"tokens", "spec", "relations", *SAMPLING},
    "terms": {"tokens", "spec", "relations", "settle", *SAMPLING},
    "plan": {"tokens", "spec", "relations", *SAMPLING},
    "generator": DATA | SAMPLING | {"settle"},
    "settle": DATA,  # makes wishes hold in what was drawn
    "model": MODEL,
    "baselines": DATA | SAMPLING | {"generator", "train", "metrics"},
    "train": MODEL | {"baselines"},
    "metrics": MODEL,
    "evaluate": MODEL | {"metrics"},
    "jobs": MODEL,
    "pages": MODEL | {"jobs", "scale"},
    "serve": RUN_HALF | {"studio", "pages"},
    "studio": RUN_HALF,
    "scale": RUN_HALF | {"train", "pages"},
    "paper": RUN_HALF | {"train", "baselines"},  # the paper's tables and figures
    "cli": RUN_HALF | {"train", "baselines", "serve", "studio", "scale", "pages", "paper"},
    "__main__": {"cli"},
    "__init__": RUN_HALF | {"train"},  # the front doors, opened on first use
}

# Packages of one half or one room; elsewhere the run half must do without them.
PACKAGES: dict[str, set[str]] = {
    "torch": {"train", "baselines", "cli"},
    "accelerate": {"train", "baselines", "cli"},
    "fastapi": {"serve"},
    "uvicorn": {"serve", "cli"},
    "ray": {"scale"},
    "pptx": {"pictures"},
    "pyarrow": {"formats", "scale", "pages"},
}

# (module, what it imports against the table): each with its reason, and gone when it is not needed.
EXCEPTIONS = {
    # The page of statistics draws its plots with the colours of the pictures.
    ("data.statistics_page", "pictures"),
    # The list of systems, of which config.json names one; nothing of theirs is imported with it.
    ("model.store", "baselines"),
    # A metric that trains a classifier: of the learn half, and imported when it is asked for.
    ("metrics.c2st", "torch"),
}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts)


def imported(path: Path) -> Iterator[str]:
    """Full names of all that a file imports, wherever it does."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports by a relative name; give the whole one"
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            yield from names if node.module == "layoutdm" else [str(node.module)]


def violations() -> set[tuple[str, str]]:
    found = set()
    for path in sorted(SOURCE.rglob("*.py")):
        module = module_name(path)
        room = module.split(".")[0]
        allowed = TOOLS.get(room, ROOMS.get(room, set()) | set(TOOLS)) | {room, "__version__"}
        for name in imported(path):
            package, _, rest = name.partition(".")
            other = rest.split(".")[0]
            if package == "layoutdm" and other and other not in allowed:
                found.add((module, other))
            if package in PACKAGES and room not in PACKAGES[package]:
                found.add((module, package))
    return found


def test_imports_keep_to_the_table() -> None:
    assert violations() - EXCEPTIONS == set()


def test_exceptions_are_still_needed() -> None:
    assert EXCEPTIONS - violations() == set()


def test_every_room_is_in_the_table() -> None:
    there = {module_name(path).split(".")[0] for path in SOURCE.rglob("*.py")}
    assert there - set(ROOMS) - set(TOOLS) == set()


def test_the_table_itself_names_only_rooms() -> None:
    for room, others in ROOMS.items():
        assert others <= set(ROOMS), room
    for tool, others in TOOLS.items():
        assert others <= set(TOOLS), tool


def test_the_ground_knows_nothing_of_what_stands_on_it() -> None:
    """No circle but the ones that the table states: Layout's one-liners, and within sampling."""
    together = [SAMPLING, {"layout", "one_liners", "formats", "pictures"},
                {"train", "baselines"}, {"pages", "scale"}]  # fmt: skip
    for room, others in ROOMS.items():
        for other in others - {room}:
            circle = room in ROOMS[other]
            assert not circle or any({room, other} <= group for group in together), (room, other)


def test_the_inner_rooms_stay_small() -> None:
    """No file over 300 lines and no class over 150 where layouts are drawn."""
    for room in ("diffusion", "terms", "plan", "generator", "model"):
        for path in sorted((SOURCE / room).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            assert text.count("\n") <= 300, path.name
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ClassDef) and node.end_lineno is not None:
                    assert node.end_lineno - node.lineno < 150, f"{path.name}: {node.name}"


def test_an_empty_request_walks_past_what_it_does_not_need() -> None:
    """A newcomer who follows `generate({})` meets no check of wishes and no term of them."""
    model = layoutdm.load("rico25", threads=1)
    model.generate({}, count=1)
    seen: set[tuple[str, str]] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(str(SOURCE)):
            name = code.co_qualname.rsplit(".", 1)[-1]
            if not name.startswith("<"):
                path = Path(code.co_filename)
                seen.add((path.relative_to(SOURCE).as_posix(), code.co_qualname))

    sys.setprofile(note)
    try:
        model.generate({}, count=8)
    finally:
        sys.setprofile(None)
    files = {file for file, _ in seen}
    assert len(files) <= 36 and len(seen) <= 160, sorted(files)
    for unneeded in ("check", "consistency", "linked", "stated", "parsing"):
        assert f"spec/{unneeded}.py" not in files
