"""Batches: nothing is lost or invented, tasks show what they should, masks follow the sampler."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm.data.orders import top_left
from layoutdm.errors import LayoutdmError
from layoutdm.tokens import Tokenizer, uniform_bins
from layoutdm.train.batches import (
    COMPLETION,
    LABELS_SIZES,
    REFINEMENT,
    UNCONDITIONAL,
    Batch,
    from_tensors,
    make_batch,
    take_rows,
    tensors,
)
from layoutdm.train.batches import LABELS as LABELS_TASK
from layoutdm.train.corpus import pack
from layoutdm.train.draws import Draws, batches_per_epoch, epoch_batches
from layoutdm.train.objective import shown_part
from layoutdm.train.recipe import Recipe, Settings, names, preset, with_text
from layoutdm.train.turns import Turns, draw_turns
from training_samples import LABELS, make_layouts

TOKENIZER = Tokenizer(LABELS, uniform_bins(32), 8)
LAYOUTS = make_layouts(40)
CORPUS = pack(LAYOUTS, TOKENIZER)
INDICES = np.arange(12)
RECIPE = Recipe()


def batch_for(task: int | None = None, ordered: bool | None = None, seed: int = 0) -> Batch:
    rng = np.random.default_rng(seed)
    return make_batch(CORPUS, INDICES, RECIPE, rng, task=task, ordered=ordered)


def in_reading_order(index: int) -> list[list[int]]:
    found: list[list[int]] = TOKENIZER.encode(top_left(LAYOUTS[index], LABELS)).tolist()
    return found


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
    assert batch.position is not None
    for row, index in enumerate(INDICES):
        expected = in_reading_order(index)
        found = batch.tokens[row][batch.valid[row]].tolist()
        assert (found if ordered else sorted(found)) == (expected if ordered else sorted(expected))
        positions = batch.position[row].tolist()
        ranks = [*range(1, len(expected) + 1)] if ordered else [0] * len(expected)
        assert positions == ranks + [0] * (len(positions) - len(expected))
    assert not batch.known.any()


def test_unordered_layouts_are_shuffled_anew_by_every_generator() -> None:
    one, same, other = (batch_for(seed=seed) for seed in (0, 0, 1))
    assert torch.equal(one.tokens, same.tokens)
    assert torch.equal(one.known, same.known)
    assert not torch.equal(one.tokens, other.tokens)


def test_tasks_show_what_they_should() -> None:
    labels, sizes = batch_for(LABELS_TASK), batch_for(LABELS_SIZES)
    assert torch.equal(labels.known.sum((0, 1)) > 0, torch.tensor([1, 0, 0, 0, 0]).bool())
    assert torch.equal(sizes.known.sum((0, 1)) > 0, torch.tensor([1, 0, 0, 1, 1]).bool())
    for batch in (labels, sizes):
        assert torch.equal(batch.known[..., 0], batch.valid)


def test_completion_shows_some_elements_mostly_whole() -> None:
    many = np.resize(np.arange(40), 2000)
    batch = make_batch(CORPUS, many, RECIPE, np.random.default_rng(0), task=COMPLETION)
    given_ = batch.known[..., 0]
    most = torch.clamp((0.3 * (batch.valid.sum(1) - 1)).long(), min=1)
    assert bool(((given_.sum(1) >= 1) & (given_.sum(1) <= most)).all())
    assert torch.equal(given_, batch.known.any(-1))
    first = batch.known[:, 0]
    whole, with_size = first.all(1).double().mean(), first[:, 3].double().mean()
    assert float(whole) == pytest.approx(0.75, abs=0.04)
    assert float(with_size) == pytest.approx(0.875, abs=0.04)


def test_refinement_shows_labels_and_a_draft_near_the_truth() -> None:
    recipe = replace(RECIPE, about_noise=(0.1,))
    batch = make_batch(CORPUS, INDICES, recipe, np.random.default_rng(0), task=REFINEMENT)
    assert batch.about is not None
    assert torch.equal(batch.known[..., 0], batch.valid)
    assert not batch.known[..., 1:].any()
    drafts = batch.about[batch.valid] - 1
    near = (TOKENIZER.bins.decode(drafts.numpy())
            - TOKENIZER.bins.decode(batch.tokens[batch.valid][:, 1:].numpy()))  # fmt: skip
    assert np.abs(near).mean() == pytest.approx(0.1 * np.sqrt(2 / np.pi), rel=0.35)
    assert not batch.about[~batch.valid].any()
    others = batch_for(UNCONDITIONAL).about
    assert others is not None
    assert not others.any()


def test_known_sizes_come_with_the_largest_first() -> None:
    batch = batch_for(LABELS_SIZES)
    assert batch.position is not None
    for row, index in enumerate(INDICES):
        layout = top_left(LAYOUTS[index], LABELS)
        boxes = np.asarray(layout.boxes)
        order = np.argsort(-boxes[:, 2] * boxes[:, 3], kind="stable")
        expected = TOKENIZER.encode(layout)[order].tolist()
        assert batch.tokens[row][batch.valid[row]].tolist() == expected
    assert not batch.position.any()


def test_completion_in_order_ranks_what_is_missing() -> None:
    batch = batch_for(COMPLETION, True)
    assert batch.position is not None
    shown = batch.known.any(-1)
    anywhere = 0
    for row, index in enumerate(INDICES):
        expected = in_reading_order(index)
        first = batch.tokens[row][shown[row]].tolist()
        rest = batch.tokens[row][batch.valid[row] & ~shown[row]].tolist()
        left = list(expected)
        for element in first:
            left.remove(element)
        assert rest == left  # still from the top
        ranks = [0] * len(first) + [*range(1, len(rest) + 1)]
        assert batch.position[row][batch.valid[row]].tolist() == ranks
        anywhere += first != expected[: len(first)]
    assert anywhere > 3  # any elements are given, not the topmost ones


def test_tasks_come_as_often_as_the_recipe_says() -> None:
    many = np.resize(np.arange(40), 2000)
    recipe = replace(RECIPE, tasks=(0.3, 0.2, 0.1, 0.2, 0.2), ordered=0.5)
    batch = make_batch(CORPUS, many, recipe, np.random.default_rng(0))
    assert batch.position is not None
    assert batch.about is not None
    # Completion of one element that is given whole has nothing left to be ranked.
    assert float(batch.position.any(1).double().mean()) == pytest.approx(0.35, abs=0.05)
    assert float(batch.about.flatten(1).any(1).double().mean()) == pytest.approx(0.2, abs=0.03)


def test_the_published_recipe_gets_all_slots_with_pad_at_the_tail() -> None:
    batch = make_batch(CORPUS, INDICES, preset("paper").recipe, np.random.default_rng(0))
    assert batch.tokens.shape == (12, 8, 5)
    assert bool(batch.valid.all())
    padded = (batch.tokens == torch.from_numpy(TOKENIZER.pad)).all(-1)
    assert padded.sum(1).tolist() == (8 - CORPUS.counts[INDICES]).tolist()
    assert bool((padded.int().diff(dim=1) >= 0).all())
    assert batch.about is None
    assert batch.position is None


def test_rows_of_a_batch_and_its_tensors() -> None:
    batch = batch_for()
    parts = [take_rows(batch, slice(0, 6)), take_rows(batch, slice(6, 12))]
    again = from_tensors(tensors(batch))
    for field in fields(batch):
        whole = getattr(batch, field.name)
        assert torch.equal(torch.cat([getattr(part, field.name) for part in parts]), whole)
        assert getattr(again, field.name) is whole


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


def turns_for(mixed: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray, Turns]:
    """Labels are known, of the first layouts a whole element too; the last slot only fills up."""
    known, valid = np.zeros((200, 5, 5), dtype=bool), np.ones((200, 5), dtype=bool)
    known[..., 0] = valid[:, :4] = True
    valid[:, 4] = False
    known[:50, 2] = True
    known &= valid[..., None]
    return known, valid, draw_turns(known, valid, mixed, 0.5, np.random.default_rng(seed))


def test_what_the_task_gives_is_listed_and_whole_elements_come_first() -> None:
    known, valid, turns = turns_for(0.0)
    assert (turns.listed == known).all()
    assert (turns.turn[:50].argmin(axis=1) == 2).all()
    assert (turns.turn[50:] == np.arange(5)).all()
    assert not (turns.begun & ~valid[..., None]).any()


def test_elements_at_their_turn_are_known_up_to_one_of_their_values() -> None:
    _, _valid, turns = turns_for(0.0)
    begun = turns.begun[50:, :4]
    label, x, y, width, height = (begun[..., m] for m in range(5))
    assert label.all()
    for first, then in ((width, height), (height, x), (x, y)):
        assert not (then & ~first).any()
    assert not y.any()  # something is left to guess
    for part in (width, height, x):
        assert 0.15 < part.mean() < 0.85


def test_any_fields_are_listed_of_mixed_layouts_besides() -> None:
    known, valid, turns = turns_for(0.3)
    assert (turns.listed | ~known).all()
    assert not (turns.listed & ~valid[..., None]).any()
    more = (turns.listed & ~known).any(axis=(1, 2))
    assert 0.15 < more.mean() < 0.4


@pytest.mark.parametrize("mixed", [0.0, 1.0])
def test_weights_are_of_unknown_tokens_and_add_up(mixed: float) -> None:
    _, valid, turns = turns_for(mixed)
    counted = turns.weight > 0
    assert not counted[turns.begun].any()
    assert not counted[~valid].any()
    left = (~turns.listed & valid[..., None]).any(axis=(1, 2))
    assert turns.weight.sum(axis=(1, 2))[left] == pytest.approx(1.0)
    if not mixed:  # width is next: width and height count alike, x and y half
        at = np.nonzero(~turns.begun[:, :4, 3] & valid[:, :4])
        found = turns.weight[at]
        assert found[:, 4] == pytest.approx(found[:, 3])
        assert found[:, 1:3] == pytest.approx(found[:, [3, 3]] / 2)


def test_the_number_is_guessed_from_what_completion_shows() -> None:
    uniform = torch.zeros((12, 2, CORPUS.counts[:12].max(), 5))
    for task in (UNCONDITIONAL, LABELS_TASK, LABELS_SIZES, REFINEMENT):
        assert not shown_part(batch_for(task), uniform)[0].any()
    batch = batch_for(COMPLETION)
    shown, hidden = shown_part(batch, uniform)
    assert torch.equal(shown, batch.known[..., 0])
    assert torch.equal(hidden, ~batch.known)  # what is not known is not shown either


def test_settings_from_text_and_back() -> None:
    texts = ["budget.minutes=2.5", "optimiser.betas=0.9,0.95", "optimiser.kind=muon"]
    found = with_text(Settings(), texts)
    assert (found.budget.minutes, found.optimiser.betas) == (2.5, (0.9, 0.95))
    assert with_text(found, ["budget.minutes=none"]).budget.minutes is None
    assert Settings.from_dict(found.to_dict()) == found
    assert 25 <= len(names()) <= 45


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["network.width"], "NAME=VALUE"),
        (["colour=red"], "NAME=VALUE"),
        (["network.width=wide"], "type int"),
        (["budget.precision=fp16"], "one of auto, fp32, bf16"),
        (["budget.steps=0"], "budget.steps must be above 0"),
        (["recipe.tasks=1,2"], "shares of unconditional"),
        (["network.kind=paper"], "true for the paper's network"),
        (["recipe.about_noise="], "standard deviations of drafts"),
        (["recipe.schedule=other"], "unknown schedule"),
        (["data.bins=none"], "one of measured"),
        (["budget.checkpoint_minutes=20"], "from 0 to 10"),
    ],
)
def test_bad_settings_are_refused(texts: list[str], words: str) -> None:
    with pytest.raises(LayoutdmError, match=words):
        with_text(Settings(), texts)
