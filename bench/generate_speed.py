"""Layouts a second: the element network under ONNX Runtime against the paper's under torch.

    python bench/generate_speed.py [--model rico25] [--full]

Both make unconditional layouts with 100 network calls each, on the same number of threads, in one
run. The paper's network has its 12.4 million parameters (weights do not change its speed, so they
are random), 25 slots of five tokens, and the published way of stepping; its steps all cost the
same, so only a few of the 100 are timed unless --full is given. The element network computes the
slots that are in use; a third row leaves out calls about layouts that decide nothing in a step,
which is exact too, and the default. The machine should be idle; with --threads 1 processor time is
used, which other programs disturb less. The goal is a ratio of 20.
"""

from __future__ import annotations

import argparse
import json
import time
from itertools import islice

import numpy as np
import torch

import layoutdm
from layoutdm.diffusion import Schedule
from layoutdm.diffusion.known import Known
from layoutdm.diffusion.sampler import Sampler
from layoutdm.diffusion.settings import Settings
from layoutdm.diffusion.streams import stream
from layoutdm.model import Model
from layoutdm.train.denoiser import TorchDenoiser
from layoutdm.train.networks import build
from layoutdm.train.networks.paper import paper_config

CALLS = 100


def clock() -> float:
    """Processor time where there is one thread, time on the wall otherwise."""
    return time.process_time() if torch.get_num_threads() == 1 else time.perf_counter()


def element_speed(model: Model, size: int, *, lazy: bool, seconds: float = 4.0) -> float:
    """Layouts a second; runs until enough time has passed, for a fair mix of sizes."""
    made, start = 0, clock()
    while (passed := clock() - start) < seconds:
        model.generate(None, size, seed=made, steps=CALLS, batch_size=size, lazy=lazy)
        made += size
    return made / passed


def paper_speed(sizes: tuple[int, int, int, int, int], size: int, steps: int) -> float:
    """Layouts a second, from the first `steps` of 100 steps."""
    torch.manual_seed(0)
    denoiser = TorchDenoiser(build(paper_config(sizes)))
    settings = Settings(posterior="published", lazy=False)
    sampler = Sampler(denoiser, Schedule(), settings)
    slots = denoiser.traits.max_elements
    mask = np.array(sizes, dtype=np.int64) + 1
    known = Known(
        np.tile(mask, (size, slots, 1)),
        np.zeros((size, slots, 5), dtype=bool),
        np.ones((size, slots), dtype=bool),
        pad=np.ones((size, slots), dtype=bool),
    )
    states = sampler.walk(known, [stream(0, i) for i in range(size)])
    next(states)
    next(states)  # the first call warms up
    start = clock()
    taken = sum(1 for _ in islice(states, steps))
    return size / ((clock() - start) * CALLS / taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="rico25")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--full", action="store_true", help="time 99 steps of the paper's, not few")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    model = layoutdm.load(arguments.model, threads=arguments.threads)
    model.generate(None, 1, steps=2)  # warm up
    for size in (1, 64):
        steps = CALLS - 1 if arguments.full else (20 if size == 1 else 3)
        paper = paper_speed(model.config.traits.sizes, size, steps)
        plain = element_speed(model, size, lazy=False)
        lazy = element_speed(model, size, lazy=True)
        row = {
            "batch": size,
            "threads": arguments.threads,
            "paper_torch": round(paper, 3),
            "element_onnx": round(plain, 3),
            "ratio": round(plain / paper, 1),
            "element_onnx_lazy": round(lazy, 3),
            "ratio_lazy": round(lazy / paper, 1),
        }
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
