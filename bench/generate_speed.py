"""Layouts a second: the element network under ONNX Runtime against the paper's under torch.

    python bench/generate_speed.py [--model rico25] [--threads 2] [--rounds 5]

Both make unconditional layouts with 100 network calls each, on the same number of threads, in one
run. The paper's network has its 12.4 million parameters (weights do not change its speed, so they
are random), 25 slots of five tokens, and the published way of stepping; its steps all cost the
same, so only some of the 100 are timed. All take turns, in several rounds, since machines have
slow minutes. The element network computes the
slots that are in use, and leaves out calls about layouts that decide nothing in a step, which is
exact too. The machine should be idle; with --threads 1 processor time is
used, which other programs disturb less. The goal is a ratio of 20.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
import torch

import layoutdm
from layoutdm.diffusion import Schedule
from layoutdm.diffusion.network import Ints
from layoutdm.diffusion.plain import PlainSampler
from layoutdm.diffusion.streams import Uniforms, stream
from layoutdm.generator.layoutdm import LayoutDM
from layoutdm.model import Model
from layoutdm.plan.batch import unknown
from layoutdm.terms import Allowed
from layoutdm.train.denoiser import TorchDenoiser
from layoutdm.train.networks import build
from layoutdm.train.networks.paper import paper_config

CALLS = 100


def clock() -> float:
    """Processor time where there is one thread, time on the wall otherwise."""
    return time.process_time() if torch.get_num_threads() == 1 else time.perf_counter()


@dataclass
class Rate:
    """Layouts made and the seconds they took, over all rounds."""

    layouts: float = 0.0
    seconds: float = 0.0

    @property
    def speed(self) -> float:
        return self.layouts / self.seconds


def run_element(rate: Rate, model: Model, size: int, seconds: float) -> None:
    """Until enough time has passed, for a fair mix of sizes."""
    made, start = 0, clock()
    while clock() - start < seconds:
        number = int(rate.layouts) + made
        model.generate(None, size, seed=number, steps=CALLS, batch_size=size)
        made += size
    rate.layouts += made
    rate.seconds += clock() - start


def paper_states(sizes: tuple[int, int, int, int, int], size: int) -> Iterator[tuple[int, Ints]]:
    """The paper's network at work, endlessly; two steps are behind it."""
    torch.manual_seed(0)
    denoiser = TorchDenoiser(build(paper_config(sizes)))
    slots = denoiser.traits.max_elements
    batch = replace(unknown(size, slots, sizes), pad=np.ones((size, slots), dtype=bool))
    sampler = PlainSampler(denoiser, Schedule(), [Allowed(batch)], published=True)
    while True:
        streams = [stream(0, i) for i in range(size)]
        states = sampler.walk(batch, Uniforms(streams, [5 * slots] * size, 5 * slots))
        yield from islice(states, 2, None)


def run_paper(rate: Rate, states: Iterator[tuple[int, Ints]], size: int, steps: int) -> None:
    start = clock()
    taken = sum(1 for _ in islice(states, steps))
    rate.layouts += size * taken / CALLS
    rate.seconds += clock() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="rico25")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--rounds", type=int, default=5, help="in which both take turns")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    model = layoutdm.load(arguments.model, threads=arguments.threads)
    assert isinstance(model.generator, LayoutDM)
    for size in (1, 64):
        states = paper_states(model.generator.config.traits.sizes, size)
        next(states)  # the first call warms up
        model.generate(None, size, steps=2)
        paper, element = Rate(), Rate()
        for _ in range(arguments.rounds):
            run_paper(paper, states, size, 40 if size == 1 else 2)
            run_element(element, model, size, seconds=2.0)
        row = {
            "batch": size,
            "threads": arguments.threads,
            "paper_torch": round(paper.speed, 3),
            "element_onnx": round(element.speed, 3),
            "ratio": round(element.speed / paper.speed, 1),
        }
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
