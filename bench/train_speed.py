"""How fast the recipe trains the element network, side by side with the way before it.

    python bench/train_speed.py [--threads 1] [--steps 12] [--save]

Both ways take turns in one process, so that other programs slow both down alike.
The way before: every element is predicted in single precision, the loss is the variational bound
in double precision over all values, embeddings are looked up one by one, attention is the fused
kernel, and nothing looks at what repeats. With one thread processor time is used.
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
from torch import Tensor, nn

from layoutdm import Layout
from layoutdm.tokens import Tokenizer, uniform_bins
from layoutdm.train.batches import from_tensors
from layoutdm.train.corpus import pack
from layoutdm.train.layoutdm import NUMBER_EVERY, LayoutDMLearner, Splits
from layoutdm.train.learner import Batch, Moment, Notes
from layoutdm.train.losses import terms
from layoutdm.train.networks import ElementNetwork, Query, blocks
from layoutdm.train.objective import number_loss, shown_part
from layoutdm.train.published import to_noise
from layoutdm.train.recipe import Settings, preset
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


class BeforeNetwork(ElementNetwork):
    """The same network with one lookup for each embedding."""

    def _embedded(self, query: Query, edges: list[Tensor]) -> Tensor:
        x = sum(table(query.tokens[..., m]) for m, table in enumerate(self.embed))
        assert query.position is not None
        assert query.about is not None
        x = x + self.position(query.position)
        for attribute, table in enumerate(self.about):
            x = x + table(query.about[..., attribute])
        for table, places in zip(self.edge, edges, strict=True):
            x = x + table(places)
        assert isinstance(x, Tensor)
        return x


class BeforeLearner(LayoutDMLearner):
    """The bound of every element, in double precision, as the models before were trained."""

    def loss(self, batch: Batch, moment: Moment, turn: str) -> tuple[Tensor, Notes]:
        made = from_tensors(batch)
        rng = np.random.default_rng(moment.step)
        level = torch.from_numpy(stratified(len(made.tokens), self.schedule.steps, rng))
        found = terms(self.network, self.schedule, made, level, to_noise(batch["uniform"]))
        counted = found.counted.clamp(min=1)
        loss = ((found.variational + 0.1 * found.auxiliary) / counted).mean()
        if moment.step % (2 * NUMBER_EVERY) == 0:
            shown = shown_part(made, batch["uniform"])
            loss = loss + 0.02 * number_loss(self.network, made, *shown).mean()
        return loss, {}


def make_trainer(settings: Settings, bins: int, folder: Path, *, before: bool) -> Trainer:
    tokenizer = Tokenizer(LABELS, uniform_bins(bins), 25)
    corpus = pack(made_up_layouts(8 * settings.budget.batch_size), tokenizer)
    torch.manual_seed(0)
    network = (BeforeNetwork if before else ElementNetwork)(settings.network_config(tokenizer))
    if before:  # a mask for every place, as it was
        for module in network.modules():
            for name, part in module.named_children():
                if isinstance(part, blocks.SharedDropout):
                    setattr(module, name, nn.Dropout(part.share))
    learner = (BeforeLearner if before else LayoutDMLearner)(
        network, Splits(corpus, corpus), settings, lambda finished, out: None
    )
    return Trainer(learner, settings.optimiser, settings.budget, folder)


def seconds(trainer: Trainer, clock: Callable[[], float]) -> float:
    begin = clock()
    trainer._step()
    return clock() - begin


def compare(bins: int, steps: int, clock: Callable[[], float], folder: Path) -> dict[str, float]:
    """Layouts a second of both ways, by the median of their steps' times in turns."""
    now = preset("recipe", steps=10_000)
    then = now.changed("network", repeats=False, lines=255).changed("budget", precision="fp32")
    trainers = {
        "before": make_trainer(then, bins, folder / f"before{bins}", before=True),
        "recipe": make_trainer(now, bins, folder / f"recipe{bins}", before=False),
    }
    taken: dict[str, list[float]] = {name: [] for name in trainers}
    short = blocks.SHORT
    for step in range(steps + 2):
        for name, trainer in trainers.items():
            blocks.SHORT = 0 if name == "before" else short
            spent = seconds(trainer, clock)
            if step >= 2:  # the first are slow
                taken[name].append(spent)
    blocks.SHORT = short
    rates = {name: now.budget.batch_size / float(np.mean(times)) for name, times in taken.items()}
    return {**rates, "times_as_fast": rates["recipe"] / rates["before"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--steps", type=int, default=16)
    parser.add_argument("--bins", type=int, nargs="+", default=[32, 192])
    parser.add_argument("--save", action="store_true", help="write bench/results/train_speed.json")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    clock = time.process_time if options.threads == 1 else time.perf_counter
    with TemporaryDirectory() as folder:
        rates = {
            f"{bins} bins": compare(bins, options.steps, clock, Path(folder))
            for bins in options.bins
        }
    result = {
        "threads": options.threads,
        "machine": platform.machine(),
        "torch": torch.__version__,
        "clock": "processor" if options.threads == 1 else "wall",
        "layouts_per_second": rates,
    }
    text = json.dumps(result, indent=1)
    print(text)
    if options.save:
        path = Path(__file__).parent / "results" / "train_speed.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n")


if __name__ == "__main__":
    main()
