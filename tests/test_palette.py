"""Colours: stable, distinct, and still distinct for colour-blind eyes."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from layoutdm.data.labels import PUBLAYNET, RICO25
from layoutdm.pictures import palette

# What each kind of colour blindness makes of linear red, green and blue (Machado et al., 2009).
SIGHT = {
    "normal": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_OKLAB = np.array(
    [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
)


def seen(colour: str, sight: str) -> np.ndarray:
    """OKLab of a colour as this sight sees it."""
    encoded = np.array(palette.rgb(colour)) / 255
    linear = np.where(encoded <= 0.04045, encoded / 12.92, ((encoded + 0.055) / 1.055) ** 2.4)
    return TO_OKLAB @ np.cbrt(TO_CONES @ np.clip(SIGHT[sight] @ linear, 0, 1))


def closest(labels: tuple[str, ...], sight: str) -> float:
    points = [seen(palette.colour(label), sight) for label in labels]
    return min(float(np.linalg.norm(a - b)) for a, b in combinations(points, 2))


# 0.02 is a just noticeable difference in OKLab; text labels carry the rest for 25 classes.
@pytest.mark.parametrize(
    ("labels", "sight", "least"),
    [
        (RICO25, "normal", 0.09),
        (RICO25, "protanopia", 0.05),
        (RICO25, "deuteranopia", 0.05),
        (RICO25, "tritanopia", 0.045),
        (PUBLAYNET, "normal", 0.12),
        (PUBLAYNET, "protanopia", 0.12),
        (PUBLAYNET, "deuteranopia", 0.12),
        (PUBLAYNET, "tritanopia", 0.10),
        ((*RICO25, *PUBLAYNET[1:]), "normal", 0.09),
        ((*RICO25, *PUBLAYNET[1:]), "deuteranopia", 0.05),
    ],
)
def test_colours_keep_their_distance(labels: tuple[str, ...], sight: str, least: float) -> None:
    assert closest(labels, sight) >= least


def test_the_published_sets_have_colours_of_their_own() -> None:
    names = {label.casefold().replace("-", " ") for label in (*RICO25, *PUBLAYNET)}
    assert names == set(palette.KNOWN)
    assert len(set(palette.KNOWN.values())) == len(names) == 29


def test_spelling_does_not_change_a_colour() -> None:
    assert len({palette.colour(n) for n in ("Text Button", "text_button", " TEXT  button ")}) == 1


def test_unknown_names_have_fixed_colours() -> None:
    # Written down: a change would recolour everybody's pictures.
    assert palette.colour("caption") == "#6784c9"
    assert palette.colour("标题") == "#e18883"


@settings(deadline=None)
@given(st.text(min_size=1))
def test_any_name_gives_a_readable_colour(name: str) -> None:
    for colour in (palette.colour(name), palette.edge(name), palette.ink(name)):
        assert len(colour) == 7
        assert all(0 <= v <= 255 for v in palette.rgb(colour))
    # contrast with white as the accessibility guidelines compute it
    assert 1.05 / (palette.luminance(palette.ink(name)) + 0.05) >= 4.5
    assert 1.05 / (palette.luminance(palette.edge(name)) + 0.05) >= 2.9


# Labels that are not in the table --------------------------------------------------------------


DOCLAYNET = (
    "Caption", "Footnote", "Formula", "List-item", "Page-footer", "Page-header", "Picture",
    "Section-header", "Table", "Text", "Title",
)  # fmt: skip
OWN = (
    "hero", "headline", "subline", "cta", "logo", "nav", "footer", "sidebar", "price", "badge",
    "avatar", "rating", "breadcrumb", "gallery", "review", "form", "field", "submit", "hint",
    "banner", "map", "chart", "legend", "tooltip", "pager",
)  # fmt: skip


def closest_in_one_picture(labels: tuple[str, ...]) -> float:
    scheme = palette.scheme(labels)
    points = [seen(scheme.colour(label), "normal") for label in labels]
    return min(float(np.linalg.norm(a - b)) for a, b in combinations(points, 2))


@pytest.mark.parametrize(("labels", "least"), [(DOCLAYNET, 0.14), (OWN, 0.10), (OWN[:12], 0.14)])
def test_own_labels_of_one_picture_are_told_apart(labels: tuple[str, ...], least: float) -> None:
    assert closest_in_one_picture(labels) >= least


@given(st.sets(st.text(min_size=1, max_size=8), min_size=2, max_size=16))
@settings(max_examples=30, deadline=None)
def test_any_labels_of_one_picture_are_told_apart(labels: set[str]) -> None:
    distinct = {palette._normal(label): label for label in labels}
    if len(distinct) > 1:
        assert closest_in_one_picture(tuple(distinct.values())) >= 0.10


def test_a_scheme_keeps_the_table_and_does_not_depend_on_order() -> None:
    scheme = palette.scheme((*OWN, *RICO25))
    assert all(scheme.colour(label) == palette.colour(label) for label in RICO25)
    assert scheme == palette.scheme(tuple(reversed((*OWN, *RICO25))))
    assert palette.scheme(["hero"]).colour("hero") == palette.colour("hero")


def test_a_label_keeps_its_colour_when_others_come() -> None:
    first = palette.scheme(OWN[:5])
    later = first.extended(OWN)
    assert [first.colour(label) for label in OWN[:5]] == [later.colour(n) for n in OWN[:5]]
    assert later.extended(OWN) is later
