"""The processes that share a run: one alone, several GPUs, or several machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import torch
from accelerate import Accelerator, PartialState
from accelerate.utils import broadcast
from torch import Tensor, nn

from layoutdm.errors import LayoutdmError
from layoutdm.lock import locked


def on_cpu() -> bool:
    """Whether to train on the CPU: Apple's GPU has no double precision, which the bound needs."""
    return not torch.cuda.is_available()


@contextmanager
def alone(out: Path) -> Iterator[None]:
    """The lock of a run's folder, held by the first of the processes that share the run."""
    if not PartialState(cpu=on_cpu()).is_main_process:
        yield
        return
    with locked(out, "train"):
        yield


def has_bf16(device: torch.device) -> bool:
    """Whether this device multiplies bfloat16 matrices faster than single precision."""
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    capable = getattr(torch.cpu, "_is_avx512_bf16_supported", None)
    return bool(capable and capable())


class Team:
    """This process's place among all, and the few things that they do together."""

    def __init__(self, precision: str = "fp32") -> None:
        self.accelerator = Accelerator(cpu=on_cpu())
        self.device: torch.device = self.accelerator.device
        self.rank: int = self.accelerator.process_index
        self.size: int = self.accelerator.num_processes
        self.main: bool = self.accelerator.is_main_process
        self.precision = precision
        if precision == "auto":
            self.precision = "bf16" if has_bf16(self.device) else "fp32"

    def autocast(self) -> AbstractContextManager[object]:
        """In which forward passes are computed: matrix products in bfloat16, or as they are."""
        if self.precision == "fp32":
            return nullcontext()
        return torch.autocast(self.device.type, torch.bfloat16)

    def rows(self, batch_size: int) -> slice:
        """This process's part of a batch."""
        if batch_size % self.size:
            raise LayoutdmError(
                f"batch size {batch_size} cannot be shared evenly by {self.size} processes; "
                f"choose a multiple of {self.size}"
            )
        share = batch_size // self.size
        return slice(self.rank * share, (self.rank + 1) * share)

    def total(self, tensor: Tensor) -> Tensor:
        """The sum of a tensor over all processes, on the CPU."""
        if self.size == 1:
            return tensor.cpu()
        summed: Tensor = self.accelerator.reduce(tensor.to(self.device), reduction="sum")
        return summed.cpu()

    def mean_gradients(self, module: nn.Module) -> None:
        """Each gradient becomes its mean over all processes; what none of them used stays empty."""
        if self.size == 1:
            return
        parameters = [p for p in module.parameters() if p.requires_grad]
        used = self.total(torch.tensor([float(p.grad is not None) for p in parameters]))
        some = [p for p, count in zip(parameters, used.tolist(), strict=True) if count]
        flat = torch.cat([_gradient(p).flatten() for p in some])
        flat = self.accelerator.reduce(flat, reduction="sum") / self.size
        for parameter, part in zip(some, flat.split([p.numel() for p in some]), strict=True):
            parameter.grad = part.view_as(parameter).clone()

    def agree(self, values: Sequence[float]) -> list[float]:
        """The first process's numbers, for all."""
        if self.size == 1:
            return list(values)
        tensor = torch.tensor(values, dtype=torch.float64, device=self.device)
        return [float(value) for value in broadcast(tensor)]

    def wait(self) -> None:
        self.accelerator.wait_for_everyone()


def _gradient(parameter: nn.Parameter) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
