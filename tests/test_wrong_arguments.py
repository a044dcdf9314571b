"""Arguments of wrong types in Python: a sentence that says what would be right."""

from __future__ import annotations

from functools import cache

import pytest

import layoutdm
from layoutdm.errors import LayoutdmError
from layoutdm.spec import Spec
from tiny_models import folder


@cache
def model():
    return layoutdm.load(folder())


@pytest.mark.parametrize(
    "name", [None, 3, 2.5, [], b"rico25", "", "a\0b", "x" * 5000, "no such", object()]
)
def test_names_that_name_no_model(name):
    with pytest.raises(LayoutdmError, match="model"):
        layoutdm.load(name)


@pytest.mark.parametrize("threads", [0, -1, "two", 1.5, True, 10**9])
def test_threads(threads):
    with pytest.raises(LayoutdmError, match="threads must be a whole number from 1"):
        layoutdm.load(folder(), threads=threads)


@pytest.mark.parametrize("name", ["seed", "count", "batch_size", "tries"])
@pytest.mark.parametrize(
    "value", [None, "a", 1.5, -1, True, [1], float("nan"), pytest.param(10**5000, id="huge")]
)
def test_numbers(name, value):
    with pytest.raises(LayoutdmError, match=f"{name} must be a whole number"):
        model().generate({}, **{"count": 1, name: value})


@pytest.mark.parametrize("name", ["require", "trace"])
@pytest.mark.parametrize("value", ["no", 1, None, []])
def test_flags(name, value):
    with pytest.raises(LayoutdmError, match=f"{name} must be true or false"):
        model().generate({}, 1, **{name: value})


@pytest.mark.parametrize("indices", [None, 5, "ab", [None], [-1], ["a"], [1.5], [2**64], [[0]]])
def test_indices(indices):
    with pytest.raises(LayoutdmError, match="ind"):
        list(model().stream({}, indices))


@pytest.mark.parametrize("requests", [{}, {"elements": []}, "Toolbar", None, Spec.parse({}), 3])
def test_one_request_where_many_are_taken(requests):
    with pytest.raises(LayoutdmError, match="requests"):
        model().generate_many(requests)


@pytest.mark.parametrize("request_", ["Toolbar", 3, b"{}", ["Toolbar"], {"Toolbar"}])
def test_requests_that_are_none(request_):
    with pytest.raises(LayoutdmError):
        model().generate(request_, 1)


def test_rows_of_the_wrong_shape():
    for wrong in (None, [{}], [(0, {}, 1)], 3):
        with pytest.raises(LayoutdmError, match="numbered must be"):
            list(model().stream_many(wrong))
    for wrong in (None, [{}], [({}, 0)]):
        with pytest.raises(LayoutdmError, match="asked must be"):
            model().draw_many(wrong)
    for wrong in ([({}, None, 0)], [({}, 0, "a")]):
        with pytest.raises(LayoutdmError, match="must be a whole number"):
            model().draw_many(wrong)


def test_numpy_numbers_are_numbers():
    import numpy as np

    first = model().generate({}, np.int64(1), seed=np.uint8(3))[0].layout
    assert first == model().generate({}, 1, seed=3)[0].layout
