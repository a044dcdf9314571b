"""The processes that share a run: one alone, several GPUs, or several machines."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from accelerate import Accelerator
from accelerate.utils import DistributedDataParallelKwargs, broadcast
from torch import Tensor

from layoutdm.errors import LayoutdmError


def on_cpu() -> bool:
    """Whether to train on the CPU: Apple's GPU has no double precision, which the bound needs."""
    return not torch.cuda.is_available()


class Team:
    """This process's place among all, and the few things that they do together."""

    def __init__(self, precision: str = "no") -> None:
        self.accelerator = Accelerator(
            cpu=on_cpu(),
            mixed_precision=precision,
            # The head of the number of elements takes part in some steps only.
            kwargs_handlers=[DistributedDataParallelKwargs(find_unused_parameters=True)],
        )
        self.device: torch.device = self.accelerator.device
        self.rank: int = self.accelerator.process_index
        self.size: int = self.accelerator.num_processes
        self.main: bool = self.accelerator.is_main_process

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

    def agree(self, values: Sequence[float]) -> list[float]:
        """The first process's numbers, for all."""
        if self.size == 1:
            return list(values)
        tensor = torch.tensor(values, dtype=torch.float64, device=self.device)
        return [float(value) for value in broadcast(tensor)]

    def wait(self) -> None:
        self.accelerator.wait_for_everyone()
