"""What is left to do when the weights are done: a named list of steps.

The weights are the averaged ones with the best bound of the last phase; the trainer keeps them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from layoutdm.plan.labels import LabelModel
from layoutdm.terms.apart import Apart
from layoutdm.train.corpus import Corpus, label_sequences
from layoutdm.train.label_model import fit_labels
from layoutdm.train.learner import Export
from layoutdm.train.networks import Network
from layoutdm.train.number import STEPS as STEPS_OF_NUMBER
from layoutdm.train.number import fit_number
from layoutdm.train.recipe import Settings
from layoutdm.train.sampling import USUAL, choose_top_p

# How models sample well; known sizes and drafts leave less open, so less of the tail is wanted.
SAMPLING: Mapping[str, Mapping[str, Any]] = {
    # An element is decided when those before it are whole, in up to four steps.
    "default": {"steps": 75, "top_p": USUAL},
    "cwh": {"top_p": 0.8},
    "refinement": {"top_p": 0.8},
}


HARDLY = 100  # steps: a network that has learned so little says nothing about top-p


@dataclass(frozen=True, eq=False)
class Finished:
    """A trained network and what was fitted to it."""

    network: Network
    apart: Apart
    labels: LabelModel | None = None
    sampling: Mapping[str, Mapping[str, Any]] | None = None


@dataclass(frozen=True, eq=False)
class Room:
    """What a finishing step may use; `seconds` is its time, None for as long as it takes."""

    train: Corpus
    settings: Settings
    notice: Callable[[str], None]
    seconds: float | None
    steps: int  # of the training: what comes after it should not take longer


def fit_the_number(found: Finished, room: Room) -> Finished:
    """The guess of the number of elements, anew."""
    seed = room.settings.budget.seed
    fit_number(
        found.network, room.train, room.settings.recipe,
        seed=seed, steps=min(STEPS_OF_NUMBER, room.steps), seconds=room.seconds,
        progress=room.notice,
    )  # fmt: skip
    return found


def fit_the_labels(found: Finished, room: Room) -> Finished:
    """The small network that draws labels in reading order."""
    labels = fit_labels(
        label_sequences(room.train), len(room.train.tokenizer.labels),
        seed=room.settings.budget.seed, seconds=room.seconds, progress=room.notice,
    )  # fmt: skip
    return replace(found, labels=labels)


def set_sampling(found: Finished, room: Room) -> Finished:
    """How the model is sampled unless somebody says otherwise: top-p is measured."""
    usual = SAMPLING["default"]
    if room.steps < HARDLY:
        return replace(found, sampling=SAMPLING)
    top_p = choose_top_p(
        found.network, found.labels, found.apart, room.settings.recipe.noise_schedule(),
        room.train, steps=usual["steps"], seed=room.settings.budget.seed, seconds=room.seconds,
        progress=room.notice,
    )  # fmt: skip
    return replace(found, sampling={**SAMPLING, "default": {**usual, "top_p": top_p}})


Step = Callable[[Finished, Room], Finished]

# Name, step, and its share of the time where that is limited.
STEPS: tuple[tuple[str, Step, float], ...] = (
    ("number of elements", fit_the_number, 0.2),
    ("order of labels", fit_the_labels, 0.5),
    ("sampling", set_sampling, 0.3),
)


def finish(
    network: Network, train: Corpus, apart: Apart, settings: Settings, out: Export
) -> Finished:
    """All steps in order; the published recipe has none of them."""
    found = Finished(network, apart)
    if settings.recipe.published:
        return found
    begun = time.monotonic()
    left = 1.0
    for name, step, share in STEPS:
        seconds = None
        if out.seconds is not None:
            remaining = max(out.seconds - (time.monotonic() - begun), 1.0)
            seconds = remaining * share / max(left, share)
        out.notice(f"finishing: {name}")
        found = step(found, Room(train, settings, out.notice, seconds, out.report.steps))
        left -= share
    return found
