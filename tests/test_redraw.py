"""What settling moves far is drawn again, with the other elements where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from layoutdm.generator import Drawn, Options, empty
from layoutdm.model import Model
from layoutdm.spec import Condition

FIRST = [[0.2, 0.3, 0.2, 0.1], [0.7, 0.8, 0.2, 0.1], [0.7, 0.15, 0.2, 0.1]]
THEN = [[0.2, 0.3, 0.2, 0.1], [0.7, 0.4, 0.2, 0.1], [0.7, 0.8, 0.2, 0.1]]


@dataclass
class Told:
    """A system that draws what it is told, one draw after the other, and notes the conditions."""

    draws: list[list[list[float]]]
    refused: str | None = None
    seen: list[Condition] = field(default_factory=list)
    name: str = "told"
    labels: tuple[str, ...] = ("Text", "Image")
    max_elements: int = 25
    fingerprint: str = "0"
    options: type[Options] = Options

    def usual(self, task: str) -> Options:
        return Options()

    def refuses(self, condition: Condition) -> str | None:
        known = np.isfinite(condition.fixed).any()
        return self.refused if known else None

    def draw(
        self, conditions: Sequence[Condition], options: Options, streams: Sequence[Any]
    ) -> Drawn:
        drawn = empty(len(conditions), self.max_elements)
        boxes = self.draws[min(len(self.seen), len(self.draws) - 1)]
        self.seen += conditions
        for row in range(len(conditions)):
            drawn.box[row, : len(boxes)], drawn.mask[row, : len(boxes)] = boxes, True
        return drawn


REQUEST = {
    "elements": [{"name": name} for name in "abc"],
    "relations": [{"of": "c", "is": "below", "to": "b"}],
}


def test_what_moved_little_is_known_and_what_moved_far_is_drawn_again() -> None:
    system = Told([FIRST, THEN])
    result = Model(system).generate(REQUEST, count=1)[0]
    first, part = system.seen
    assert result.attempts == 2
    assert result.met
    assert np.isnan(first.fixed).all()
    assert part.label_choices.tolist() == [[True, False]] * 3  # as they were drawn first
    np.testing.assert_array_equal(part.fixed[0], FIRST[0])
    moved = np.isnan(part.fixed).all(axis=1)
    assert moved.any()
    assert not moved[0]
    assert (part.min_elements, part.max_elements) == (3, 3)
    np.testing.assert_allclose(result.layout.boxes, THEN)  # which needs no settling


def test_of_two_draws_that_move_far_the_one_that_moves_less_is_kept() -> None:
    farther = [FIRST[0], [0.7, 0.9, 0.2, 0.1], [0.7, 0.06, 0.2, 0.1]]
    alone = Model(Told([FIRST, FIRST])).generate(REQUEST, count=1)[0]
    both = Model(Told([FIRST, farther])).generate(REQUEST, count=1)[0]
    np.testing.assert_array_equal(both.layout.boxes, alone.layout.boxes)


def test_a_system_that_refuses_known_elements_draws_all_anew() -> None:
    system = Told([FIRST, THEN], refused="known boxes are not for it")
    result = Model(system).generate(REQUEST, count=1)[0]
    assert result.attempts == 2
    assert np.isnan(system.seen[1].fixed).all()


def test_added_elements_keep_their_number() -> None:
    listed = {"elements": REQUEST["elements"][1:], "relations": REQUEST["relations"], "more": True}
    shifted = Told([[*FIRST[1:], FIRST[0]], [*THEN[1:], THEN[0]]])
    result = Model(shifted).generate(listed, count=1)[0]
    part = shifted.seen[1]
    assert (len(part), part.min_elements, part.max_elements) == (2, 3, 3)
    assert result.met
