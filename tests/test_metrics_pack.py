"""Packing layouts into arrays, and what is refused."""

import numpy as np
import pytest

from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout
from layoutdm.metrics import Packed, alignment, as_packed, max_iou, pack

PAGE = Layout.create(["title", "text"], [[0.5, 0.1, 0.8, 0.1], [0.5, 0.6, 0.8, 0.7]], id="p1")


def test_pads_to_the_longest_and_numbers_labels() -> None:
    packed = pack([PAGE, PAGE.take([1])], ["text", "title"])
    assert packed.bbox.shape == (2, 2, 4)
    assert packed.label.tolist() == [[1, 0], [0, 0]]
    assert packed.mask.tolist() == [[True, True], [True, False]]
    assert packed.counts.tolist() == [2, 1]
    assert len(packed) == 2
    np.testing.assert_array_equal(packed.bbox[0], PAGE.boxes)


def test_length_and_empty_sets() -> None:
    assert pack([PAGE], ["text", "title"], length=25).mask.sum() == 2
    assert pack([], ["text"]).bbox.shape == (0, 0, 4)
    empty = Layout.create([], [])
    assert pack([empty, PAGE], ["text", "title"]).counts.tolist() == [0, 2]
    with pytest.raises(LayoutdmError, match="length is 1, but a layout has 2"):
        pack([PAGE], ["text", "title"], length=1)


def test_unknown_label_names_layout_and_label() -> None:
    with pytest.raises(LayoutdmError, match="layout 'p1': label 'title' is not among the labels"):
        pack([PAGE], ["text"])


def test_unpacks_and_takes() -> None:
    packed = pack([PAGE, PAGE.take([1])], ["text", "title"])
    bbox, label, mask = packed
    assert bbox is packed.bbox and label is packed.label and mask is packed.mask
    assert packed.take([1]).counts.tolist() == [1]
    assert as_packed((bbox, label, mask)).counts.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"bbox": np.zeros((2, 4))}, "shape must be"),
        ({"mask": np.ones((1, 3), bool)}, "mask: shape"),
        ({"mask": np.full((1, 2), 7)}, "True or False"),
        ({"label": np.zeros((1, 3), int)}, "label: shape"),
        ({"label": np.zeros((1, 2))}, "integers"),
        ({"label": np.full((1, 2), -1)}, "negative label"),
        ({"bbox": np.full((1, 2, 4), np.nan)}, "layout 0, element 0"),
        ({"bbox": np.full((1, 2, 4), -0.5)}, "no negative size"),
    ],
)
def test_bad_arrays_get_one_sentence(change: dict[str, np.ndarray], message: str) -> None:
    good = {
        "bbox": np.full((1, 2, 4), 0.5),
        "label": np.zeros((1, 2), int),
        "mask": np.ones((1, 2), bool),
    }
    with pytest.raises(LayoutdmError, match=message):
        Packed(**{**good, **change})


def test_rubbish_in_padding_is_fine() -> None:
    bbox = np.full((1, 3, 4), 0.5)
    bbox[0, 2] = np.nan
    label = np.array([[0, 0, -1]])
    packed = Packed(bbox, label, np.array([[1, 1, 0]]))
    assert packed.mask.dtype == bool
    assert max_iou(packed, packed) == 1.0


def test_wrong_kinds_of_input() -> None:
    with pytest.raises(LayoutdmError, match="Packed or as a"):
        max_iou("layouts", "layouts")  # type: ignore[arg-type]
    with pytest.raises(LayoutdmError, match="no layouts"):
        alignment(np.zeros((0, 0, 4)), np.zeros((0, 0), bool))
