"""Steps of mask-only diffusion: a token is decided once, so only those decided now are drawn.

Whether a token is decided in a step depends on the level alone, not on the prediction. So the
network is asked only about layouts that decide a token, and only those tokens' rows are touched.
"""

from __future__ import annotations

import numpy as np

from layoutdm.diffusion.apart import COST, Apart, completing, one_by_one
from layoutdm.diffusion.draw import draw, keep_top_k, keep_top_p
from layoutdm.diffusion.grid import Step
from layoutdm.diffusion.known import Floats, Known, partner
from layoutdm.diffusion.network import Array, Bools, Denoiser, Ints
from layoutdm.diffusion.room import Chances, Drawn, with_room
from layoutdm.diffusion.schedule import Schedule
from layoutdm.diffusion.settings import Settings
from layoutdm.diffusion.turns import HEIGHT, WIDTH, X, Y, decision_ranks

# The published floor of log-probabilities: nothing that is allowed is ever quite impossible.
LOG_FLOOR = -70.0
TINY = 1e-300


def mask_chances(schedule: Schedule, settings: Settings, step: Step) -> tuple[float, float]:
    """How likely a decided free token becomes MASK in this step, and MASK stays MASK.

    The first is 0 unless remasking is on; the second makes up for it, so that the share of masked
    tokens at each level is the schedule's own (Wang et al. 2025).
    """
    at_s, at_t = float(schedule.level(step.s).mask), float(schedule.level(step.t).mask)
    low, high = settings.remask_range
    again = 0.0
    if settings.remask and step.s and low <= step.t / schedule.steps <= high:
        most = min(1.0, at_s / max(1.0 - at_t, 1e-12))
        scaled = settings.remask * most
        again = scaled if settings.remask_form == "rescale" else min(settings.remask, most)
    return again, (at_s - again * (1.0 - at_t)) / at_t


def guides(schedule: Schedule, settings: Settings, step: Step) -> bool:
    """Whether relation guidance acts in this step."""
    low, high = settings.relation_range
    return settings.relation_strength > 0 and low < step.t / schedule.steps <= high


def asked_slots(places: Ints, rows: int, slots: int) -> tuple[Ints, Ints]:
    """The slots to predict of each of some layouts, (rows, A), and where each place stands there.

    places: row * slots + slot. Layouts with fewer slots than others ask about slot 0 as well.

    >>> asked, at = asked_slots(np.array([1, 5, 5, 7]), 2, 4)
    >>> asked.tolist(), at.tolist()
    ([[1, 0], [1, 3]], [0, 2, 2, 3])
    """
    wanted, which = np.unique(places, return_inverse=True)
    row, slot = np.divmod(wanted, slots)
    nth = np.arange(len(row)) - np.searchsorted(row, row)
    most = int(nth.max()) + 1
    asked = np.zeros((rows, most), dtype=np.int64)
    asked[row, nth] = slot
    return asked, (row * most + nth)[which]


class RevealStep:
    """Takes steps in place; for schedules that only mask, with priors or guidance, not both.

    Relation guidance moves mass between the bins of an attribute, not to or from MASK, so which
    tokens are decided in a step does not depend on it. A prior does move mass from MASK: tokens
    that have one are looked at in every step until they are decided.
    """

    def __init__(
        self,
        denoiser: Denoiser,
        schedule: Schedule,
        settings: Settings,
        known: Known,
        absorbing: bool = True,
    ) -> None:
        self.denoiser, self.known = denoiser, known
        self.schedule, self.settings = schedule, settings
        self.sizes = denoiser.traits.sizes
        self.mask = np.array(self.sizes, dtype=np.int64) + 1
        self.free = ~known.fixed
        self.masked: Bools | None = None
        self.width = max(self.sizes) + (known.pad is not None)
        batch, slots, _ = known.tokens.shape
        bins = max(self.sizes[1:]) if known.guide is not None else 0
        self.bag = None if known.bag is None else known.bag.copy()
        self.steered = np.full((batch, slots, 4, bins), -np.inf)
        self.wished: Bools | None = None
        if known.priors is not None:
            self.wished = np.zeros((batch, slots, 5), dtype=bool)
            for a, prior in enumerate(known.priors):
                self.wished[..., 1 + a] = prior.any(axis=-1)
        self.in_turn = settings.order == "elements" and self.wished is None
        # In random order the tokens of a step are independent, as the exact posterior has it. A
        # network that draws PAD would lose elements for which no place is free.
        can = self.in_turn and denoiser.traits.number_first
        self.apart: Apart | None = known.apart if can and settings.keep_apart != "no" else None

    def __call__(self, tokens: Ints, step: Step, uniform: Floats) -> None:
        if self.masked is None:
            self.masked = self.free & (tokens == self.mask)
            if self.in_turn:
                known, settings = self.known, self.settings
                steps = settings.steps or self.schedule.steps
                early = np.full(len(tokens), settings.labels_first)
                if self.bag is not None:
                    early |= self.bag.sum(axis=1) > 0
                self.ranks = decision_ranks(
                    self.masked, steps, early, known.turns, size_at_once=settings.size_at_once
                )
        masked = self.masked
        again, stay = mask_chances(self.schedule, self.settings, step)
        if self.in_turn:
            decided, stay = masked & (self.ranks < step.done), 0.0
        else:
            decided = masked & (uniform >= stay)
        if again:
            remasked = self.free & ~masked & (uniform < again)
        if self.wished is not None:
            decided |= masked & self.wished
        places = np.flatnonzero(decided)
        if not len(places) and not self.settings.lazy:
            nobody = np.zeros((len(tokens), 1), dtype=np.int64)
            self.denoiser(self.known.query(tokens, step.level, ahead=self.bag, asked=nobody))
        if len(places):
            tokens.reshape(-1)[places] = self._draw(
                tokens, step, places, uniform.reshape(-1)[places], stay
            )
            masked ^= decided
            if self.wished is not None:
                masked |= decided & (tokens == self.mask)
        if again:
            masked |= remasked
            np.copyto(tokens, np.broadcast_to(self.mask, tokens.shape), where=remasked)

    def _draw(self, tokens: Ints, step: Step, places: Ints, uniform: Floats, stay: float) -> Ints:
        """Values of the tokens at these flat places, from the network's prediction."""
        slots = tokens.shape[1]
        element, modality = np.divmod(places, 5)
        rows = np.unique(element // slots) if self.settings.lazy else None
        if rows is not None and len(rows) == len(tokens):
            rows = None
        guided = self.known.guide is not None and guides(self.schedule, self.settings, step)
        guesses = self.bag is not None and not self.denoiser.traits.ahead
        row = element // slots if rows is None else np.searchsorted(rows, element // slots)
        asked, at = None, row * slots + element % slots
        if not (guided or guesses):  # these look at the predictions of all slots
            asked, at = asked_slots(at, len(tokens) if rows is None else len(rows), slots)
        query = self.known.query(tokens, step.level, rows, ahead=self.bag, asked=asked)
        log_probs = self.denoiser(query).log_probs
        if guided:
            self._steer(tokens, log_probs, rows)
        logits = self._rows(tokens, log_probs, element, at, modality, guided)
        share = (uniform - stay) / (1.0 - stay)
        late, there = self._late(tokens, places, element, modality)
        held = logits[late]
        weights = self._weights(logits, modality)
        values = draw(weights, share)
        if self.wished is not None:
            mine = np.flatnonzero(self.wished.reshape(-1)[places])
            values[mine] = self._by_prior(
                weights[mine], element[mine], modality[mine], uniform[mine], stay
            )
        if self.bag is not None:
            self._from_bag(log_probs[0], element, at, modality, share, values)
        if self.apart is None or there is None:
            return values
        after = tokens.copy()
        after.reshape(-1)[places] = values
        if len(late):
            values[late] = self._apart(tokens, after, places[late], there, held, share[late])
        if self.settings.keep_apart == "all":
            early = np.flatnonzero((modality > 0) & ~there.reshape(-1)[element])
            if len(early):
                drawn = Drawn(element, modality, weights, share, values).of(early)
                chances = self._chances(log_probs, element[early], at[early], guided)
                values[early] = with_room(self.apart, after, there, drawn, chances)
        return values

    def _late(
        self, tokens: Ints, places: Ints, element: Ints, modality: Ints
    ) -> tuple[Ints, Bools | None]:
        """Which of these tokens are drawn after the others of the step, to keep boxes apart.

        Of the boxes that a layout completes in this step all but the first; or all. And (B, S),
        which boxes are there after the step; None if none need be kept apart.
        """
        none = np.zeros(0, dtype=np.int64)
        if self.apart is None:
            return none, None
        if self.settings.keep_apart == "step":  # most steps have one element of a layout
            boxes = element[modality > 0]
            another = np.diff(boxes) > 0
            layout = boxes // tokens.shape[1]
            if not (another & (layout[1:] == layout[:-1])).any():
                return none, None
        after = tokens.copy()
        after.reshape(-1)[places] = 0
        there = self.apart.whole(after)
        last = completing(element, modality, there.reshape(-1))
        if self.settings.keep_apart == "step" and len(last):
            last = np.delete(last, one_by_one(*self._turns(element[last]))[0])
        return last, there

    def _turns(self, element: Ints) -> tuple[Ints, Ints]:
        """Layouts of these elements, and when each has its turn."""
        layout, slot = np.divmod(element, self.known.tokens.shape[1])
        turns = self.known.turns
        return layout, slot if turns is None else turns[layout, slot]

    def _apart(
        self, tokens: Ints, after: Ints, places: Ints, there: Bools, logits: Floats, share: Floats
    ) -> Ints:
        """The last value of each of these boxes, from the places that other boxes leave free.

        after: tokens after the step, and there: its boxes; both as if these were drawn already.
        """
        assert self.apart is not None
        slots = tokens.shape[1]
        element, modality = np.divmod(places, 5)
        drawn = np.empty(len(places), dtype=np.int64)
        count = there.copy()
        count.reshape(-1)[element] = False
        if self.settings.keep_apart == "step":
            count &= ~self.apart.whole(tokens)  # those the network has seen
        for group in one_by_one(*self._turns(element)):
            for m in (X, Y, WIDTH, HEIGHT):
                mine = group[modality[group] == m]
                if not len(mine):
                    continue
                row, slot = np.divmod(element[mine], slots)
                cost = self.apart.covered(after[row], slot, m, count[row])
                part = logits[mine]
                part[:, : cost.shape[1]] -= COST * cost
                drawn[mine] = draw(self._weights(part, modality[mine]), share[mine])
                after.reshape(-1)[places[mine]] = drawn[mine]
            count.reshape(-1)[element[group]] = True
        return drawn

    def _chances(
        self, log_probs: tuple[Array, ...], element: Ints, at: Ints, guided: bool
    ) -> Chances:
        """What is predicted of tokens of these elements that are still open; at: their rows."""

        def chances(elements: Ints, m: int) -> Floats:
            size = self.sizes[m]
            if guided:
                found = self.steered.reshape(-1, 4, self.steered.shape[-1])[elements, m - 1, :size]
            else:
                rows = at[np.searchsorted(element, elements)]
                found = log_probs[m].reshape(-1, size + 1)[rows, :size]
                found = np.maximum(found, LOG_FLOOR, dtype=np.float64) / self.settings.temperature
            return np.asarray(np.exp(found - found.max(axis=-1, keepdims=True)))

        return chances

    def _by_prior(
        self, weights: Floats, element: Ints, modality: Ints, uniform: Floats, stay: float
    ) -> Ints:
        """Values, or MASK, where a prior is added to log p(z_s | z_t)."""
        assert self.known.priors is not None
        log = weights * ((1.0 - stay) / weights.sum(axis=-1, keepdims=True))
        log = np.log(np.maximum(log, TINY, out=log), out=log)
        for a, prior in enumerate(self.known.priors):
            mine = np.flatnonzero(modality == 1 + a)
            size = self.sizes[1 + a]
            log[mine, :size] += prior.reshape(-1, size)[element[mine]]
            log[mine, size + (self.known.pad is not None) :] = -np.inf
        masked = np.log(stay) if stay > 0 else -np.inf
        most = np.maximum(log.max(axis=-1, keepdims=True), masked)
        weights = np.exp(np.subtract(log, most, out=log), out=log)
        # MASK first: a number below its share leaves the token masked.
        held = np.exp(masked - most[:, 0])
        values = weights.sum(axis=-1)
        target = uniform * (values + held) - held
        drawn = draw(weights, np.clip(target / np.maximum(values, TINY), 0.0, 1.0))
        return np.where(target < 0, self.mask[modality], drawn)

    def _from_bag(
        self, log_probs: Array, element: Ints, at: Ints, modality: Ints, share: Floats, values: Ints
    ) -> None:
        """Draw labels again where the request says how often each must come.

        They come first, so that the network knows them all when it draws boxes, in reading order.
        The next label is l with a chance of p(l) times how many of it are left over how many the
        network knows or expects to be left: p(l) itself where both are the same. A network that
        reads what is ahead knows what was left when it was asked.
        """
        assert self.bag is not None and self.masked is not None
        slots = self.masked.shape[1]
        flat = log_probs.reshape(-1, log_probs.shape[-1])
        before = self.bag.copy()
        for token in np.flatnonzero(modality == 0):
            layout = int(element[token]) // slots
            left = self.bag[layout]
            if not left.any():
                continue
            weights = np.exp(flat[at[token], : len(left)], dtype=np.float64)
            expected = before[layout]
            if not self.denoiser.traits.ahead:
                masked = log_probs[at[token] // slots, self.masked[layout, :, 0], : len(left)]
                expected = np.exp(masked, dtype=np.float64).sum(axis=0)
            weights = np.maximum(weights, 1e-9) * left / np.maximum(expected, 1e-6)
            values[token] = draw(weights[None], share[token : token + 1])[0]
            left[values[token]] -= 1

    def _steer(self, tokens: Ints, log_probs: tuple[Array, ...], asked: Ints | None) -> None:
        """Predictions of all bins of x, y, width, height, moved by the guide."""
        rows = slice(None) if asked is None else asked
        views = []
        for a, size in enumerate(self.sizes[1:]):
            self.steered[rows, :, a, :size] = np.maximum(log_probs[a + 1][..., :size], LOG_FLOOR)
            views.append(self.steered[:, :, a, :size])
        if self.settings.temperature != 1.0:
            self.steered[rows] /= self.settings.temperature
        assert self.masked is not None and self.known.guide is not None
        places = np.nonzero(~self.masked[..., 1:])
        self.steered[places] = -np.inf  # one-hot at what is decided
        values = np.minimum(tokens[..., 1:][places], np.array(self.sizes)[1:][places[-1]] - 1)
        self.steered[(*places, values)] = 0.0
        self.known.guide.update(
            views,
            strength=self.settings.relation_strength,
            updates=self.settings.relation_updates,
            move_sizes=self.settings.relation_sizes,
        )

    def _rows(
        self,
        tokens: Ints,
        log_probs: tuple[Array, ...],
        element: Ints,
        at: Ints,
        modality: Ints,
        guided: bool,
    ) -> Floats:
        """(tokens, widest) log-probabilities, -inf where a value is not allowed."""
        rows = np.full((len(at), self.width), -np.inf)
        pad, labels = self.known.pad, self.known.labels
        for m, size in enumerate(self.sizes):
            mine = np.flatnonzero(modality == m)
            if not len(mine):
                continue
            states = size if pad is None else size + 1
            found = log_probs[m].reshape(-1, size + 1)[at[mine], :states]
            part = np.maximum(found, LOG_FLOOR, dtype=np.float64)
            if self.settings.temperature != 1.0:
                part /= self.settings.temperature
            if guided and m:
                bins = self.steered.shape[-1]
                part[:, :size] = self.steered.reshape(-1, 4, bins)[element[mine], m - 1, :size]
            if pad is not None:
                part[~pad.reshape(-1)[element[mine]], size] = -np.inf
            if m == 0 and labels is not None:
                part[:, :size][~labels.reshape(-1, size)[element[mine]]] = -np.inf
            if m and self.known.on_canvas is not None:
                other = tokens.reshape(-1, 5)[element[mine], partner(m)]
                part[:, :size][~self.known.fitting(m, other)] = -np.inf
            rows[mine, :states] = part
        return rows

    def _weights(self, logits: Floats, modality: Ints) -> Floats:
        settings = self.settings
        logits -= logits.max(axis=-1, keepdims=True)
        weights = np.exp(logits)
        if settings.top_k:
            weights = keep_top_k(weights, settings.top_k)
        if settings.top_p_of(0) == settings.top_p:
            return keep_top_p(weights, settings.top_p)
        for mine, of in ((modality == 0, 0), (modality > 0, 1)):
            weights[mine] = keep_top_p(weights[mine], settings.top_p_of(of))
        return weights
