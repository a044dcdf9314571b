"""The tokenizer: layouts to tokens and back, and the paper's flat vocabulary."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm import Layout
from layoutdm.data import PUBLAYNET, RICO25
from layoutdm.errors import LayoutdmError
from layoutdm.tokens import Tokenizer, uniform_bins

TOKENIZER = Tokenizer(("a", "b", "c"), uniform_bins(8), 6)


@st.composite
def tokens(draw: st.DrawFn, specials: bool = True) -> np.ndarray:
    rows = draw(st.integers(1, 6))
    extra = 2 if specials else 0
    columns = [
        draw(st.lists(st.integers(0, size - 1 + extra), min_size=rows, max_size=rows))
        for size in TOKENIZER.sizes
    ]
    return np.array(columns).T


@pytest.mark.parametrize(("labels", "size"), [(RICO25, 155), (PUBLAYNET, 135)])
def test_flat_vocabulary_has_the_papers_size(labels: tuple[str, ...], size: int) -> None:
    tokenizer = Tokenizer(labels, uniform_bins(32))
    assert tokenizer.vocabulary == size
    assert tokenizer.to_flat(tokenizer.pad).tolist() == [size - 2] * 5
    assert tokenizer.to_flat(tokenizer.mask).tolist() == [size - 1] * 5
    first = tokenizer.to_flat(np.zeros(5, dtype=np.int64)).tolist()
    assert first == [0, len(labels), len(labels) + 32, len(labels) + 64, len(labels) + 96]


@settings(deadline=None)
@given(tokens())
def test_flat_ids_and_back(ids: np.ndarray) -> None:
    back, own = TOKENIZER.from_flat(TOKENIZER.to_flat(ids))
    assert own.all()
    assert np.array_equal(back, ids)


def test_flat_ids_of_a_foreign_modality_make_the_element_invalid() -> None:
    flat = TOKENIZER.to_flat(np.zeros((2, 5), dtype=np.int64))
    flat[1, 3] = flat[1, 1]  # an x token where a width belongs
    local, own = TOKENIZER.from_flat(flat)
    assert own.tolist() == [[True] * 5, [True, True, True, False, True]]
    decoded = TOKENIZER.decode(local)
    assert decoded.slots.tolist() == [0]
    assert decoded.invalid == 1


@settings(deadline=None)
@given(tokens())
def test_decoding_keeps_whole_elements_and_counts_broken_ones(ids: np.ndarray) -> None:
    decoded = TOKENIZER.decode(ids)
    values = [all(t < n for t, n in zip(row, TOKENIZER.sizes, strict=True)) for row in ids]
    empty = [bool((row == TOKENIZER.pad).all()) for row in ids]
    assert decoded.slots.tolist() == [i for i, whole in enumerate(values) if whole]
    assert decoded.invalid == sum(not v and not e for v, e in zip(values, empty, strict=True))
    assert np.array_equal(decoded.labels, ids[decoded.slots, 0])


@settings(deadline=None)
@given(tokens(specials=False))
def test_encode_after_decode_is_the_identity(ids: np.ndarray) -> None:
    decoded = TOKENIZER.decode(ids)
    boxes = decoded.boxes.copy()
    boxes[:, :2] = np.clip(boxes[:, :2], boxes[:, 2:] / 2, 1 - boxes[:, 2:] / 2)
    layout = Layout.create([TOKENIZER.labels[i] for i in decoded.labels], boxes)
    again = TOKENIZER.encode(layout)
    assert np.array_equal(again[:, [0, 3, 4]], ids[:, [0, 3, 4]])
    assert np.array_equal(again[:, 1:], TOKENIZER.bins.encode(boxes))


def test_free_slots_hold_pad() -> None:
    layout = Layout.create(["b"], [[0.5, 0.5, 0.25, 0.25]])
    encoded = TOKENIZER.encode(layout, slots=3)
    assert encoded[0].tolist() == [1, 4, 4, 1, 1]
    assert (encoded[1:] == TOKENIZER.pad).all()
    assert TOKENIZER.decode(encoded).invalid == 0


def test_what_cannot_be_encoded_is_refused() -> None:
    two = Layout.create(["a", "a"], [[0.5, 0.5, 0.1, 0.1]] * 2, id="x")
    with pytest.raises(LayoutdmError, match=r"2 elements, but only 1 slots"):
        TOKENIZER.encode(two, slots=1)
    with pytest.raises(LayoutdmError, match=r"unknown label 'z'; the labels are: a, b, c"):
        TOKENIZER.encode(Layout.create(["z"], [[0.5, 0.5, 0.1, 0.1]]))
    with pytest.raises(LayoutdmError, match="distinct"):
        Tokenizer(("a", "a"), uniform_bins(4))
