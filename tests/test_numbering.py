"""Names and numbers of layouts: each is given once, and long runs take no memory."""

from __future__ import annotations

import sys

from hypothesis import given
from hypothesis import strategies as st

from layoutdm.formats.numbering import FileNames, Numbers

texts = st.sampled_from(["", "a", "A", "a/b", "p1", "P1", "p01", "p2", "x.", "layout_000002"])
ids = st.one_of(texts, st.integers(0, 12).map(str), st.integers(0, 12).map("0-{}".format))


@given(st.lists(ids, max_size=30))
def test_every_file_name_is_new_and_safe_ids_keep_theirs(wished):
    names, taken = FileNames(reserved=("p2",)), {"p2"}
    for id in wished:
        name = names.take(id)
        assert name.lower() not in taken
        safe = id and "/" not in id and not id.endswith(".")
        if safe and id.lower() not in taken:
            assert name == id
        taken.add(name.lower())


@given(st.lists(ids, max_size=30))
def test_every_number_is_new_and_whole_ids_keep_theirs(wished):
    numbers, taken = Numbers(), set()
    for id in wished:
        number = numbers.take(id)
        assert number not in taken
        if id.isdecimal() and int(id) not in taken:
            assert number == int(id)
        elif not id.isdecimal():
            assert number == next(n for n in range(1, 99) if n not in taken)
        taken.add(number)


def test_a_large_job_takes_no_memory():
    names, numbers = FileNames(), Numbers()
    for index in range(30_000):
        assert names.take(f"0-{index}") == f"0-{index}"
        assert numbers.take(f"0-{index}") == index + 1
    kept = [*names._numbered.values(), numbers._used]
    assert len(kept) == 2
    assert all(sys.getsizeof(taken._others) < 300 for taken in kept)
