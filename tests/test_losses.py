"""The loss against the algebra by hand, and against a distribution whose entropy is known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from layoutdm.diffusion import Schedule, jump
from layoutdm.train.batches import Batch
from layoutdm.train.losses import terms
from layoutdm.train.networks import NetworkConfig, Prediction, Query, build
from layoutdm.train.objective import masked_loss, number_loss
from layoutdm.train.published import published_loss, to_noise
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


def test_the_published_loss_has_the_published_factors() -> None:
    batch, schedule = random_batch(4, 2), Schedule()
    level = torch.tensor([1, 20, 60, 100])
    weight = torch.tensor([1.0, 2.0, 0.5, 1.0], dtype=torch.float64)
    noise = torch.rand(2, 4, 2, 5, dtype=torch.float64)
    network = tiny_network()
    found = terms(network, schedule, batch, level, noise)
    loss, size = published_loss(network, schedule, batch, level, weight, noise)
    factor = 0.1 * (2 - (level - 1) / 100)
    wanted = ((found.variational + factor * found.auxiliary) / 10 * weight).mean()
    assert loss.item() == pytest.approx(wanted.item())
    assert torch.allclose(size, found.variational / 10)
    assert torch.equal(to_noise(noise.movedim(0, 1)), noise)


def test_the_masked_loss_is_that_of_the_weighted_tokens_alone() -> None:
    network, batch = tiny_network(), random_batch(3, 4)
    masked = torch.rand(batch.tokens.shape, generator=torch.Generator().manual_seed(0)) < 0.5
    asked = torch.tensor([[2, 0], [1, 3], [0, 1]])
    weight = torch.rand(3, 2, 5)
    found = masked_loss(network, batch, masked, asked, weight)
    hidden = torch.where(masked, torch.tensor(SIZES) + 1, batch.tokens)
    whole = network(Query(hidden)).log_probs
    for row in range(3):
        total = sum(
            float(weight[row, i, m] * -whole[m][row, slot, batch.tokens[row, slot, m]])
            for i, slot in enumerate(asked[row].tolist())
            for m in range(5)
        )
        assert float(found[row]) == pytest.approx(total, rel=1e-5)
    other = batch.tokens.clone()
    other[0][masked[0]] = 0  # what is masked and has no weight must not matter
    nothing = masked_loss(network, replace(batch, tokens=other), masked, asked, 0 * weight)
    assert not nothing.any()


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
