"""What is decided for each page by its seed and index alone: its split and its shape.

>>> [split(0, index) for index in range(20)].count("train")
16
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from layoutdm.errors import LayoutdmError

SPLITS = ("train", "val", "test")
BLOCK = 20  # pages within which the shares of the splits are kept exactly
SIZES = {
    "letter": 8.5 / 11,
    "legal": 8.5 / 14,
    "a3": 297 / 420,
    "a4": 210 / 297,
    "a5": 148 / 210,
    "b5": 176 / 250,
    "square": 1.0,
    "slide": 16 / 9,
}


def split(seed: int, index: int, shares: Sequence[float] = (0.8, 0.1, 0.1)) -> str:
    """train, val or test; of every 20 pages in a row each split gets its share."""
    places = list(range(BLOCK))
    Random(f"{seed}/split/{index // BLOCK}").shuffle(places)
    at = (places[index % BLOCK] + 0.5) / BLOCK * sum(shares)
    for name, share in zip(SPLITS, shares, strict=True):
        if at < share:
            return name
        at -= share
    return SPLITS[0]


def parse_shares(text: str) -> tuple[float, float, float]:
    """
    >>> parse_shares("0.9,0.1,0")
    (0.9, 0.1, 0.0)
    """
    try:
        first, second, third = (float(part) for part in text.split(","))
    except ValueError:
        first = second = third = -1.0
    if min(first, second, third) < 0 or abs(first + second + third - 1) > 1e-6:
        raise LayoutdmError(
            f"--split {text}: should be three shares that add up to 1, such as 0.8,0.1,0.1"
        )
    return first, second, third


def parse_weights(text: str, what: str) -> dict[str, float]:
    """`a4:2,letter` as weights; a name alone weighs 1.

    >>> parse_weights("a4:2,letter", "--size")
    {'a4': 2.0, 'letter': 1.0}
    """
    found: dict[str, float] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, colon, weight = part.rpartition(":")
        try:
            value = float(weight) if colon else 1.0
        except ValueError:
            value = -1.0
        if value <= 0:
            raise LayoutdmError(f"{what} {part}: should be NAME or NAME:NUMBER, the number above 0")
        found[name if colon else part] = value
    return found


def parse_sizes(text: str) -> tuple[tuple[float, float], ...]:
    """Shapes (width over height) with their weights: `a4,letter:2,800x600`.

    >>> [(round(shape, 3), weight) for shape, weight in parse_sizes("a4:2,800x600")]
    [(0.707, 2.0), (1.333, 1.0)]
    """
    found = []
    for name, weight in parse_weights(text, "--size").items():
        shape = SIZES.get(name.lower())
        if shape is None:
            width, x, height = name.partition("x")
            if not (x and width.isdigit() and height.isdigit() and int(width) and int(height)):
                raise LayoutdmError(
                    f"--size {name}: is unknown; choose from {', '.join(SIZES)}, "
                    "or write WIDTHxHEIGHT"
                )
            shape = int(width) / int(height)
        if not 0.1 <= shape <= 10:
            raise LayoutdmError(f"--size {name}: should be at most ten times as long as wide")
        found.append((shape, weight))
    return tuple(found)


def shape(
    seed: int, index: int, own: float, sizes: Sequence[tuple[float, float]], landscape: float
) -> float:
    """Width over height of a page: one of the sizes, or the layout's own; some lie on a side."""
    random = Random(f"{seed}/{index}/shape")
    chosen = own
    if sizes:
        chosen = random.choices([s for s, _ in sizes], [w for _, w in sizes])[0]
    return 1 / chosen if random.random() < landscape and chosen < 1 else chosen
