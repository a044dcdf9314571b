"""How fast the recipe learns, side by side with the way before it.

    python bench/train_speed.py DATA [--minutes 3] [--save]

Both ways train the same network on the same data and take turns in one process on one thread, so
that other programs slow both down alike. Each gets so many minutes of processor time; then the
recipe's figure on val is looked at to see when it was first as good as the other's last one.
The way before: one noisy state of a layout a step, in single precision, the loss is the variational
bound in double precision over all values, embeddings are looked up one by one, attention is the
fused kernel, and nothing looks at what repeats.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from torch import Tensor, nn

from layoutdm import data
from layoutdm.tokens import Tokenizer
from layoutdm.train.batches import from_tensors
from layoutdm.train.corpus import pack
from layoutdm.train.folder import train_and_val
from layoutdm.train.layoutdm import NUMBER_EVERY, LayoutDMLearner, Splits
from layoutdm.train.learner import Batch, Moment, Notes
from layoutdm.train.losses import terms
from layoutdm.train.measure import limited
from layoutdm.train.networks import ElementNetwork, Query, attention, blocks
from layoutdm.train.objective import number_loss, shown_part
from layoutdm.train.published import to_noise
from layoutdm.train.recipe import Settings, preset
from layoutdm.train.run import make_tokenizer
from layoutdm.train.times import stratified
from layoutdm.train.trainer import Trainer

LOOKS, EFFORT = 12, 1000  # at the recipe's figure on val; layouts each


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


def make_trainer(
    settings: Settings, tokenizer: Tokenizer, splits: Splits, folder: Path, *, before: bool
) -> Trainer:
    torch.manual_seed(0)
    network = (BeforeNetwork if before else ElementNetwork)(
        replace(settings.network_config(tokenizer), in_turn=not before)
    )
    if before:  # a mask for every place, as it was
        for module in network.modules():
            for name, part in module.named_children():
                if isinstance(part, blocks.SharedDropout):
                    setattr(module, name, nn.Dropout(part.share))
    learner = (BeforeLearner if before else LayoutDMLearner)(
        network, splits, settings, lambda finished, out: None
    )
    return Trainer(learner, settings.optimiser, settings.budget, folder)


def nats(trainer: Trainer) -> float:
    with torch.no_grad():
        return float(trainer.learner.validate(trainer.state.average.eval(), EFFORT).bound)


def compare(folder: Path, minutes: float, scratch: Path) -> dict[str, object]:
    """Figures of both ways after as many minutes of processor time each."""
    now = preset("recipe", steps=100_000)
    then = now.changed("network", repeats=False, lines=255)
    then = then.changed("budget", precision="fp32", batch_size=64)
    dataset, _ = limited(data.open(folder), now.data.max_elements)
    train, val = train_and_val(dataset)
    tokenizer = make_tokenizer(dataset, train, now, None)
    splits = Splits(pack(train, tokenizer), pack(val, tokenizer))
    trainers = {
        "before": make_trainer(then, tokenizer, splits, scratch / "before", before=True),
        "recipe": make_trainer(now, tokenizer, splits, scratch / "recipe", before=False),
    }
    spent = dict.fromkeys(trainers, 0.0)
    seen = dict.fromkeys(trainers, 0)
    curve: list[tuple[float, float]] = []
    short = attention.SHORT
    while min(spent.values()) < 60 * minutes:
        name = min(spent, key=lambda name: spent[name])
        attention.SHORT = 0 if name == "before" else short
        begin = time.process_time()
        trainers[name]._step()
        spent[name] += time.process_time() - begin
        seen[name] += trainers[name].draws.batch_size
        if name == "recipe" and spent[name] > 60 * minutes * (len(curve) + 1) / LOOKS:
            curve.append((round(spent[name] / 60, 2), round(nats(trainers[name]), 2)))
    attention.SHORT = short
    last = {name: round(nats(trainer), 2) for name, trainer in trainers.items()}
    reached = next((at for at, value in curve if value <= last["before"]), None)
    return {
        "nats_on_val": last,
        "layouts_per_second": {name: round(seen[name] / spent[name], 1) for name in seen},
        "recipe_minutes_and_nats": curve,
        "as_good_after_minutes": reached,
        "times_as_fast": None if reached is None else round(minutes / reached, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--save", action="store_true", help="write bench/results/train_speed.json")
    options = parser.parse_args()
    torch.set_num_threads(1)
    with TemporaryDirectory() as folder:
        found = compare(options.data, options.minutes, Path(folder))
    result = {
        "data": options.data.name, "minutes": options.minutes, "threads": 1,
        "machine": platform.machine(), "torch": torch.__version__, "clock": "processor",
        "precision": str(preset("recipe").budget.precision), **found,
    }  # fmt: skip
    text = json.dumps(result, indent=1)
    print(text)
    if options.save:
        path = Path(__file__).parent / "results" / "train_speed.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text + "\n")


if __name__ == "__main__":
    main()
