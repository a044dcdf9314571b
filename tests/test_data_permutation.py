"""The permutations must be torch's own, bit for bit: the published splits hang on them."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm import LayoutdmError
from layoutdm.data.permutation import LARGEST, permutation
from layoutdm.data.splits import cut


def torchs(count: int, seed: int) -> np.ndarray:
    return torch.randperm(count, generator=torch.Generator().manual_seed(seed)).numpy()


# 624 is the twister's period of refilling; 42,178 and 332,376 are the paper's data sets.
@pytest.mark.parametrize("count", [0, 1, 2, 3, 623, 624, 625, 626, 1248, 32768, 42178, 332376])
def test_equals_torch_for_the_sizes_that_matter(count):
    assert np.array_equal(permutation(count, 0), torchs(count, 0))


@settings(max_examples=150, deadline=None)
@given(count=st.integers(0, 3000), seed=st.integers(0, 2**63 - 1))
def test_equals_torch_for_any_seed(count, seed):
    assert np.array_equal(permutation(count, seed), torchs(count, seed))


def test_too_many_items_is_refused_in_one_sentence():
    with pytest.raises(LayoutdmError, match="cannot shuffle"):
        permutation(LARGEST)


def test_cuts_have_the_papers_sizes():
    rico = cut(range(42178), (0.85, 0.90), seed=0)
    assert [len(part) for part in rico] == [35851, 2109, 4218]
    pages = cut(range(332376), (0.95,), seed=0)
    assert [len(part) for part in pages] == [315757, 16619]


@settings(max_examples=50, deadline=None)
@given(count=st.integers(0, 500), seed=st.integers(0, 1000))
def test_a_cut_keeps_every_item_once_and_in_torchs_order(count, seed):
    parts = cut([f"item {i}" for i in range(count)], (0.85, 0.90), seed)
    assert [item for part in parts for item in part] == [f"item {i}" for i in torchs(count, seed)]
