"""Checkpoints: complete, atomic, and forgiving about one that is damaged."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from layoutdm.errors import LayoutdmError
from layoutdm.train.checkpoint import Checkpoint, load, save, steps


def make(step: int) -> Checkpoint:
    tensors = {"a.weight": torch.full((3,), float(step)), "seen": torch.arange(2.0).double()}
    return Checkpoint(step, tensors, {"step": step, "betas": [0.9, 0.98], "best": float("inf")})


def write(folder: Path, *numbers: int) -> list[str]:
    notices: list[str] = []
    for number in numbers:
        assert save(folder, make(number), notices.append)
    assert not notices
    return notices


def test_what_is_saved_comes_back_and_two_are_kept(tmp_path: Path) -> None:
    notices = write(tmp_path, 1, 2, 3)
    assert steps(tmp_path) == [2, 3]
    assert len(list(tmp_path.iterdir())) == 4
    found = load(tmp_path, notices.append)
    assert found is not None
    assert found.step == 3
    assert found.record == make(3).record
    assert torch.equal(found.tensors["a.weight"], torch.full((3,), 3.0))
    assert found.tensors["seen"].dtype == torch.float64


def test_no_checkpoint_is_no_error(tmp_path: Path) -> None:
    assert load(tmp_path / "missing", print) is None


@pytest.mark.parametrize("suffix", ["safetensors", "json"])
@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "gone"])
def test_a_damaged_checkpoint_falls_back_to_the_one_before(
    tmp_path: Path, suffix: str, damage: str
) -> None:
    notices = write(tmp_path, 1, 2)
    path = tmp_path / f"checkpoint-000000002.{suffix}"
    data = bytearray(path.read_bytes())
    if damage == "gone":
        path.unlink()
    else:
        data[-4] ^= 0x11
        path.write_bytes({"cut": data[: len(data) // 2], "flip": data, "empty": b""}[damage])
    found = load(tmp_path, notices.append)
    assert found is not None
    assert found.step == 1
    if (suffix, damage) != ("json", "gone"):  # without its JSON a checkpoint was never committed
        assert len(notices) == 1
        assert "step 2" in notices[0]
        assert "falling back to step 1" in notices[0]


def test_when_every_checkpoint_is_damaged_the_run_does_not_start_over_silently(
    tmp_path: Path,
) -> None:
    notices = write(tmp_path, 1, 2)
    for path in tmp_path.glob("*.safetensors"):
        path.write_bytes(b"nonsense")
    with pytest.raises(LayoutdmError, match="every checkpoint is damaged"):
        load(tmp_path, notices.append)
    assert len(notices) == 2


@contextmanager
def full_disk(name: str) -> Iterator[None]:
    """Every write to a part of this name fails."""
    usual = Path.write_bytes

    def write_bytes(self: Path, data: bytes) -> int:
        if self.name.startswith(f".{name}."):
            raise OSError(errno.ENOSPC, "No space left on device", str(self))
        return usual(self, data)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "write_bytes", write_bytes)
        yield


def test_a_full_disk_costs_one_checkpoint_only(tmp_path: Path) -> None:
    notices = write(tmp_path, 1)
    with full_disk("checkpoint-000000002.safetensors"):
        assert not save(tmp_path, make(2), notices.append)
    assert "No space left on device" in notices[0]
    assert "the one of step 1 is kept" in notices[0]
    assert steps(tmp_path) == [1]
    found = load(tmp_path, notices.append)
    assert found is not None
    assert found.step == 1
    assert save(tmp_path, make(3), notices.append)
    assert steps(tmp_path) == [1, 3]


def test_what_a_killed_run_left_half_written_is_ignored_and_removed(tmp_path: Path) -> None:
    notices = write(tmp_path, 1)
    (tmp_path / "checkpoint-000000002.safetensors").write_bytes(b"whole, but not committed")
    part = ".checkpoint-000000003.safetensors.0123456789abcdef.part"
    (tmp_path / part).write_bytes(b"half")
    found = load(tmp_path, notices.append)
    assert found is not None
    assert found.step == 1
    assert save(tmp_path, make(4), notices.append)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        f"checkpoint-00000000{step}.{suffix}" for step in (1, 4) for suffix in
        ("json", "safetensors")
    ]  # fmt: skip


def test_a_step_that_is_saved_again_is_whole_at_every_moment(tmp_path: Path) -> None:
    notices = write(tmp_path, 7)
    again = Checkpoint(7, {"a.weight": torch.zeros(3)}, {"step": 7})
    with full_disk("checkpoint-000000007.json"):  # as if killed there
        assert not save(tmp_path, again, notices.append)
    found = load(tmp_path, print)
    assert found is not None
    assert torch.equal(found.tensors["a.weight"], torch.full((3,), 7.0))
    for _ in range(2):
        assert save(tmp_path, again, notices.append)
        found = load(tmp_path, print)
        assert found is not None
        assert torch.equal(found.tensors["a.weight"], torch.zeros(3))
        assert len(list(tmp_path.iterdir())) == 2
