"""Model folders: find one by embedded name, path or hub id, and load its generator."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from layoutdm.baselines.systems import SYSTEMS
from layoutdm.errors import LayoutdmError
from layoutdm.generator import Generator
from layoutdm.model.asked import whole
from layoutdm.model.hub import pull
from layoutdm.model.model import Model

CONFIG = "config.json"
WEIGHTS = Path(__file__).resolve().parent.parent / "weights"
# config.json names its generator; the module is imported on first use.
GENERATORS = {
    "layoutdm": "layoutdm.generator.layoutdm:load",
    **{name: facts.generator for name, facts in SYSTEMS.items()},
}
ENTRY_POINTS = "layoutdm.generators"
NOT_USED = {"README.md", "training.json", "curves.png", "samples.png"}  # for people, not sampling
LARGEST_CONFIG = 8_000_000
LARGEST_FILE = 2 * 2**30  # of an ONNX file, which is a protocol buffer
MOST_THREADS = 4_096


def embedded() -> dict[str, Path]:
    """Names and folders of the models that came with the package."""
    if not WEIGHTS.is_dir():
        return {}
    return {
        folder.name: folder for folder in sorted(WEIGHTS.iterdir()) if (folder / CONFIG).is_file()
    }


def load(
    name: str | Path = "rico25", *, revision: str | None = None, threads: int | None = None
) -> Model:
    """A model by the name of an embedded one, a folder, or an id such as user/model on the hub.

    `revision` is a branch, tag or commit of a model on the hub.
    """
    if threads is not None:
        whole("threads", threads, 1, MOST_THREADS)
    if revision is not None and not isinstance(revision, str):
        raise LayoutdmError(f"revision must be a branch, tag or commit, got {revision!r}")
    folder = find(name, revision=revision)
    generator = load_generator(folder, threads=threads)
    return Model(generator, str(name), reopen=(load, (str(folder),), {"threads": threads}))


def load_generator(folder: Path, *, threads: int | None = None) -> Generator:
    """The generator that a folder's config.json names."""
    record = read_config(folder)
    name = record.get("generator", "layoutdm")
    return _opener(name, folder)(folder, record, fingerprint(folder), threads)


def _opener(name: object, folder: Path) -> Callable[..., Generator]:
    """What makes the generator of this name: one of ours, or of a package that is installed.

    Other packages declare theirs as an entry point of the group `layoutdm.generators`. A folder
    can only name it: nothing in a folder decides which code is imported.
    """
    if isinstance(name, str) and name in GENERATORS:
        module, _, function = GENERATORS[name].partition(":")
        own: Callable[..., Generator] = getattr(import_module(module), function)
        return own
    installed = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if isinstance(name, str) and name in installed:
        found: Callable[..., Generator] = installed[name].load()
        return found
    known = ", ".join((*GENERATORS, *installed))
    raise LayoutdmError(
        f"{folder / CONFIG}: generator {str(name)[:60]!r} is unknown; there are: {known}"
    )


def read_config(folder: Path) -> dict[str, Any]:
    """config.json of a model folder, as it stands there."""
    path = folder / CONFIG
    try:
        if path.stat().st_size > LARGEST_CONFIG:
            raise LayoutdmError(f"{path}: is too large for a model's config.json")
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LayoutdmError(f"{folder}: holds no {CONFIG}; it is not a model folder") from None
    except (ValueError, UnicodeDecodeError, RecursionError, OSError) as error:
        raise LayoutdmError(f"{path}: is not valid JSON: {str(error)[:200]}") from None
    if not isinstance(record, dict):
        raise LayoutdmError(f"{path}: must hold a JSON object")
    return record


def labels_of(record: dict[str, Any], name: str = CONFIG) -> list[str]:
    """The labels that a config.json lists."""
    labels = record.get("labels")
    if not isinstance(labels, list) or not labels or not all(isinstance(n, str) for n in labels):
        raise LayoutdmError(f"{name}: its config.json lists no labels; it is not a model folder")
    return labels


def label_counts(record: dict[str, Any]) -> dict[str, int] | None:
    """How often each label was seen in training, where a config.json tells.

    >>> label_counts({"labels": ["Text", "Icon"], "label_counts": {"Text": 7, "Icon": 2}})
    {'Text': 7, 'Icon': 2}
    """
    labels, counts = record.get("labels"), record.get("label_counts")
    if not isinstance(labels, list):
        return None
    if isinstance(counts, list) and len(counts) == len(labels):
        counts = dict(zip(map(str, labels), counts, strict=True))
    if not isinstance(counts, dict):
        return None
    found = {str(label): counts.get(label, 0) for label in labels}
    right = all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in found.values())
    return found if right else None


def find(name: str | Path, *, revision: str | None = None) -> Path:
    """The folder of a model; one from the hub is fetched and kept in its cache."""
    if not isinstance(name, (str, Path)):
        raise LayoutdmError(
            f"a model is named by text or a path, got {name!r}; "
            f"the embedded models are {', '.join(embedded())}"
        )
    here = embedded()
    if isinstance(name, str) and name in here:
        return here[name]
    text = str(name)
    if text and _is_folder(text):
        return Path(text)
    if text.count("/") == 1 and not text.startswith((".", "/", "~")):
        return _from_hub(text, revision)
    names = ", ".join(here) or "none"
    raise LayoutdmError(
        f"model {text[:200]!r} is unknown: the embedded models are {names}; "
        "a folder or a hub id such as user/model works too"
    )


def _is_folder(text: str) -> bool:
    try:
        return Path(text).is_dir()
    except (OSError, ValueError):  # a name that no file system takes
        return False


def fingerprint(name: str | Path) -> str:
    """A short text that changes when a file that decides the model's output does."""
    folder = find(name)
    digest = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.name not in NOT_USED and not file.name.startswith("."):
            if file.stat().st_size > LARGEST_FILE:
                raise LayoutdmError(f"{file}: is larger than 2 GB, which no file of a model is")
            digest.update(file.name.encode(errors="surrogateescape"))
            with file.open("rb") as content:
                while block := content.read(2**20):
                    digest.update(block)
    return digest.hexdigest()[:16]


def _from_hub(id: str, revision: str | None) -> Path:
    try:
        return pull(id, revision=revision)
    except LayoutdmError as error:
        raise LayoutdmError(f"model {id!r} is neither embedded nor a folder, and {error}") from None
