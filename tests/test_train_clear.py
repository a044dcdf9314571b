"""The loss for places on top of other elements: areas by hand, a known answer, and what it does."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch
from torch import Tensor

from layoutdm import Layout
from layoutdm.tokens import Tokenizer, fit_bins
from layoutdm.train.apart import keeping_apart, labels_apart
from layoutdm.train.batches import Batch
from layoutdm.train.clear import (
    ALMOST_ALL,
    SHARE,
    Y,
    covered_by_y,
    covering_loss,
)
from layoutdm.train.corpus import pack
from layoutdm.train.networks import NetworkConfig, Prediction, Query, build

CENTRES = ((0.25, 0.5, 0.75), (0.2, 0.4, 0.6, 0.8), (0.2, 0.5), (0.1, 0.2, 0.4))
SIZES = (2, 3, 4, 2, 3)
MASK = tuple(size + 1 for size in SIZES)
APART = torch.ones((2, 2), dtype=torch.float64)


class Opinion:
    """The same chances whatever it is asked; keeps what it was asked."""

    def __init__(self, chances: list[list[float]]) -> None:
        self.config = NetworkConfig(SIZES, edges=9, centres=CENTRES, width=8, heads=1)
        self.chances = [torch.tensor([*part, 1e-9]).log() for part in chances]
        self.asked: list[Tensor] = []

    def __call__(self, query: Query) -> Prediction:
        self.asked.append(query.tokens.clone())
        assert query.asked is not None
        return Prediction(tuple(part.expand(*query.asked.shape, -1) for part in self.chances))


def certain(values: tuple[int, ...], y: list[float]) -> Opinion:
    """Draws these label, x, width and height, and y with these chances."""
    chances = [[float(i == v) + 1e-9 for i in range(n)] for v, n in zip(values, SIZES, strict=True)]
    chances[Y] = y
    return Opinion(chances)


def batch_of(tokens: list[list[list[int]]], known: Tensor | None = None) -> Batch:
    found = torch.tensor(tokens)
    valid = torch.ones(found.shape[:2], dtype=torch.bool)
    nothing = torch.zeros(found.shape, dtype=torch.bool)
    return Batch(found, valid, nothing if known is None else known, None, None)


def noise_for(batch: Batch, element: float, value: float = 0.5) -> Tensor:
    """Every layout takes part; element and value from 0 to 1 decide which and what is drawn."""
    size, slots, _ = batch.tokens.shape
    noise = torch.full((size, 2, slots, 5), value, dtype=torch.float64)
    noise[:, 0, 0, 0], noise[:, 0, 0, 1] = SHARE / 2, element
    return noise


@pytest.mark.parametrize("free", [0.0, 0.3])
def test_covered_shares_are_areas_of_boxes(free: float) -> None:
    rng = np.random.default_rng(0)
    tokens = np.stack([rng.integers(0, n, (20, 4)) for n in SIZES], axis=-1)
    tokens[0, 1] = MASK  # not decided: covers nothing
    slot = rng.integers(2, 4, 20)
    network = certain((0, 0, 0, 0, 0), [0.25] * 4)
    apart = torch.tensor([[1.0, 0.0], [0.0, 1.0]])  # labels of two kinds may share room
    found = covered_by_y(
        network, torch.from_numpy(tokens), torch.from_numpy(slot), apart, free
    ).numpy()
    for row in range(20):
        label, x, _, w, h = tokens[row, slot[row]]
        for y in range(4):
            mine = _edges(x, y, w, h)
            total = 0.0
            for other in range(4):
                same = tokens[row, other, 0] == label
                if other != slot[row] and tokens[row, other, 1] < SIZES[1] and same:
                    share = _share(mine, _edges(*tokens[row, other, 1:]))
                    total += max(0.0, share - free) / (1 - free)
            outside = 1 - _inside(mine)
            total += max(0.0, outside - free) / (1 - free)
            assert found[row, y] == pytest.approx(min(total, 1.0))


def test_what_leaves_the_canvas_counts_as_covered() -> None:
    """Half of a box beyond the upper edge, a fifth beyond the right one; nothing else around."""
    tokens = torch.tensor([[[0, 0, MASK[2], 0, 2], [0, *MASK[1:]]]])  # 0.4 tall, x = 0.25
    tokens = torch.cat([tokens, tokens])
    tokens[1, 0, 1], tokens[1, 0, 3] = 2, 1  # x = 0.75, 0.5 wide: up to the edge
    centres = ((0.25, 0.5, 0.85), (0.0, 0.4, 0.6, 0.9), CENTRES[2], CENTRES[3])
    network = certain((0, 0, 0, 0, 0), [0.25] * 4)
    network.config = replace(network.config, centres=centres)
    slot = torch.zeros(2, dtype=torch.long)
    found = covered_by_y(network, tokens, slot, APART)
    assert found[0].tolist() == pytest.approx([0.5, 0.0, 0.0, 0.25])
    assert found[1].tolist() == pytest.approx([0.6, 0.2, 0.2, 0.4])
    found = covered_by_y(network, tokens, slot, APART, 0.2)  # a fifth is free
    assert found[1].tolist() == pytest.approx([0.5, 0.0, 0.0, 0.25])


def _edges(x: int, y: int, w: int, h: int) -> tuple[float, ...]:
    cx, cy, width, height = (CENTRES[i][v] for i, v in enumerate((x, y, w, h)))
    return cx - width / 2, cy - height / 2, cx + width / 2, cy + height / 2


def _inside(a: tuple[float, ...]) -> float:
    """Of a box's area, the share that lies on the canvas."""
    wide, tall = min(a[2], 1) - max(a[0], 0), min(a[3], 1) - max(a[1], 0)
    return wide * tall / ((a[2] - a[0]) * (a[3] - a[1]))


def _share(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    wide = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    tall = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in (a, b)]
    return wide * tall / min(areas)


def test_the_loss_of_a_network_with_a_known_opinion() -> None:
    """The second element is drawn as wide as the first, at its x, half as tall; y by chance."""
    batch = batch_of([[[0, 1, 1, 1, 2], [0, 0, 3, 0, 0]]])
    network = certain((1, 1, 0, 1, 1), [0.1, 0.6, 0.2, 0.1])
    loss = covering_loss(network, batch, noise_for(batch, element=0.9), APART)
    # The first covers 0.2 to 0.6; boxes of 0.1 to 0.3, 0.3 to 0.5, 0.5 to 0.7, 0.7 to 0.9.
    expected = 0.1 * 0.5 + 0.6 * 1.0 + 0.2 * 0.5
    assert float(loss) == pytest.approx(-math.log(1 - ALMOST_ALL * expected), rel=1e-6)
    expected = 0.6  # halves are free
    loss = covering_loss(network, batch, noise_for(batch, element=0.9), APART, 0.5)
    assert float(loss) == pytest.approx(-math.log(1 - ALMOST_ALL * expected), rel=1e-6)
    sizes, x, y = network.asked[:3]  # as the sampler takes its turns: sizes, then x, then y
    assert sizes[0, 1].tolist() == [0, *MASK[1:]]
    assert x[0, 1].tolist() == [0, MASK[1], MASK[2], 1, 1]
    assert y[0, 1].tolist() == [0, 1, MASK[2], 1, 1]
    assert torch.equal(y[:, 0], batch.tokens[:, 0])


def test_what_is_given_is_not_drawn_and_what_comes_later_is_hidden() -> None:
    known = torch.zeros((1, 3, 5), dtype=torch.bool)
    known[..., 0] = known[..., 3:] = True  # labels and sizes
    batch = batch_of([[[0, 1, 0, 1, 0], [1, 0, 2, 0, 1], [0, 2, 3, 1, 2]]], known)
    network = certain((0, 1, 0, 1, 2), [0.25] * 4)
    covering_loss(network, batch, noise_for(batch, element=0.5), APART)
    last = network.asked[2]  # sizes, x, y; the next element follows
    assert last[0, 1].tolist() == [1, 1, MASK[2], 0, 1]
    assert last[0, 2].tolist() == [0, MASK[1], MASK[2], 1, 2]
    known[:, 0] = True  # a whole element, as completion has it: never the one in turn
    covering_loss(network, replace(batch, known=known), noise_for(batch, element=0.0), APART)
    assert network.asked[-1][0, 0].tolist() == [0, 1, 0, 1, 0]


def test_layouts_without_choice_take_no_part() -> None:
    batch = batch_of([[[0, 1, 1, 1, 2], [0, 0, 3, 0, 0]]])
    network = certain((1, 1, 0, 1, 1), [1.0, 0.0, 0.0, 0.0])
    noise = noise_for(batch, element=0.9)
    for known in (False, True):  # one element alone has nothing to keep clear of
        single = replace(batch_of([[[0, 1, 1, 1, 2]]]), known=torch.full((1, 1, 5), known))
        assert float(covering_loss(network, single, noise_for(single, 0.9), APART)) == 0.0
    noise[:, 0, 0, 0] = 0.9  # not drawn
    assert float(covering_loss(network, batch, noise, APART)) == 0.0
    assert not network.asked


def test_training_with_it_finds_the_free_place() -> None:
    """The first element covers the middle; nothing but this loss says where the second may be."""
    torch.manual_seed(0)
    shape = {"width": 16, "layers": 1, "heads": 2, "feedforward": 16, "max_elements": 4}
    network = build(NetworkConfig(SIZES, edges=41, centres=CENTRES, space=True, **shape))
    assert isinstance(network, torch.nn.Module)
    batch = batch_of([[[0, 1, 1, 1, 2], [0, 1, 3, 1, 1]]] * 32)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    rng = np.random.default_rng(0)
    losses = []
    for _ in range(40):
        noise = noise_for(batch, element=0.9)
        noise[:, 1] = torch.from_numpy(rng.random(batch.tokens.shape))
        loss = covering_loss(network, batch, noise, APART)  # type: ignore[arg-type]
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.2 * losses[0]


def test_a_second_element_follows_the_drawn_one() -> None:
    batch = batch_of([[[0, 1, 1, 1, 2], [0, 0, 3, 0, 0], [1, 2, 2, 0, 1]]])
    network = certain((1, 1, 0, 1, 1), [1.0, 0.0, 0.0, 0.0])
    loss = covering_loss(network, batch, noise_for(batch, element=0.5), APART)
    # Both are drawn at 0.1 to 0.3, as wide as the first, which covers 0.2 to 0.6. So half of one
    # is covered, and the next lies on it altogether.
    costs = [-math.log(1 - ALMOST_ALL * covered) for covered in (0.5, 1.0)]
    assert float(loss) == pytest.approx(sum(costs) / 2, rel=1e-6)
    assert len(network.asked) == 6
    assert network.asked[3][0].tolist() == [[0, 1, 1, 1, 2], [0, 1, 0, 1, 1], [1, *MASK[1:]]]
    last = batch_of([[[0, 1, 1, 1, 2], [0, 0, 3, 0, 0]]])  # none follows
    loss = covering_loss(network, last, noise_for(last, element=0.9), APART)
    assert float(loss) == pytest.approx(costs[0], rel=1e-6)


def test_completion_does_not_know_later_labels() -> None:
    known = torch.zeros((1, 3, 5), dtype=torch.bool)
    known[:, 0] = True
    batch = batch_of([[[0, 1, 0, 1, 0], [1, 0, 2, 0, 1], [1, 2, 3, 1, 2]]], known)
    network = certain((0, 1, 0, 1, 2), [0.25] * 4)
    covering_loss(network, batch, noise_for(batch, element=0.0), APART)
    first, second = network.asked[0], network.asked[3]
    assert first[0, 1:].tolist() == [[1, *MASK[1:]], list(MASK)]
    assert second[0, 2].tolist() == [1, *MASK[1:]]  # its own label, when its turn has come


class Table(torch.nn.Module):
    """Log-chances that do not depend on the question, to be learned."""

    def __init__(self) -> None:
        super().__init__()
        self.config = NetworkConfig(SIZES, edges=9, centres=CENTRES, width=8, heads=1)
        self.scores = torch.nn.ParameterList(
            torch.linspace(-1, 1, size, dtype=torch.float64) for size in SIZES
        )

    def forward(self, query: Query) -> Prediction:
        shape = query.tokens.shape[:2] if query.asked is None else query.asked.shape
        never = torch.full((1,), -50.0, dtype=torch.float64)
        found = [torch.log_softmax(torch.cat([part, never]), dim=0) for part in self.scores]
        return Prediction(tuple(part.expand(*shape, -1) for part in found))


def test_the_gradient_is_that_of_the_mean_over_what_is_drawn() -> None:
    """Against the mean over all widths, heights and x, written out."""
    rows = 40_000
    batch = batch_of([[[0, 0, 1, 0, 2], [0, 0, 3, 0, 0]]] * rows)
    noise = noise_for(batch, element=0.9)
    noise[:, 1] = torch.from_numpy(np.random.default_rng(0).random(batch.tokens.shape))
    table = Table()
    covering_loss(table, batch, noise, APART).backward()  # type: ignore[arg-type]
    exact = Table()
    _, log_x, log_y, log_w, log_h = (
        part[0, 0, :-1] for part in exact(Query(batch.tokens[:1], None)).log_probs
    )
    total = torch.zeros((), dtype=torch.float64)
    for x, w, h in product(range(3), range(2), range(3)):
        tokens = torch.tensor([[[0, 0, 1, 0, 2], [0, x, MASK[2], w, h]]])
        covered = covered_by_y(exact, tokens, torch.tensor([1]), APART)  # type: ignore[arg-type]
        cost = -torch.log1p(-ALMOST_ALL * (log_y.exp() * covered[0]).sum())
        total = total + (log_x[x] + log_w[w] + log_h[h]).exp() * cost
    total.backward()
    for m in (1, 2, 3, 4):
        found, wanted = table.scores[m].grad, exact.scores[m].grad
        assert found is not None and wanted is not None
        assert wanted.abs().max() > 0.002
        assert found.numpy() == pytest.approx(wanted.numpy(), abs=0.003)


def test_labels_that_keep_apart_are_found() -> None:
    """Texts in rows, each on a card; a picture is too rare to say anything."""
    rng = np.random.default_rng(0)
    layouts = []
    for page in range(30):
        rows = rng.permutation(4)[:3]
        boxes = [[0.5, 0.1 + 0.25 * row, 0.8, size] for row in rows for size in (0.2, 0.1)]
        labels = ["card", "text"] * 3
        if page == 0:
            labels, boxes = [*labels, "picture"], [*boxes, [0.5, 0.5, 0.1, 0.1]]
        layouts.append(Layout(tuple(labels), np.array(boxes), 100, 100))
    bins = fit_bins(np.concatenate([layout.boxes for layout in layouts]), "kmeans", 4)
    corpus = pack(layouts, Tokenizer(("text", "card", "picture"), bins, 25))
    assert labels_apart(corpus).tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]


def test_elements_of_one_label_keep_apart_though_a_few_are_doubled() -> None:
    """One pair in twenty is on top of each other: siblings keep apart, other labels may not."""
    layouts = []
    for page in range(60):
        doubled = page % 20 == 0
        boxes = [[0.5, 0.2, 0.8, 0.1], [0.5, 0.2 if doubled else 0.4, 0.8, 0.1]]
        boxes += [[0.5, 0.7, 0.8, 0.1], [0.5, 0.7 if doubled else 0.9, 0.8, 0.1]]
        layouts.append(Layout(("switch", "switch", "text", "icon"), np.array(boxes), 100, 100))
    bins = fit_bins(np.concatenate([layout.boxes for layout in layouts]), "kmeans", 4)
    corpus = pack(layouts, Tokenizer(("switch", "text", "icon"), bins, 25))
    assert labels_apart(corpus).tolist() == [[1, 1, 1], [1, 0, 0], [1, 0, 0]]
    assert keeping_apart(corpus).free == 0.1  # what doubled ones share is not allowed to all


def test_what_touches_is_measured_before_rounding() -> None:
    """Thin lines one below the other touch nothing, though bins push them onto each other."""
    lines = [[0.5, 0.1 + 0.014 * row, 0.8, 0.012] for row in range(10)]
    layouts = [Layout(("text",) * 10, np.array(lines), 100, 100) for _ in range(30)]
    corpus = pack(layouts, Tokenizer(("text",), fit_bins(np.array(lines), "uniform", 8), 25))
    found = keeping_apart(corpus)
    assert found.labels.tolist() == [[True]]
    assert found.free == 0.1
