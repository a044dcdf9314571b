"""Model folders on the Hugging Face hub: a repository holds what a model folder holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from layoutdm.errors import LayoutdmError
from layoutdm.generator.label_file import FILE as LABELS

NEEDED = ("config.json", "model.onnx")
FILES = (*NEEDED, LABELS, "README.md", "training.json", "curves.png")


def push(folder: Path, repository: str, *, private: bool = False, message: str = "") -> str:
    """Upload a model folder and return its address; checkpoints stay at home."""
    missing = [name for name in NEEDED if not (folder / name).is_file()]
    if missing:
        raise LayoutdmError(
            f"{folder}: no {missing[0]} there; it should be a model folder, "
            "as `layoutdm train` writes it"
        )
    _check_id(repository)
    hub = _package()
    try:
        api = hub.HfApi()
        api.create_repo(repository, private=private, exist_ok=True, repo_type="model")
        commit = api.upload_folder(
            repo_id=repository,
            folder_path=str(folder),
            allow_patterns=list(FILES),
            commit_message=message or "Upload model",
        )
    except Exception as error:  # network, permission, quota: one sentence for all of them
        raise LayoutdmError(
            f"could not upload {folder} to {repository!r}: {_reason(error)}; "
            "check the connection and `hf auth login`"
        ) from None
    return str(getattr(commit, "repo_url", "")) or f"{api.endpoint}/{repository}"


def pull(repository: str, out: Path | None = None, *, revision: str | None = None) -> Path:
    """Download a model into `out`, or into the hub's cache, and return the folder."""
    _check_id(repository)
    hub = _package()
    try:
        folder = Path(
            hub.snapshot_download(
                repository,
                revision=revision,
                local_dir=None if out is None else str(out),
                allow_patterns=list(FILES),
            )
        )
    except Exception as error:
        raise LayoutdmError(
            f"could not download {repository!r}: {_reason(error)}; "
            "check the name and the connection"
        ) from None
    missing = [name for name in NEEDED if not (folder / name).is_file()]
    if missing:
        raise LayoutdmError(f"{repository!r} on the hub is not a layoutdm model: no {missing[0]}")
    return folder


def _check_id(repository: str) -> None:
    owner, slash, name = repository.partition("/")
    if not (owner and slash and name) or "/" in name:
        raise LayoutdmError(f"{repository!r} is not a hub id; it should be OWNER/NAME")


def _package() -> Any:
    try:
        import huggingface_hub
    except ImportError:
        raise LayoutdmError(
            "the hub needs the package huggingface_hub; "
            "install it with: pip install huggingface_hub"
        ) from None
    return huggingface_hub


def _reason(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return text[0][:200].rstrip(".") if text else type(error).__name__
