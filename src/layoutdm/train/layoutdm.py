"""LayoutDM's own learner: the recipe, under the trainer that all systems share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from layoutdm.train.apart import keeping_apart
from layoutdm.train.batches import from_tensors, make_batch, tensors
from layoutdm.train.clear import covering_loss
from layoutdm.train.corpus import Corpus
from layoutdm.train.finishing import Finished, finish
from layoutdm.train.learner import Batch, Export, Ints, Learner, Moment, Notes, Validated
from layoutdm.train.networks import ElementNetwork, Network
from layoutdm.train.objective import number_loss, shown_part, turns_loss
from layoutdm.train.published import published_loss, to_noise
from layoutdm.train.recipe import Settings
from layoutdm.train.times import Times
from layoutdm.train.turns import draw_turns
from layoutdm.train.validation import Validation

NUMBER_EVERY = 2  # steps: the number of elements is soon learned
APART_EVERY = 3  # steps: many layouts at once take little more time than few


@dataclass(frozen=True, eq=False)
class Splits:
    """The layouts to learn from and those to judge by."""

    train: Corpus
    val: Corpus


class LayoutDMLearner(Learner):
    """Elements at their turns, then what keeps apart; or as published."""

    name = "layoutdm"
    finishing = 0.12  # number, labels and sampling are fitted when the weights are done

    def __init__(
        self,
        network: Network,
        data: Splits,
        settings: Settings,
        write: Callable[[Finished, Export], None],
    ) -> None:
        """write: makes the model folder of what is finished."""
        assert isinstance(network, nn.Module)
        self.network: Network = network
        self.module = network
        self.data, self.settings, self.write = data, settings, write
        self.counts, self.fingerprint = data.train.counts, data.train.fingerprint
        self.schedule = settings.recipe.noise_schedule()
        kind = "importance" if settings.recipe.published else "stratified"
        self.times = Times(kind, self.schedule.steps)
        self.apart = keeping_apart(data.train)
        pairs = torch.from_numpy(self.apart.labels).double()
        self._apart = pairs if settings.recipe.apart and bool(pairs.any()) else None

    def phase(self, done: float) -> str:
        return self.settings.recipe.phase(done)

    def slack(self, phase: str) -> float:
        """Keeping apart costs a little of the bound; the first weights of its phase are no aim."""
        return 0.01 if phase == "apart" else 0.0

    def batch(self, layouts: Ints, rng: np.random.Generator, moment: Moment) -> Batch:
        recipe = self.settings.recipe
        made = make_batch(self.data.train, layouts, recipe, rng)
        found = tensors(made)
        size, slots, _ = made.tokens.shape
        found["uniform"] = torch.from_numpy(rng.random((size, 2, slots, 5)))
        if recipe.published:
            level, weight = self.times.draw(size, rng)
            return {**found, "level": torch.from_numpy(level), "weight": torch.from_numpy(weight)}
        turns = draw_turns(made.known.numpy(), made.valid.numpy(), recipe.mixed, recipe.ahead, rng)
        found["listed"], found["begun"] = map(torch.from_numpy, (turns.listed, turns.begun))
        found["turn"] = torch.from_numpy(turns.turn)
        found["weight"] = torch.from_numpy(turns.weight).float()
        return found

    def loss(self, batch: Batch, moment: Moment, turn: str) -> tuple[Tensor, Notes]:
        recipe, made = self.settings.recipe, from_tensors(batch)
        if recipe.published:
            level, noise = batch["level"], to_noise(batch["uniform"])
            loss, size = published_loss(
                self.network, self.schedule, made, level, batch["weight"], noise
            )
            return loss, {"level": level, "size": size}
        assert isinstance(self.network, ElementNetwork)
        parts = (batch[name] for name in ("listed", "begun", "turn", "weight"))
        loss = turns_loss(self.network, made, *parts).mean()
        due = recipe.phase(moment.done) == "apart" and moment.step % APART_EVERY == 0
        if self._apart is not None and due:
            apart = self._apart.to(loss.device)
            covering = covering_loss(self.network, made, batch["uniform"], apart, self.apart.free)
            loss = loss + APART_EVERY * recipe.apart * covering
        if moment.step % NUMBER_EVERY == 0:
            shown = shown_part(made, batch["uniform"])
            loss = loss + recipe.number * number_loss(self.network, made, *shown).mean()
        return loss, {}

    def took(self, notes: Notes, total: Callable[[Tensor], Tensor]) -> None:
        if "level" in notes:
            self.times.update(notes["level"], notes["size"], total)

    def validate(self, module: nn.Module, effort: int) -> Validated:
        device = next(module.parameters()).device
        validation = Validation(self.data.val, self.settings.recipe, self.schedule, device)
        published = self.settings.recipe.published
        look = validation.variational if published else validation.boxes_in_order
        found: Validated = look(module, effort)  # type: ignore[arg-type]
        return found

    def state(self) -> Mapping[str, Tensor]:
        return {"history": self.times.history, "seen": self.times.seen}

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        self.times.history, self.times.seen = tensors["history"], tensors["seen"]

    def export(self, module: nn.Module, out: Export) -> None:
        finished = finish(module, self.data.train, self.apart, self.settings, out)  # type: ignore[arg-type]
        self.write(finished, out)
