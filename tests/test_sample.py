"""The sample set: the shipped file is what the generator makes, and it looks like layouts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm import LayoutdmError
from layoutdm.data import PUBLAYNET, RICO25, sample


def test_the_shipped_file_is_what_the_generator_makes() -> None:
    assert sample.load() == sample.shipped()
    assert len(sample.load()) == 200
    assert sample.PATH.stat().st_size < 60_000


def test_all_layouts_differ_and_use_the_label_names_of_the_data_sets() -> None:
    layouts = sample.shipped()
    assert len({layout.boxes.tobytes() for layout in layouts}) == 200
    assert len({layout.id for layout in layouts}) == 200
    used = {
        style: {label for item in layouts if item.id.startswith(style) for label in item.labels}
        for style in sample.SHIPPED
    }
    assert used == {"screen": set(RICO25), "page": set(PUBLAYNET)}


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(["screen", "page"]), st.integers(0, 10**6))
def test_any_seed_gives_layouts_within_the_paper_s_filters(style: str, seed: int) -> None:
    for layout in sample.generate(style, 4, seed):
        assert 1 <= len(layout) <= 25
        assert layout.height >= layout.width
        corners = layout.corners()
        assert corners.min() >= -1e-6 and corners.max() <= 1 + 1e-6


def test_a_layout_depends_on_its_seed_and_number_only() -> None:
    assert sample.generate("page", 30)[:10] == sample.generate("page", 10)
    assert sample.generate("page", 10, seed=1) != sample.generate("page", 10, seed=2)


def test_page_columns_of_text_do_not_overlap() -> None:
    for layout in sample.generate("page", 50):
        corners = layout.corners()
        for i in range(len(layout)):
            for j in range(i):
                wide = min(corners[i, 2], corners[j, 2]) - max(corners[i, 0], corners[j, 0])
                high = min(corners[i, 3], corners[j, 3]) - max(corners[i, 1], corners[j, 1])
                assert wide <= 1e-6 or high <= 1e-6, (layout.id, i, j)


def test_an_unknown_style_or_a_negative_count_is_refused() -> None:
    with pytest.raises(LayoutdmError, match="one of screen, page, got 'poster'"):
        sample.generate("poster", 1)
    with pytest.raises(LayoutdmError, match="must not be negative, got -1"):
        sample.generate("page", -1)
