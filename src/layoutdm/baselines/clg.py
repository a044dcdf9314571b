"""CLG-LO: latent vectors of LayoutGAN++, moved until relations hold (Kikuchi et al., ACM MM 2021).

For each layout, over the latent vectors z of its elements:

    minimise  f(z) + sum_i lambda_i h_i(z) + mu / 2 sum_i h_i(z)^2

f = max(0, realism lost since the start), realism being the discriminator's sigmoid; h are the 14
sums of what its relations miss (each kind of relation, against elements or the canvas). After each
of at most 5 rounds lambda grows by mu h and mu triples; a layout is done when the penalty is
negligible. A round is CMA-ES, or with `inner=adam` 200 steps along the gradient, which needs torch.

Each layout is optimised by itself, so its neighbours do not matter. In the released code a batch
runs until its last layout is done, and one in which all relations hold at the start ends without
any result; here it is returned as it is. Without relations a layout is that of LayoutGAN++.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from layoutdm.baselines.choosing import whole
from layoutdm.baselines.common import (
    Common,
    System,
    labels_only,
    put_boxes,
    read_common,
    refusal,
)
from layoutdm.baselines.layoutgan import DISCRIMINATOR, GENERATOR, LATENT, inputs
from layoutdm.baselines.session import Network, Session
from layoutdm.errors import LayoutdmError
from layoutdm.generator.protocol import Drawn, Options, empty
from layoutdm.relations import CANVAS, Relation
from layoutdm.relations.hinges import (
    measures,
    relation_hinges,
)
from layoutdm.relations.table import CANVAS_KINDS
from layoutdm.relations.table import KINDS as ELEMENT_KINDS
from layoutdm.spec import Condition

Floats = NDArray[np.float64]

# One sum for each kind of relation: the 14 of the paper, and those that requests have besides.
_NUMBERS = {
    (kind.code, canvas): number
    for number, (kind, canvas) in enumerate(
        (kind, canvas)
        for canvas, kinds in ((False, ELEMENT_KINDS), (True, CANVAS_KINDS))
        for kind in kinds.values()
    )
}
KINDS = len(_NUMBERS)
ENOUGH = 1e-8  # a penalty below this is none
GROWTH = 3.0  # of mu
SIGMA = 0.25  # of the first population
WEIGHTS = "weights.safetensors"  # for inner=adam
Inner = Literal["cma", "adam"]


@dataclass(frozen=True)
class CLGOptions(Options):
    inner: Inner = "cma"
    rounds: int = 5
    iterations: int = 200  # of each round

    def __post_init__(self) -> None:
        if self.inner not in get_args(Inner):
            raise LayoutdmError(f"inner must be cma or adam, got {self.inner!r}")
        whole("rounds", self.rounds, 1, 1000)
        whole("iterations", self.iterations, 1, 1_000_000)


@dataclass(frozen=True, eq=False)
class CLG(System):
    """`judge(boxes, labels, valid)` gives the discriminator's logits."""

    common: Common
    network: Network
    judge: Network
    folder: Path | None = None  # of the weights that inner=adam needs
    name: str = "clg-lo"
    options: type[CLGOptions] = CLGOptions

    def usual(self, task: str) -> CLGOptions:
        return self.common.options(CLGOptions(), task)

    def refuses(self, condition: Condition) -> str | None:
        return refusal(self.name, condition, relations=True) or labels_only(self.name, condition)

    def draw(
        self,
        conditions: Sequence[Condition],
        options: CLGOptions,
        streams: Sequence[np.random.Generator],
    ) -> Drawn:
        drawn = empty(len(conditions), self.max_elements)
        for i, (condition, stream) in enumerate(zip(conditions, streams, strict=True)):
            problem = Problem(condition, self.network, self.judge)
            start = stream.standard_normal(len(condition) * LATENT)
            seed = int(stream.integers(1, 2**31 - 1))
            found = solve(problem, start, self._search(condition, options, seed), options.rounds)
            boxes = problem.boxes(found[None])[0]
            put_boxes(drawn, i, condition.label_choices.argmax(axis=1), boxes, condition)
        return drawn

    def _search(self, condition: Condition, options: CLGOptions, seed: int) -> Search:
        if options.inner == "cma":
            return lambda goal, start: evolve(goal, start, options.iterations, seed)
        if self.folder is None:
            raise LayoutdmError("inner=adam needs the model's folder; load it by name")
        try:
            from layoutdm.baselines.learn.clg_adam import descent
        except ImportError as error:
            raise LayoutdmError(
                f"inner=adam needs the package {error.name!r}; install it with: "
                "pip install 'layoutdm[train]', or use inner=cma"
            ) from None
        return descent(self.folder / WEIGHTS, condition, options.iterations)


@dataclass(frozen=True)
class Goal:
    """The augmented Lagrangian of one round; many candidates at once."""

    problem: Problem
    weights: Floats  # lambda, (KINDS,)
    penalty: float  # mu
    realism: float  # f at the start of all

    def __call__(self, latent: Floats) -> Floats:
        """(P, 4 E) to (P,)."""
        boxes = self.problem.boxes(latent)
        missed = self.problem.missed(boxes)
        lost = np.maximum(self.problem.cost(boxes) - self.realism, 0.0)
        return np.asarray(lost + missed @ self.weights + self.penalty / 2 * (missed**2).sum(axis=1))


Search = Callable[[Goal, Floats], Floats]


class Problem:
    """One condition's boxes, realism and what its relations miss, as functions of the latents."""

    def __init__(self, condition: Condition, network: Network, judge: Network) -> None:
        self.condition, self._network, self._judge = condition, network, judge
        self._elements = len(condition)

    def boxes(self, latent: Floats) -> Floats:
        """(P, 4 E) latents to (P, E, 4) boxes, what is fixed included."""
        count = len(latent)
        asked = inputs([self.condition], self._elements)
        feed = {name: np.repeat(value, count, axis=0) for name, value in asked.items()}
        shaped = latent.reshape(count, self._elements, LATENT).astype(np.float32)
        (boxes,) = self._network(latent=shaped, **feed)
        known = np.isfinite(self.condition.fixed)
        return np.where(known, np.nan_to_num(self.condition.fixed), boxes.astype(np.float64))

    def cost(self, boxes: Floats) -> Floats:
        """(P,): minus the discriminator's probability of real."""
        count = len(boxes)
        labels = np.repeat(self.condition.label_choices.argmax(axis=1)[None], count, axis=0)
        valid = np.ones(labels.shape, dtype=bool)
        (logit,) = self._judge(boxes=boxes.astype(np.float32), labels=labels, valid=valid)
        return np.asarray(-1 / (1 + np.exp(-logit.astype(np.float64).reshape(count))))

    def missed(self, boxes: Floats) -> Floats:
        """(P, KINDS): sums of the hinges of each kind of relation.

        >>> from layoutdm.spec import Spec
        >>> spec = Spec.parse({"elements": [{"name": "a", "label": "x"}], "relations": [
        ...     {"of": "a", "is": "top", "to": "canvas"}]})
        >>> condition = Condition.from_spec(spec, ("x",), 25)
        >>> problem = Problem(condition, None, None)
        >>> problem.missed(np.array([[[0.5, 0.8, 0.2, 0.2]]])).sum().round(4)
        np.float64(0.4667)
        """
        count, elements = len(boxes), self._elements
        of, code, to = self.condition.relations.T
        kind = np.array([kind_of(int(c), int(t)) for c, t in zip(code, to, strict=True)])
        first = (np.arange(count) * elements)[:, None]
        to_row = np.where(to == CANVAS, CANVAS, first + to)
        owner = (np.arange(count) * KINDS)[:, None] + kind
        hinges = relation_hinges(
            owner.ravel(), (first + of).ravel(), np.tile(code, count), to_row.ravel()
        )
        values = np.maximum(hinges.values(measures(boxes.reshape(-1, 4), extra=False)), 0.0)
        sums = np.bincount(hinges.owner, weights=values, minlength=count * KINDS)
        return np.asarray(sums.reshape(count, KINDS), dtype=np.float64)


def kind_of(code: int, to: int) -> int:
    """The number of a relation's sum."""
    return _NUMBERS[Relation(code), to == CANVAS]


def solve(problem: Problem, start: Floats, search: Search, rounds: int) -> Floats:
    """The method of multipliers: rounds of search under growing penalties."""
    latent, penalty, weights = start, 1.0, np.zeros(KINDS)
    boxes = problem.boxes(start[None])
    realism = float(problem.cost(boxes)[0])
    missed = problem.missed(boxes)[0]
    if not missed.any():
        return latent
    for _ in range(rounds):
        latent = search(Goal(problem, weights, penalty, realism), latent)
        missed = problem.missed(problem.boxes(latent[None]))[0]
        weights = weights + penalty * missed
        penalty *= GROWTH
        if penalty / 2 * float((missed**2).sum()) < ENOUGH:
            break
    return latent


def evolve(goal: Goal, start: Floats, iterations: int, seed: int) -> Floats:
    """CMA-ES from `start`; the best candidate of this round, the start included."""
    try:
        import cma
    except ImportError:
        raise LayoutdmError(
            "clg-lo needs the package 'cma'; install it with: pip install 'layoutdm[clg]'"
        ) from None
    settings = {"maxiter": iterations, "seed": seed, "verbose": -9, "verb_log": 0}
    strategy = cma.CMAEvolutionStrategy(start.tolist(), SIGMA, settings)
    best, lowest = start, float(goal(start[None])[0])
    while not strategy.stop():
        candidates = np.asarray(strategy.ask())
        values = goal(candidates)
        strategy.tell(candidates.tolist(), values.tolist())
        if values.min() < lowest:
            best, lowest = candidates[values.argmin()], float(values.min())
    return np.asarray(best)


def load(
    folder: Path, record: Mapping[str, Any], fingerprint: str, threads: int | None = None
) -> CLG:
    """The generator of a model folder; `record` is its config.json."""
    common = read_common(folder, record, fingerprint)
    network = Session(folder / GENERATOR, threads)
    return CLG(common, network, Session(folder / DISCRIMINATOR, threads), folder)
