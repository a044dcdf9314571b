"""Element orders: the data set's, a seeded random one, and the paper's top-left."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm import Layout
from layoutdm.data.orders import reorder, top_left


def grid_layout(cells, size=16):
    """Elements on a pixel grid: (label, left, top, right, bottom)."""
    corners = np.array([cell[1:] for cell in cells], dtype=float).reshape(-1, 4) / size
    boxes = np.concatenate(
        [(corners[:, :2] + corners[:, 2:]) / 2, corners[:, 2:] - corners[:, :2]], axis=1
    )
    return Layout.create([cell[0] for cell in cells], boxes)


spans = st.tuples(st.integers(0, 15), st.integers(1, 6)).map(lambda s: (s[0], min(sum(s), 16)))
cells = st.builds(
    lambda label, x, y: (label, x[0], y[0], x[1], y[1]), st.sampled_from("abc"), spans, spans
)


@settings(max_examples=60, deadline=None)
@given(st.lists(cells, max_size=12))
def test_top_left_sorts_by_top_left_label_and_place(elements):
    labels = ("c", "a", "b")
    wanted = sorted(elements, key=lambda e: (e[2], e[1], labels.index(e[0])))
    assert top_left(grid_layout(elements), labels).approx_equal(grid_layout(wanted), 1e-12)


@settings(max_examples=60, deadline=None)
@given(st.lists(cells, max_size=12))
def test_rounding_in_files_does_not_break_ties(elements):
    labels = ("c", "a", "b")
    exact = grid_layout(elements, size=17)
    rounded = Layout.create(exact.labels, exact.boxes.round(6))
    assert top_left(rounded, labels).approx_equal(top_left(exact, labels), 1e-6)


def test_labels_that_the_list_lacks_come_last_by_name():
    same = (0, 0, 4, 4)
    layout = grid_layout([("z", *same), ("y", *same), ("known", *same)])
    assert top_left(layout, ("known",)).labels == ("known", "y", "z")


def test_random_is_repeated_by_its_seed_and_differs_between_layouts():
    layouts = [grid_layout([("a", i, 0, i + 1, 1) for i in range(12)])] * 4
    first = list(reorder(layouts, "random", seed=3))
    assert first == list(reorder(layouts, "random", seed=3))
    assert first != list(reorder(layouts, "random", seed=4))
    assert len({layout.boxes.tobytes() for layout in first}) == 4
    assert all(set(map(tuple, other.boxes)) == set(map(tuple, layouts[0].boxes)) for other in first)


def test_dataset_order_changes_nothing():
    layouts = [grid_layout([("b", 3, 3, 4, 4), ("a", 0, 0, 1, 1)])]
    assert list(reorder(layouts, "dataset")) == layouts
