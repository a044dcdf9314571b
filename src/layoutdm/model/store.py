"""Find a model by embedded name, folder or hub id."""

from __future__ import annotations

import hashlib
from pathlib import Path

from layoutdm.diffusion.labels import LabelModel
from layoutdm.errors import LayoutdmError
from layoutdm.model.config import CONFIG, ModelConfig
from layoutdm.model.hub import pull
from layoutdm.model.label_file import FILE as LABELS
from layoutdm.model.label_file import read as read_labels
from layoutdm.model.onnx import FILE, OnnxDenoiser
from layoutdm.model.pipeline import Model

WEIGHTS = Path(__file__).resolve().parent.parent / "weights"


def embedded() -> dict[str, Path]:
    """Names and folders of the models that came with the package."""
    if not WEIGHTS.is_dir():
        return {}
    return {
        folder.name: folder
        for folder in sorted(WEIGHTS.iterdir())
        if (folder / CONFIG).is_file() and (folder / FILE).is_file()
    }


def load(
    name: str | Path = "rico25", *, revision: str | None = None, threads: int | None = None
) -> Model:
    """A model by the name of an embedded one, a folder, or an id such as user/model on the hub.

    `revision` is a branch, tag or commit of a model on the hub.
    """
    folder = find(name, revision=revision)
    config = ModelConfig.read(folder)
    denoiser = OnnxDenoiser(folder / FILE, config.traits, threads)
    return Model(config, denoiser, str(name), _label_model(folder, config))


def _label_model(folder: Path, config: ModelConfig) -> LabelModel | None:
    """The label network, unless config.json says that the file belongs to another model."""
    if config.label_network is False:
        return None
    found = read_labels(folder / LABELS, len(config.labels))
    if found is None and config.label_network:
        raise LayoutdmError(
            f"{folder}: no {LABELS} there, but {CONFIG} says that the model has a label network; "
            f"copy the file, or set label_network to false"
        )
    return found


def find(name: str | Path, *, revision: str | None = None) -> Path:
    """The folder of a model; one from the hub is fetched and kept in its cache."""
    here = embedded()
    if isinstance(name, str) and name in here:
        return here[name]
    folder = Path(name)
    if folder.is_dir():
        return folder
    text = str(name)
    if text.count("/") == 1 and not text.startswith((".", "/", "~")):
        return _from_hub(text, revision)
    names = ", ".join(here) or "none"
    raise LayoutdmError(
        f"model {text!r} is unknown: the embedded models are {names}; "
        "a folder or a hub id such as user/model works too"
    )


def fingerprint(name: str | Path) -> str:
    """A short text that changes when the model's files do."""
    folder = find(name)
    digest = hashlib.sha256()
    for file in (CONFIG, FILE, LABELS):
        if file != LABELS or (folder / file).is_file():
            digest.update((folder / file).read_bytes())
    return digest.hexdigest()[:16]


def _from_hub(id: str, revision: str | None) -> Path:
    try:
        return pull(id, revision=revision)
    except LayoutdmError as error:
        raise LayoutdmError(f"model {id!r} is neither embedded nor a folder, and {error}") from None
