"""How much a file may unpack to: small packed files must not fill the memory.

>>> allowed(10_000) == MIB, allowed(1_000_000) == 50_000_000
(True, True)

A packed file (gzip, zip, Parquet) may unpack to 1 MiB, or to 50 times the bytes read of it, and to
16 GiB in all; real data sets unpack to 5 to 10 times their size. One record (a line of JSON or CSV,
an item of a COCO or Label Studio file, a screen of Rico) may have 8 MiB. The environment variable
LAYOUTDM_LIMITS multiplies all of these: LAYOUTDM_LIMITS=10 allows ten times as much.
"""

from __future__ import annotations

import os
from math import isfinite
from pathlib import Path

from layoutdm.errors import LayoutdmError

VARIABLE = "LAYOUTDM_LIMITS"
MIB = 2**20

RATIO = 50
FLOOR = MIB
MOST = 16 * 1024 * MIB
RECORD = 8 * MIB


def times() -> float:
    """What the user multiplies the limits with."""
    text = os.environ.get(VARIABLE, "1")
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not (isfinite(value) and value > 0):
        raise LayoutdmError(f"{VARIABLE} must be a number above 0, such as 10, got {text!r}")
    return value


def allowed(packed: int) -> int:
    """The bytes that so many packed bytes may unpack to."""
    return int(min(max(FLOOR, RATIO * packed), MOST) * times())


def record_size() -> int:
    """The most bytes of one record."""
    return int(RECORD * times())


def too_much(path: Path | str, packed: int) -> LayoutdmError:
    """The sentence about a file that unpacks to more than it may."""
    return LayoutdmError(
        f"{path}: {_size(packed)} unpack to more than {_size(allowed(packed))}, far more than "
        f"real layouts do; if you trust the file, set {VARIABLE}=10 for ten times the limit"
    )


def too_long(where: str, what: str) -> LayoutdmError:
    """The sentence about a record that is longer than it may be."""
    return LayoutdmError(
        f"{where}: longer than {_size(record_size())}; {what}, or set {VARIABLE}=10 for ten times "
        "the limit"
    )


def _size(count: int) -> str:
    """
    >>> _size(2_600), _size(8 * MIB)
    ('2.54 KiB', '8 MiB')
    """
    for unit, name in ((1024 * MIB, "GiB"), (MIB, "MiB"), (1024, "KiB")):
        if count >= unit:
            return f"{count / unit:.3g} {name}"
    return f"{count} bytes"
