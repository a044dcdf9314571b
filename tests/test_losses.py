"""The loss against the algebra by hand, and against a distribution whose entropy is known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from layoutdm.diffusion import Schedule, jump
from layoutdm.train.config import TrainConfig, preset
from layoutdm.train.losses import (
    Batch,
    corrupt_tokens,
    focused,
    labels_ahead,
    masses,
    number_loss,
    terms,
)
from layoutdm.train.networks import NetworkConfig, Prediction, Query, build
from layoutdm.train.objective import Objective, in_sequence, masked_in_sequence
from layoutdm.train.times import Times, stratified

SIZES = (3, 2, 2, 2, 2)


class FixedNetwork:
    """Predicts the same distributions whatever it sees, except that it believes visible tokens."""

    def __init__(self, probabilities: list[Tensor]) -> None:
        self.config = NetworkConfig(SIZES, heads=1)
        self.probabilities = probabilities

    def __call__(self, query: Query) -> Prediction:
        parts = []
        for m, probabilities in enumerate(self.probabilities):
            tokens = query.tokens[..., m]
            states = len(probabilities)
            seen = torch.nn.functional.one_hot(tokens.clamp(max=states - 1), states).double()
            masked = (tokens == states)[..., None]
            parts.append(torch.where(masked, probabilities, seen).clamp(min=1e-300).log())
        return Prediction(tuple(parts))


def distributions(seed: int = 0) -> list[Tensor]:
    """One distribution per modality over its values; PAD never happens."""
    rng = np.random.default_rng(seed)
    return [torch.from_numpy(np.append(rng.dirichlet(np.ones(size)), 0.0)) for size in SIZES]


def random_batch(size: int, slots: int, seed: int = 0) -> Batch:
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.stack(
        [torch.randint(0, n, (size, slots), generator=generator) for n in SIZES], dim=-1
    )
    valid = torch.ones((size, slots), dtype=torch.bool)
    return Batch(tokens, valid, torch.zeros((size, slots, 5), dtype=torch.bool), None, None)


def tiny_network(**changes: object) -> torch.nn.Module:
    torch.manual_seed(0)
    settings: dict[str, object] = {"width": 16, "layers": 1, "heads": 2, "feedforward": 16}
    network = build(NetworkConfig(SIZES, max_elements=4, **{**settings, **changes}))  # type: ignore[arg-type]
    assert isinstance(network, torch.nn.Module)
    return network


@pytest.mark.parametrize("name", ["published", "mask-and-replace"])
def test_terms_equal_the_kl_of_posteriors_computed_by_hand(name: str) -> None:
    schedule, batch = Schedule.preset(name), random_batch(6, 2)
    network = tiny_network()
    level = torch.tensor([1, 2, 30, 60, 99, 100])
    noise = torch.from_numpy(np.random.default_rng(1).random((2, 6, 2, 5)))
    seen: list[Query] = []

    class Spy:
        config = network.config

        def __call__(self, query: Query) -> Prediction:
            seen.append(query)
            prediction: Prediction = network(query)
            return prediction

    found = terms(Spy(), schedule, batch, level, noise)  # type: ignore[arg-type]
    noisy = seen[0].tokens
    prediction = network(seen[0])
    for b, t in enumerate(level.tolist()):
        kl = cross = 0.0
        for slot in range(2):
            for m, size in enumerate(SIZES):
                p0 = prediction.log_probs[m][b, slot].detach().double().exp().numpy()
                truth = np.eye(size + 1)[int(batch.tokens[b, slot, m])]
                zt = noisy[b, slot, m].numpy()
                q = jump(truth, zt, schedule, t - 1, t)
                p = jump(p0, zt, schedule, t - 1, t)
                kl += float(sum(a * math.log(a / b) for a, b in zip(q, p, strict=True) if a > 0))
                cross -= math.log(float(p0[int(batch.tokens[b, slot, m])]))
        assert float(found.variational[b].detach()) == pytest.approx(kl, rel=1e-6, abs=1e-9)
        assert float(found.auxiliary[b].detach()) == pytest.approx(cross, rel=1e-6)
        if t == 1:
            assert kl == pytest.approx(cross, rel=1e-6)
    assert found.counted.tolist() == [10] * 6


def test_the_bound_of_a_perfect_network_is_the_entropy() -> None:
    true = distributions()
    rng, count = np.random.default_rng(2), 4000
    columns = [rng.choice(len(p), (count, 1), p=p.numpy()) for p in true]
    batch = random_batch(count, 1)
    batch = Batch(torch.from_numpy(np.stack(columns, -1)), batch.valid, batch.known, None, None)
    network, schedule = FixedNetwork(true), Schedule()
    level = torch.from_numpy(stratified(count, 100, rng))
    noise = torch.from_numpy(rng.random((2, count, 1, 5)))
    found = terms(network, schedule, batch, level, noise)  # type: ignore[arg-type]
    entropy = -sum(float((p[:-1] * p[:-1].log()).sum()) for p in true)
    assert float(100 * found.variational.mean()) == pytest.approx(entropy, rel=0.1)
    wrong = FixedNetwork(distributions(seed=9))
    worse = terms(wrong, schedule, batch, level, noise)  # type: ignore[arg-type]
    assert float(worse.variational.mean()) > float(found.variational.mean())


def test_known_tokens_and_filling_slots_take_no_part() -> None:
    network, schedule = tiny_network(), Schedule()
    batch = random_batch(2, 3)
    known = batch.known.clone()
    known[:, :, 0] = True
    valid = batch.valid.clone()
    valid[1, 2] = False
    level, noise = torch.tensor([50, 100]), torch.rand(2, 2, 3, 5, dtype=torch.float64)
    first = terms(network, schedule, Batch(batch.tokens, valid, known, None, None), level, noise)
    other = batch.tokens.clone()
    other[1, 2] = 0
    second = terms(network, schedule, Batch(other, valid, known, None, None), level, noise)
    assert first.counted.tolist() == [12, 8]
    assert torch.equal(first.variational, second.variational)


def test_a_layout_alone_and_in_a_longer_batch_has_the_same_loss() -> None:
    network, schedule = tiny_network(), Schedule()
    batch, level = random_batch(1, 2), torch.tensor([70])
    noise = torch.rand(2, 1, 4, 5, dtype=torch.float64)
    padding = torch.zeros((1, 2, 5), dtype=torch.long)
    longer = Batch(
        torch.cat([batch.tokens, padding], 1),
        torch.tensor([[True, True, False, False]]),
        torch.zeros((1, 4, 5), dtype=torch.bool), None, None,
    )  # fmt: skip
    alone = terms(network, schedule, batch, level, noise[:, :, :2])
    filled = terms(network, schedule, longer, level, noise)
    assert float(alone.variational.detach()) == pytest.approx(
        float(filled.variational.detach()), rel=1e-5
    )


def test_objective_adds_the_published_factors() -> None:
    batch, schedule = random_batch(4, 2), Schedule()
    level = torch.tensor([1, 20, 60, 100])
    weight = torch.tensor([1.0, 2.0, 0.5, 1.0], dtype=torch.float64)
    noise = torch.rand(2, 4, 2, 5, dtype=torch.float64)
    network = tiny_network()
    found = terms(network, schedule, batch, level, noise)

    def loss(**changes: object) -> float:
        config = preset("tiny", **changes)
        value, size = Objective(network, schedule, config)(batch, level, weight, noise, False)
        assert torch.allclose(size, found.variational / 10)
        return float(value)

    plain = ((found.variational + 0.1 * found.auxiliary) / 10 * weight).mean()
    factor = 0.1 * (2 - (level - 1) / 100)
    adaptive = ((found.variational + factor * found.auxiliary) / 10 * weight).mean()
    assert loss() == pytest.approx(float(plain))
    assert loss(auxiliary="adaptive") == pytest.approx(float(adaptive))
    assert loss(loss_scale="published") == pytest.approx(100 * float(plain))
    with_number, _ = Objective(network, schedule, TrainConfig())(batch, level, weight, noise, True)
    number = number_loss(network, batch, torch.zeros_like(batch.valid)).mean()
    assert float(with_number) == pytest.approx(float(plain + 0.02 * number))


def test_number_loss_sees_the_shown_elements_only() -> None:
    network, batch = tiny_network(), random_batch(2, 3)
    shown = torch.tensor([[False, True, False], [False, False, False]])
    before = number_loss(network, batch, shown)
    tokens = batch.tokens.clone()
    tokens[0, 0] = (tokens[0, 0] + 1) % 2  # hidden: must not matter
    hidden = number_loss(network, Batch(tokens, batch.valid, batch.known, None, None), shown)
    tokens[0, 1] = (tokens[0, 1] + 1) % 2  # shown: must matter
    seen = number_loss(network, Batch(tokens, batch.valid, batch.known, None, None), shown)
    assert torch.equal(before, hidden)
    assert float(seen[0]) != float(before[0])
    assert float(seen[1]) == float(before[1])


def test_stratified_levels_cover_every_stratum() -> None:
    levels = stratified(50, 100, np.random.default_rng(0))
    assert sorted((levels - 1) // 2) == list(range(50))
    assert stratified(3, 1, np.random.default_rng(0)).tolist() == [1, 1, 1]


@pytest.mark.parametrize("kind", ["uniform", "importance"])
def test_weights_make_any_level_sampling_unbiased(kind: str) -> None:
    times = Times(kind, 20)
    times.history = torch.linspace(0.0, 4.0, 20, dtype=torch.float64) ** 2
    times.seen = torch.full((20,), 11.0, dtype=torch.float64)
    level, weight = times.draw(200_000, np.random.default_rng(0))
    assert level.min() == 1
    assert level.max() == 20
    assert (weight * np.sqrt(level)).mean() == pytest.approx(
        np.sqrt(np.arange(1, 21)).mean(), rel=0.02
    )


def test_importance_follows_the_published_rule() -> None:
    times = Times("importance", 4)
    level = torch.tensor([1, 2, 3, 4] * 10)
    size = torch.tensor([8.0, 1.0, 2.0, 3.0] * 10)
    times.update(level, size)
    assert times.probabilities().tolist() == [0.25] * 4  # ten terms are not more than ten
    times.update(level, size)
    roots = np.sqrt((0.1 + 0.09) * np.array([1.0, 1.0, 4.0, 9.0]) + 1e-10) + 1e-4
    assert np.allclose(times.probabilities(), roots / roots.sum())


def test_importance_history_does_not_depend_on_the_number_of_processes() -> None:
    level = torch.tensor([1, 1, 2, 3, 3, 3])
    size = torch.tensor([1.0, 3.0, 2.0, 4.0, 5.0, 6.0])
    whole, halves = Times("importance", 4), [Times("importance", 4), Times("importance", 4)]
    whole.update(level, size)
    sums: list[Tensor] = []
    for part in (slice(0, 3), slice(3, 6)):
        Times("importance", 4).update(
            level[part], size[part], lambda x: (sums.append(x.clone()), x)[1]
        )
    for half, part in zip(halves, (slice(0, 3), slice(3, 6)), strict=True):
        half.update(level[part], size[part], lambda x: sums[0] + sums[1])
    for half in halves:
        assert torch.equal(half.history, whole.history)
        assert torch.equal(half.seen, whole.seen)
    assert whole.history.tolist() == pytest.approx([0.5, 0.4, 7.7 / 3, 0.0])


def test_masks_in_sequence_leave_whole_elements_first() -> None:
    batch = random_batch(6, 3)
    noise = torch.rand((2, *batch.tokens.shape), dtype=torch.float64)
    nobody, all_ = torch.zeros(6, dtype=torch.bool), torch.ones(6, dtype=torch.bool)
    assert torch.equal(in_sequence(batch, noise, nobody), noise)
    assert torch.equal(masked_in_sequence(batch, noise, 0.0), nobody)
    assert torch.equal(masked_in_sequence(batch, noise, 1.0), all_)
    ranks = in_sequence(batch, noise, all_)[0]
    free = batch.valid[..., None] & ~batch.known
    for row, open_ in zip(ranks, free, strict=True):
        turns = [(float(row[s, m]), s, m) for s, m in open_.nonzero().tolist()]
        turns.sort()
        assert [s for _, s, _ in turns] == sorted(s for _, s, _ in turns)
        assert all(0 < rank < 1 for rank, _, _ in turns)


def test_the_order_of_labels_is_learned_without_boxes() -> None:
    alone = torch.tensor([True, False] * 3)
    batch = replace(random_batch(6, 3), labels_only=alone)
    noise = torch.rand((2, *batch.tokens.shape), dtype=torch.float64)
    chosen = masked_in_sequence(batch, noise, 0.0)
    assert torch.equal(chosen, alone)
    sequence = in_sequence(batch, noise, chosen)
    assert torch.equal(sequence[:, 1::2], noise[:, 1::2])
    schedule = Schedule()
    at_t = masses(schedule, torch.full((6,), 49), torch.full((6,), 50))[1]
    noisy = corrupt_tokens(batch, SIZES, at_t, sequence)
    masked = noisy == torch.tensor(SIZES) + 1
    for row in range(0, 6, 2):
        count = int(batch.valid[row].sum())
        labels = masked[row, :count, 0].int()
        assert torch.equal(labels, labels.sort()[0])  # known from the first on
        assert abs(float(labels.float().mean()) - 0.5) <= 0.5 / count + 0.02
        assert bool(masked[row, :count, 1:].all())
    network = build(NetworkConfig(SIZES, width=16, heads=2, feedforward=16, max_elements=8))
    found = terms(network, schedule, batch, torch.full((6,), 50), sequence)
    assert found.counted[::2].tolist() == batch.valid[::2].sum(dim=1).tolist()
    assert found.counted[1::2].tolist() == (5 * batch.valid[1::2].sum(dim=1)).tolist()


@pytest.mark.parametrize("alone", [False, True])
def test_every_state_of_a_sequence_comes_equally_often(alone: bool) -> None:
    """Of the levels an n-th masks 1, 2, ... n tokens; with the schedule's own ranks some none."""
    batch = replace(random_batch(6, 3), labels_only=torch.full((6,), alone))
    noise = torch.rand((2, *batch.tokens.shape), dtype=torch.float64)
    all_ = torch.ones(6, dtype=torch.bool)
    schedule = Schedule(steps=1000)
    numbers: dict[bool, list[torch.Tensor]] = {False: [], True: []}
    for level in range(3, 1001, 5):
        at_t = masses(schedule, torch.full((6,), level - 1), torch.full((6,), level))[1]
        for every in numbers:
            sequence = in_sequence(batch, noise, all_, every_state=every)
            noisy = corrupt_tokens(batch, SIZES, at_t, sequence)
            masked = (noisy == torch.tensor(SIZES) + 1) & batch.valid[..., None] & ~batch.known
            numbers[every].append(masked[..., :1].sum((1, 2)) if alone else masked.sum((1, 2)))
    free = batch.valid[..., None] & ~batch.known
    counts = (free[..., 0] if alone else free.flatten(1)).flatten(1).sum(1).tolist()
    for row, n in enumerate(counts):
        found = torch.stack(numbers[True])[:, row].bincount(minlength=n + 1) / 200
        assert found[0] == 0
        assert found[1:].tolist() == pytest.approx([1 / n] * n, abs=0.02)
        plain = torch.stack(numbers[False])[:, row].bincount(minlength=n + 1) / 200
        assert plain[[0, n]].tolist() == pytest.approx([0.5 / n] * 2, abs=0.02)


def test_the_next_element_has_its_share_of_the_loss() -> None:
    counted = torch.ones((3, 3, 5), dtype=torch.bool)
    counted[0, 0] = False  # given
    masked = torch.zeros_like(counted)
    masked[:2, 1, 3:] = masked[:2, 2] = True
    weights = focused(counted, masked, torch.tensor([0.6, 0.0, 0.6], dtype=torch.float64))
    assert weights.sum(dim=(1, 2)).tolist() == pytest.approx([10, 15, 15])
    assert float(weights[0, 1, 3:].sum()) == pytest.approx(0.6 * 10 + 0.4 * 2)
    assert weights[0, 2].tolist() == pytest.approx([0.4] * 5)
    assert float(weights[0, 0].sum()) == 0
    assert torch.equal(weights[1], counted[1].double())  # no focus
    assert torch.equal(weights[2], counted[2].double())  # nothing is masked


def test_focus_changes_the_auxiliary_term_alone() -> None:
    batch = random_batch(6, 3)
    network = build(NetworkConfig(SIZES, width=16, heads=2, feedforward=16, max_elements=8)).eval()
    noise = torch.rand((2, *batch.tokens.shape), dtype=torch.float64)
    noise = in_sequence(batch, noise, torch.ones(6, dtype=torch.bool), every_state=True)
    level, schedule = torch.full((6,), 50), Schedule()
    plain = terms(network, schedule, batch, level, noise)
    none = terms(network, schedule, batch, level, noise, torch.zeros(6, dtype=torch.float64))
    some = terms(network, schedule, batch, level, noise, torch.ones(6, dtype=torch.float64))
    assert torch.equal(plain.variational, some.variational)
    assert none.auxiliary.tolist() == pytest.approx(plain.auxiliary.tolist())
    assert not torch.allclose(plain.auxiliary, some.auxiliary)


def test_what_is_ahead_are_the_masked_labels() -> None:
    batch = replace(random_batch(8, 4), bagged=torch.tensor([True, False] * 4))
    mask = torch.tensor(SIZES) + 1
    hidden = torch.rand(batch.tokens.shape[:2]) < 0.5
    noisy = torch.where(hidden[..., None], mask, batch.tokens)
    ahead = labels_ahead(batch, noisy, SIZES[0])
    for row in range(8):
        rest = batch.tokens[row, batch.valid[row] & hidden[row], 0].tolist()
        counts = [rest.count(label) for label in range(SIZES[0])]
        assert ahead[row].tolist() == (counts if row % 2 == 0 else [0] * SIZES[0])


@pytest.mark.parametrize(("blind", "seen"), [(False, True), (True, False)])
def test_the_number_sees_what_completion_gives(blind: bool, seen: bool) -> None:
    """Also of layouts that are masked in sequence; `number_blind` repeats the old mistake."""
    batch = random_batch(64, 4)
    known = torch.zeros_like(batch.known)
    known[:, :2] = True
    batch = replace(batch, known=known)
    network = tiny_network(number=True)
    shown: list[Tensor] = []
    forward = network.forward
    network.forward = lambda query: (shown.append(query.tokens), forward(query))[1]  # type: ignore[method-assign]
    config = preset("tiny", in_sequence=1.0, number_blind=blind)
    noise = torch.from_numpy(np.random.default_rng(0).random((2, 64, 4, 5)))
    level, weight = torch.full((64,), 50), torch.ones(64, dtype=torch.float64)
    Objective(network, Schedule(), config)(batch, level, weight, noise, True)
    whole = (shown[1] == batch.tokens[:, :2]).all(dim=(1, 2))
    assert bool(whole.any()) == seen
    assert seen or bool((shown[1] == torch.tensor(SIZES) + 1).all())


def test_hidden_fields_are_masked_for_the_number() -> None:
    network, batch = tiny_network(), random_batch(4, 3)
    shown = batch.valid
    every = torch.ones_like(batch.tokens, dtype=torch.bool)
    hidden = number_loss(network, batch, shown, every)
    blank = replace(batch, tokens=torch.tensor(SIZES).expand_as(batch.tokens) + 1)
    assert torch.allclose(hidden, number_loss(network, blank, shown))
    assert not torch.allclose(hidden, number_loss(network, batch, shown))
