"""Batches: nothing is lost or invented, tasks show what they should, draws repeat."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm.errors import LayoutdmError
from layoutdm.tokens import Tokenizer, uniform_bins
from layoutdm.train.config import TrainConfig, preset, with_text
from layoutdm.train.corpus import (
    COMPLETION,
    LABELS_SIZES,
    REFINEMENT,
    UNCONDITIONAL,
    batches_per_epoch,
    epoch_batches,
    make_batch,
    pack,
    take_rows,
)
from layoutdm.train.corpus import LABELS as LABELS_TASK
from layoutdm.train.draws import Draws
from training_samples import LABELS, make_layouts

TOKENIZER = Tokenizer(LABELS, uniform_bins(32), 8)
LAYOUTS = make_layouts(40)
CORPUS = pack(LAYOUTS, TOKENIZER)
INDICES = np.arange(12)


def batch_for(task: int | None = None, ordered: bool | None = None, **changes: object):  # type: ignore[no-untyped-def]
    config = preset("tiny", max_elements=8, **changes)
    return make_batch(CORPUS, INDICES, config, np.random.default_rng(0), task=task, ordered=ordered)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 70), st.integers(1, 32), st.integers(0, 5))
def test_an_epoch_shows_every_layout_at_most_once_in_full_batches(
    layouts: int, size: int, seed: int
) -> None:
    counts = np.random.default_rng(seed).integers(1, 9, layouts)
    batches = list(epoch_batches(counts, size, np.random.default_rng(seed)))
    shown = np.concatenate(batches)
    assert len(batches) == batches_per_epoch(layouts, size)
    assert {len(batch) for batch in batches} == {min(size, layouts)}
    assert len(set(shown.tolist())) == len(shown) > layouts - size


def test_batches_hold_layouts_of_similar_length() -> None:
    counts = np.random.default_rng(0).integers(1, 26, 1024)
    batches = list(epoch_batches(counts, 32, np.random.default_rng(1)))
    used = sum(int(counts[batch].sum()) for batch in batches)
    room = sum(32 * int(counts[batch].max()) for batch in batches)
    assert used / room > 0.85


@pytest.mark.parametrize("ordered", [False, True])
def test_tokens_are_those_of_the_layouts(ordered: bool) -> None:
    batch = batch_for(UNCONDITIONAL, ordered)
    for row, index in enumerate(INDICES):
        expected = TOKENIZER.encode(LAYOUTS[index].sorted_top_left()).tolist()
        found = batch.tokens[row][batch.valid[row]].tolist()
        assert (found if ordered else sorted(found)) == (expected if ordered else sorted(expected))
        positions = batch.position[row].tolist()
        ranks = [*range(1, len(expected) + 1)] if ordered else [0] * len(expected)
        assert positions == ranks + [0] * (len(positions) - len(expected))
    assert not batch.known.any()


def test_unordered_layouts_are_shuffled_anew_by_every_generator() -> None:
    config = preset("tiny", max_elements=8)
    one, same, other = (
        make_batch(CORPUS, INDICES, config, np.random.default_rng(seed)) for seed in (0, 0, 1)
    )
    assert torch.equal(one.tokens, same.tokens)
    assert torch.equal(one.known, same.known)
    assert not torch.equal(one.tokens, other.tokens)


def test_tasks_show_what_they_should() -> None:
    labels, sizes = batch_for(LABELS_TASK), batch_for(LABELS_SIZES)
    assert torch.equal(labels.known.sum((0, 1)) > 0, torch.tensor([1, 0, 0, 0, 0]).bool())
    assert torch.equal(sizes.known.sum((0, 1)) > 0, torch.tensor([1, 0, 0, 1, 1]).bool())
    for batch in (labels, sizes):
        assert torch.equal(batch.known[..., 0], batch.valid)
    completion = batch_for(COMPLETION)
    whole = completion.known.all(-1)
    assert torch.equal(whole, completion.known.any(-1))
    counts = completion.valid.sum(1)
    most = torch.clamp((0.3 * (counts - 1)).long(), min=1)
    assert bool(((whole.sum(1) >= 1) & (whole.sum(1) <= most)).all())


def test_refinement_shows_labels_and_a_draft_near_the_truth() -> None:
    batch = batch_for(REFINEMENT, about_usual=1.0)
    assert torch.equal(batch.known[..., 0], batch.valid)
    assert not batch.known[..., 1:].any()
    drafts = batch.about[batch.valid] - 1
    assert torch.unique(drafts // 32).tolist() == [2]  # the paper's noise, 0.1
    near = (TOKENIZER.bins.decode((drafts % 32).numpy())
            - TOKENIZER.bins.decode(batch.tokens[batch.valid][:, 1:].numpy()))  # fmt: skip
    assert np.abs(near).mean() == pytest.approx(0.1 * np.sqrt(2 / np.pi), rel=0.35)
    assert not batch.about[~batch.valid].any()
    assert not batch_for(UNCONDITIONAL).about.any()


def test_the_mix_of_tasks_is_as_configured() -> None:
    config = preset("tiny", max_elements=8, tasks=(0.0, 0.5, 0.0, 0.5, 0.0), ordered=1.0)
    many = np.resize(np.arange(40), 2000)
    batch = make_batch(CORPUS, many, config, np.random.default_rng(0))
    labels_only = batch.known[..., 0].any(1) & ~batch.known[..., 1].any(1)
    assert float(labels_only.double().mean()) == pytest.approx(0.5, abs=0.05)
    assert not batch.position.any()  # only unconditional layouts come in order


@pytest.mark.parametrize("task", [UNCONDITIONAL, LABELS_TASK])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_labels_come_in_order_alone_or_as_the_task_gives_them(task: int, share: float) -> None:
    batch = batch_for(task, True, ordered_tasks=True, label_order=share)
    assert batch.labels_only.tolist() == [bool(share)] * len(INDICES)
    assert batch.bagged.tolist() == [bool(share) and task == LABELS_TASK] * len(INDICES)
    given = task == LABELS_TASK and not share
    assert torch.equal(batch.known[..., 0], batch.valid & given)
    assert not batch.known[..., 1:].any()
    for row, index in enumerate(INDICES):
        expected = TOKENIZER.encode(LAYOUTS[index].sorted_top_left()).tolist()
        assert batch.tokens[row][batch.valid[row]].tolist() == expected
        assert batch.position[row][batch.valid[row]].tolist() == [*range(1, len(expected) + 1)]
    assert not batch_for(task, False, ordered_tasks=True, label_order=share).labels_only.any()
    assert batch_for(task).bagged is None
    assert batch_for(task).labels_only is None


def test_known_sizes_come_with_the_largest_first() -> None:
    batch = batch_for(LABELS_SIZES, ordered_tasks=True)
    for row, index in enumerate(INDICES):
        layout = LAYOUTS[index].sorted_top_left()
        boxes = np.asarray(layout.boxes)
        order = np.argsort(-boxes[:, 2] * boxes[:, 3], kind="stable")
        expected = TOKENIZER.encode(layout)[order].tolist()
        assert batch.tokens[row][batch.valid[row]].tolist() == expected
    assert not batch.position.any()


def test_completion_in_order_ranks_what_is_missing() -> None:
    batch = batch_for(COMPLETION, True, ordered_tasks=True)
    given = batch.known.all(-1)
    assert not batch.bagged.any()
    anywhere = 0
    for row, index in enumerate(INDICES):
        expected = TOKENIZER.encode(LAYOUTS[index].sorted_top_left()).tolist()
        shown = batch.tokens[row][given[row]].tolist()
        rest = batch.tokens[row][batch.valid[row] & ~given[row]].tolist()
        assert sorted(shown + rest) == sorted(expected)
        left = list(expected)
        for element in shown:
            left.remove(element)
        assert rest == left  # still from the top
        ranks = [0] * len(shown) + [*range(1, len(rest) + 1)]
        assert batch.position[row][batch.valid[row]].tolist() == ranks
        anywhere += shown != expected[: len(shown)]
    assert anywhere > 3  # any elements are given, not the topmost ones


def test_tasks_come_in_order_as_often_as_configured() -> None:
    many = np.resize(np.arange(40), 2000)
    shares = (0.3, 0.2, 0.1, 0.2, 0.2)
    config = preset("tiny", max_elements=8, tasks=shares, ordered=0.5, ordered_tasks=True)
    batch = make_batch(CORPUS, many, config, np.random.default_rng(0))
    in_order = batch.position.any(1).double().mean()
    # Completion of one element that is given whole has nothing left to be ranked.
    assert float(in_order) == pytest.approx(0.35, abs=0.05)
    assert float(batch.labels_only.double().mean()) == pytest.approx(0.25 * 0.4, abs=0.03)
    assert float(batch.bagged.double().mean()) == pytest.approx(0.1 * 0.4, abs=0.02)


def test_the_paper_network_gets_all_slots_with_pad_at_the_tail() -> None:
    config = preset("paper", max_elements=8)
    batch = make_batch(CORPUS, INDICES, config, np.random.default_rng(0))
    assert batch.tokens.shape == (12, 8, 5)
    assert bool(batch.valid.all())
    padded = (batch.tokens == torch.from_numpy(TOKENIZER.pad)).all(-1)
    assert padded.sum(1).tolist() == (8 - CORPUS.counts[INDICES]).tolist()
    assert bool((padded.int().diff(dim=1) >= 0).all())
    assert batch.about is None
    assert batch.position is None


def test_rows_of_a_batch() -> None:
    batch = batch_for(ordered_tasks=True)
    parts = [take_rows(batch, slice(0, 6)), take_rows(batch, slice(6, 12))]
    for name in ("tokens", "valid", "known", "about", "position", "labels_only", "bagged"):
        whole = getattr(batch, name)
        assert torch.equal(torch.cat([getattr(part, name) for part in parts]), whole)


def test_draws_depend_on_the_step_alone() -> None:
    one, two = (Draws(3, CORPUS.counts, 16) for _ in range(2))
    forward = [one.layouts(step).tolist() for step in range(6)]
    backward = [two.layouts(step).tolist() for step in reversed(range(6))]
    assert forward == backward[::-1]
    assert forward[:2] != forward[2:4]
    assert forward != [Draws(4, CORPUS.counts, 16).layouts(s).tolist() for s in range(6)]


def test_layouts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(LayoutdmError, match="room for 2"):
        pack(LAYOUTS, Tokenizer(LABELS, uniform_bins(4), 2))
    with pytest.raises(LayoutdmError, match="at least one"):
        pack([], TOKENIZER)


def test_settings_from_text_and_back() -> None:
    config = with_text(TrainConfig(), ["minutes=2.5", "betas=0.9,0.95", "optimizer=muon"])
    assert (config.minutes, config.betas, config.optimizer) == (2.5, (0.9, 0.95), "muon")
    assert with_text(config, ["minutes=none"]).minutes is None
    assert TrainConfig.from_dict(config.to_dict()) == config


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["width"], "NAME=VALUE"),
        (["colour=red"], "NAME=VALUE"),
        (["width=wide"], "type int"),
        (["times=never"], "choose one of: uniform, stratified, importance"),
        (["steps=0"], "greater than 0"),
        (["tasks=1,2"], "5 probabilities"),
        (["kind=paper"], "without tasks"),
        (["schedule_numbers=1,0"], "must be four"),
        (["about_noise="], "refinement needs about_noise"),
    ],
)
def test_bad_settings_are_refused(texts: list[str], words: str) -> None:
    with pytest.raises(LayoutdmError, match=words):
        with_text(TrainConfig(), texts)
