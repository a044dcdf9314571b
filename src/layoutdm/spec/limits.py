"""How large a request may be; everything within these limits is answered at once."""

from __future__ import annotations

MAX_LISTED = 1_000  # elements, names of a reading order or a group, labels of a choice
MAX_RELATIONS = 10_000
MAX_GROUPS = 1_000
MAX_NAME = 200  # characters of a name or label
MAX_BYTES = 4 * 2**20  # of text
MAX_FIELDS = 50  # of one object; the largest has 12
MAX_VALUES = 200_000  # in all, lists and objects counted, too
MAX_DEPTH = 20  # objects and lists inside each other
