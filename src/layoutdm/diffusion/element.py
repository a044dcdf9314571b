"""`ElementSampler`: one element after the other, for networks that were trained so.

Which token is decided in which step is a timetable, made before the first call of the network: for
each element label, width, height, x, y (see timetable.py). What is decided in the same step is
drawn in passes, so that every term sees all that was drawn before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from layoutdm.diffusion.grid import grid
from layoutdm.diffusion.network import Bools, Denoiser, Ints
from layoutdm.diffusion.plain import boxes_of
from layoutdm.diffusion.schedule import Schedule
from layoutdm.diffusion.streams import Uniforms
from layoutdm.diffusion.timetable import Pass, timetable
from layoutdm.plan.batch import Batch
from layoutdm.terms.rows import State, Term, View

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ElementSampler:
    """Draws layouts with a denoiser that knows the number of elements; any terms, in order."""

    denoiser: Denoiser
    schedule: Schedule
    terms: Sequence[Term] = ()
    steps: int | None = None  # None: all levels of the schedule
    temperature: float = 1.0
    top_p: tuple[float, float] = (1.0, 1.0)  # of labels, of boxes
    centres: tuple[Floats, ...] = ()  # of the bins

    def run(self, batch: Batch, uniforms: Uniforms) -> Ints:
        """Clean tokens (B, S, 5)."""
        for _level, tokens in self.walk(batch, uniforms):
            last = tokens
        return last

    def walk(self, batch: Batch, uniforms: Uniforms) -> Iterator[tuple[int, Ints]]:
        """Every level and its tokens, from nothing but what is fixed to the clean tokens."""
        tokens = batch.tokens.copy()
        state = State(tokens, boxes_of(tokens, batch, self.centres))
        yield self.schedule.steps, tokens
        steps = grid(self.schedule.steps, self.steps or self.schedule.steps)
        passes = timetable(~batch.fixed, [step.done for step in steps], batch.turn)
        everything = any(getattr(term, "reads_all", False) for term in self.terms)
        for step, due in zip(steps, passes, strict=True):
            uniform = uniforms.next().reshape(tokens.shape)
            if due:
                view = self._ask(state, batch, due, step.level, everything=everything)
                for one in due:
                    self._decide(view, one, uniform)
            yield step.s, tokens

    def _ask(
        self, state: State, batch: Batch, due: list[Pass], level: int, *, everything: bool
    ) -> View:
        """The network's answer about the elements whose tokens are due, or all that are open.

        Only layouts that decide a token are asked about.
        """
        size, slots, _ = state.tokens.shape
        index = np.full((size, slots), -1)
        wanted = np.zeros((size, slots), dtype=bool)
        for one in due:
            wanted[one.layout, one.slot] = True
        rows = np.flatnonzero(wanted.any(axis=1)) if size > 1 else np.zeros(1, dtype=np.int64)
        if everything:  # of what is decided already, nobody needs a prediction
            wanted |= self._open(state, batch)
        some = wanted[rows]
        most = int(some.sum(axis=1).max())
        # Layouts with fewer slots than others ask about further ones as well.
        asked = np.argsort(~some, axis=1, kind="stable")[:, :most]
        index[rows[:, None], asked] = np.arange(len(rows) * most).reshape(-1, most)
        every = None if len(rows) == size else rows
        log_probs = self.denoiser(batch.query(state.tokens, level, every, asked)).log_probs
        return View(
            state, log_probs, index, self.denoiser.traits.sizes, level / self.schedule.steps,
            temperature=self.temperature, top_p=self.top_p,
        )  # fmt: skip

    def _open(self, state: State, batch: Batch) -> Bools:
        """(B, S): elements of which something is not decided yet."""
        mask = np.array(self.denoiser.traits.sizes) + 1
        return np.asarray(((state.tokens == mask) & ~batch.fixed).any(axis=2))

    def _decide(self, view: View, due: Pass, uniform: Floats) -> None:
        """Draw the tokens of a pass, into the state."""
        m, at = due.modality, (due.layout, due.slot)
        rows = view.rows(m, *at, uniform[(*at, m)])
        for term in self.terms:
            term(rows)
        drawn = rows.draw()
        view.state.tokens[(*at, m)] = drawn
        if m and self.centres:
            view.state.boxes[(*at, m - 1)] = self.centres[m - 1][drawn]
