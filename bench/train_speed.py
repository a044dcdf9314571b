"""How near a training step of the element network comes to the machine's matrix rate.

    python bench/train_speed.py [--threads 1] [--batch-size 128] [--save]

The rate of a step is the floating-point operations of its matrix products, counted by torch while
a step runs, divided by the time of the step; it is compared with the best rate of one large matrix
product. Goals: at least 0.45 of that rate, and less than a fifth of a step for the loss algebra.
With one thread processor time is used, so that other programs matter less.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from layoutdm import Layout
from layoutdm.tokens import Tokenizer, uniform_bins
from layoutdm.train.config import TrainConfig, preset
from layoutdm.train.corpus import make_batch, pack
from layoutdm.train.draws import CONTENT
from layoutdm.train.losses import _compare, corrupt_tokens, masses, terms
from layoutdm.train.networks import Prediction, build
from layoutdm.train.times import stratified
from layoutdm.train.trainer import Trainer

LABELS = tuple(f"label {number}" for number in range(25))


def made_up_layouts(count: int) -> list[Layout]:
    """Layouts as long as Rico's: ten elements on average, 25 at most."""
    rng = np.random.default_rng(0)
    layouts = []
    for number in np.clip(rng.gamma(2.4, 4.2, count).astype(int), 1, 25):
        sizes = rng.uniform(0.05, 0.5, (number, 2))
        centres = sizes / 2 + rng.random((number, 2)) * (1 - sizes)
        names = [LABELS[i] for i in rng.integers(0, 25, number)]
        layouts.append(Layout.create(names, np.hstack([centres, sizes])))
    return layouts


def matrix_rate(clock: Callable[[], float], size: int = 2048, repeats: int = 5) -> float:
    """Operations per second of one large matrix product: the best of several."""
    a, b, out = (torch.rand(size, size) for _ in range(3))
    torch.mm(a, b, out=out)
    best = np.inf
    for _ in range(repeats):
        begin = clock()
        torch.mm(a, b, out=out)
        best = min(best, clock() - begin)
    return float(2 * size**3 / best)


def step_rates(trainer: Trainer, repeats: int, clock: Callable[[], float]) -> dict[str, float]:
    """Rates over whole steps (all of them) and over forward and backward passes alone."""
    trainer._step()
    whole_seconds = passes_seconds = operations = algebra_seconds = 0.0
    for _ in range(repeats):
        passes, algebra, count = _one_batch(trainer, trainer.state.counters.step, clock)
        begin = clock()
        trainer._step()
        whole_seconds += clock() - begin
        passes_seconds += passes
        algebra_seconds += algebra
        operations += count
    return {
        "layouts_per_second": repeats * trainer.draws.batch_size / whole_seconds,
        "step_operations_per_second": operations / whole_seconds,
        "passes_operations_per_second": operations / passes_seconds,
        "algebra_share_of_step": algebra_seconds / whole_seconds,
    }


def _one_batch(
    trainer: Trainer, step: int, clock: Callable[[], float]
) -> tuple[float, float, float]:
    """Seconds of forward and backward, seconds of the loss algebra in it, and operations."""
    config, network = trainer.config, trainer.state.network
    rng = trainer.draws.generator(CONTENT, step)
    batch = make_batch(trainer.train, trainer.draws.layouts(step), config, rng)
    level = torch.from_numpy(stratified(len(batch.tokens), trainer.schedule.steps, rng))
    noise = torch.from_numpy(rng.random((2, *batch.tokens.shape)))

    def both_ways() -> None:
        found = terms(network, trainer.schedule, batch, level, noise)  # type: ignore[arg-type]
        (found.variational + found.auxiliary).mean().backward()  # type: ignore[no-untyped-call]
        network.zero_grad()

    with FlopCounterMode(display=False) as counter:
        both_ways()
    begin = clock()
    both_ways()
    passes = clock() - begin

    sizes = trainer.train.tokenizer.sizes
    shape = batch.valid.shape
    scores = [torch.randn(*shape, size + 1, requires_grad=True) for size in sizes]
    begin = clock()
    levels = masses(trainer.schedule, level - 1, level)
    noisy = corrupt_tokens(batch, sizes, levels[1], noise)
    counted = batch.valid[..., None] & ~batch.known
    prediction = Prediction(tuple(scores))
    found = _compare(prediction, batch.tokens, noisy, counted, counted.double(), levels)
    (found.variational + found.auxiliary).mean().backward()  # type: ignore[no-untyped-call]
    return passes, clock() - begin, float(counter.get_total_flops())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--batch-size", type=int, default=TrainConfig().batch_size)
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("--save", action="store_true", help="write bench/results/train_speed.json")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    clock = time.process_time if options.threads == 1 else time.perf_counter
    config = preset("element", batch_size=options.batch_size, steps=1000)
    tokenizer = Tokenizer(LABELS, uniform_bins(32), config.max_elements)
    corpus = pack(made_up_layouts(8 * options.batch_size), tokenizer)
    with TemporaryDirectory() as folder:
        network = build(config.network_config(tokenizer))
        trainer = Trainer(network, corpus, corpus, config, Path(folder))
        before = matrix_rate(clock)
        rates = step_rates(trainer, options.repeats, clock)
        best = max(before, matrix_rate(clock))
    result = {
        "threads": options.threads,
        "batch_size": options.batch_size,
        "machine": platform.machine(),
        "torch": torch.__version__,
        "clock": "processor" if options.threads == 1 else "wall",
        "matrix_operations_per_second": best,
        **rates,
        "share_of_matrix_rate": rates["passes_operations_per_second"] / best,
        "share_of_matrix_rate_whole_step": rates["step_operations_per_second"] / best,
    }
    text = json.dumps(result, indent=1)
    print(text)
    if options.save:
        path = Path(__file__).parent / "results" / "train_speed.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n")


if __name__ == "__main__":
    main()
