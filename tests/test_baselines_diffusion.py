"""LayoutDM as published and VQDiffusion*: the loss against explicit matrices, and the sampler."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

import baseline_cases as cases
from layoutdm.baselines.common import Common
from layoutdm.baselines.learn.diffusion import (
    PaperLearner,
    compare,
    flat_scores,
    spaces_of,
    to_noisy,
)
from layoutdm.baselines.session import Session
from layoutdm.baselines.vocabulary import PLACE_FIRST, Vocabulary
from layoutdm.baselines.vqdiffusion import JointOptions, VQDiffusion
from layoutdm.diffusion.schedule import Mass, Schedule
from layoutdm.diffusion.streams import stream
from layoutdm.spec import Condition, Spec
from layoutdm.tokens import Tokenizer, uniform_bins

WORDS = Vocabulary((2, 3, 3, 3, 3), PLACE_FIRST, False, ("pad", "mask"))


def matrix(states: int, mass: Mass) -> np.ndarray:
    """Column j: probabilities of going from state j; MASK is last and stays."""
    q = np.zeros((states + 1, states + 1))
    q[:states, :states] = float(mass.replace) / states
    q[range(states), range(states)] += float(mass.keep)
    q[states, :states], q[states, states] = float(mass.mask), 1.0
    return q


def explicit_kl(
    p0: np.ndarray, z0: int, zt: int, schedule: Schedule, level: int, states: int
) -> float:
    """KL of the two posteriors, from the definition."""
    at_s = matrix(states, schedule.level(level - 1))
    at_t = matrix(states, schedule.level(level))
    step = matrix(states, schedule.between(level - 1, level))

    def posterior(weights: np.ndarray) -> np.ndarray:
        found = np.zeros(states + 1)
        for j, weight in enumerate(weights):
            if weight and at_t[zt, j]:
                found += weight * at_s[:, j] * step[zt] / at_t[zt, j]
        return found

    truth, model = posterior(np.eye(states)[z0]), posterior(p0)
    there = truth > 1e-12
    return float((truth[there] * np.log(truth[there] / model[there])).sum())


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("preset", ["published", "mask-and-replace"])
@pytest.mark.parametrize("level", [1, 2, 40, 100])
def test_the_loss_equals_explicit_matrices(joint: bool, preset: str, level: int) -> None:
    schedule, spaces = Schedule.preset(preset), spaces_of(WORDS, joint=joint)
    rng = np.random.default_rng(level)
    clean = torch.tensor([[1, 3, 6, 9, 12, *[WORDS.pad] * 5]])
    noise = torch.from_numpy(rng.random((1, 2, 10)))
    if level == 40:
        noise[0, 0, :4] = 0.999999  # so that some tokens are replaced
    mass = [
        schedule.level([level - 1]),
        schedule.level([level]),
        schedule.between([level - 1], [level]),
    ]
    one, two, three = (Mass(*(torch.from_numpy(p).double() for p in m)) for m in mass)
    noisy = to_noisy(clean, two, noise, spaces)
    log_p0 = torch.log_softmax(torch.from_numpy(rng.normal(size=(1, 10, WORDS.size - 1))), dim=-1)
    kl, cross = compare(log_p0, clean, noisy, (one, two, three), spaces)
    total = 0.0
    for place, words in spaces:
        ids = words.tolist()
        for at in range(10)[place]:
            z0 = ids.index(int(clean[0, at]))
            found = int(noisy[0, at])
            zt = ids.index(found) if found in ids else len(ids)
            p0 = log_p0[0, at, words].exp().numpy()
            total += explicit_kl(p0, z0, zt, schedule, level, len(ids))
    assert float(kl[0]) == pytest.approx(total / 10, rel=1e-6, abs=1e-9)
    picked = log_p0[0, torch.arange(10), clean[0]]
    assert float(cross[0]) == pytest.approx(-float(picked.mean()), rel=1e-9)


def test_replaced_tokens_keep_to_their_words_only_when_modalities_are_apart() -> None:
    clean = torch.tensor([[1, 3, 6, 9, 12]]).repeat(500, 1)
    mass = Mass(*(torch.full((500,), v, dtype=torch.float64) for v in (0.0, 0.2, 0.8)))
    noise = torch.from_numpy(np.random.default_rng(0).random((500, 2, 5)))
    own = torch.from_numpy(WORDS.own.copy())
    own[:, [WORDS.pad, WORDS.special("mask")]] = True
    at = torch.arange(5)
    apart = to_noisy(clean, mass, noise, spaces_of(WORDS, joint=False))
    assert own[at, apart].all()
    together = to_noisy(clean, mass, noise, spaces_of(WORDS, joint=True))
    assert not own[at, together].all()
    for noisy in (apart, together):
        share = float((noisy == WORDS.special("mask")).double().mean())
        assert share == pytest.approx(0.2, abs=0.03)


@pytest.mark.parametrize("name", ["layoutdm-paper", "vqdiffusion"])
def test_exported_files_equal_the_network(name: str) -> None:
    made = cases.strong(name)
    assert isinstance(made, PaperLearner)
    batch = made.make(made.train, np.arange(4), np.random.default_rng(0))
    level = torch.tensor([1, 30, 60, 100])
    with torch.no_grad():
        scores = flat_scores(made.module, batch["flat"], level)[..., :-1]
        wanted = torch.log_softmax(scores, dim=-1).numpy()
    session = Session(cases.exported(name) / "model.onnx", 1)
    tokens = batch["flat"].numpy()
    if name == "vqdiffusion":
        (got,) = session(tokens=tokens, level=level.numpy())
        np.testing.assert_allclose(got, wanted, atol=2e-4)
        return
    got = session(tokens=made.vocabulary.unflatten(tokens), level=level.numpy())
    for modality, part in enumerate(got):
        start, count = made.vocabulary.starts[modality], made.vocabulary.sizes[modality]
        own = np.append(np.arange(start, start + count), made.vocabulary.pad)
        np.testing.assert_allclose(part, wanted[:, modality::5][..., own], atol=2e-4)


TOKENIZER = Tokenizer(("a", "b"), uniform_bins(3), 3)
COMMON = Common(TOKENIZER, histogram=np.ones(3))
JOINT = Vocabulary(TOKENIZER.sizes, PLACE_FIRST, False, ("pad", "mask"))


def system(local: Any, schedule: Schedule | None = None) -> tuple[VQDiffusion, list[int]]:
    """One whose network is sure of these (3, 5) tokens, and the number of calls it had."""
    flat, calls = JOINT.flatten(np.array(local)), list[int]()

    def network(**inputs: Any) -> tuple[Any, ...]:
        calls.append(int(inputs["level"][0]))
        scores = np.full((*inputs["tokens"].shape, JOINT.size - 1), -60.0)
        scores[:, np.arange(len(flat)), flat] = 0.0
        return (scores,)

    return VQDiffusion(COMMON, network, JOINT, schedule or Schedule()), calls


def condition(spec: dict[str, Any] | None = None) -> Condition:
    return Condition.from_spec(Spec.parse(spec), TOKENIZER.labels, 3)


PAD = TOKENIZER.pad.tolist()
KNOWN = [[1, 0, 1, 2, 0], [0, 2, 2, 1, 1], PAD]


@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("preset", ["published", "mask-and-replace"])
def test_a_sure_network_is_followed(published: bool, preset: str) -> None:
    made, calls = system(KNOWN, Schedule.preset(preset))
    options = JointOptions(steps=10, published=published)
    drawn = made.draw([condition()], options, [stream(0, 0)])
    assert drawn.label[0][drawn.mask[0]].tolist() == [1, 0]
    bins = TOKENIZER.bins.encode(drawn.box[0][drawn.mask[0]])
    assert bins.tolist() == [KNOWN[0][1:], KNOWN[1][1:]]
    assert len(calls) <= 10


def test_foreign_words_lose_an_element_unless_slots_are_masked() -> None:
    made, _ = system(KNOWN)
    swapped = JOINT.flatten(np.array(KNOWN))
    swapped[8] = JOINT.starts[1]  # an x in the place of the second element's width

    def network(**inputs: Any) -> tuple[Any, ...]:
        scores = np.full((*inputs["tokens"].shape, JOINT.size - 1), -60.0)
        scores[:, np.arange(15), swapped] = 0.0
        scores[:, 8, JOINT.starts[3]] = -30.0  # its second choice is a width
        return (scores,)

    made = replace(made, network=network)
    drawn = made.draw([condition()], JointOptions(steps=5), [stream(0, 0)])
    assert drawn.counts.tolist() == [1]
    drawn = made.draw([condition()], JointOptions(steps=5, slot_mask=True), [stream(0, 0)])
    assert drawn.counts.tolist() == [2]
    listed = condition({"elements": [{"label": "a"}, {"label": "a"}]})
    drawn = made.draw([listed], JointOptions(steps=5), [stream(0, 0)])
    assert drawn.label[0][drawn.mask[0]].tolist() == [0, 0]


def test_a_draft_pulls_values_towards_it() -> None:
    made, _ = system(KNOWN)

    def even(**inputs: Any) -> tuple[Any, ...]:
        return (np.zeros((*inputs["tokens"].shape, JOINT.size - 1)),)

    made = replace(made, network=even)
    draft = {f: {"about": 0.67, "strength": 50.0} for f in ("x", "y", "width", "height")}
    asked = condition({"elements": [{"label": "b", **draft}]})
    drawn = made.draw([asked], JointOptions(steps=5), [stream(0, 0)])
    np.testing.assert_allclose(drawn.box[0, 0], 2 / 3, atol=1e-6)
