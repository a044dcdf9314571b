"""One colour per label name, the same everywhere and told apart by colour-blind eyes.

>>> colour("Text") == colour("text")
True
>>> colour("Text"), colour("figure")
('#0072b2', '#e69f00')

The colours of Rico's 25 labels and PubLayNet's 5 were chosen, starting from the Okabe-Ito set, so
that every pair keeps its distance (in OKLab) for normal sight and for simulated protanopia,
deuteranopia and tritanopia; the tests measure those distances. A name that is not in the table
gets a colour from its own letters. In a picture with several such names, `scheme` moves a colour
that comes too near another one to the free colour that is furthest from all others.

>>> scheme(["Caption", "Formula"]).colour("Caption") == colour("Caption")
True
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np

KNOWN = {
    # PubLayNet; "text" is shared with Rico
    "text": "#0072b2",
    "title": "#d55e00",
    "list": "#64e9de",
    "table": "#7a004e",
    "figure": "#e69f00",
    # Rico: strong colours for small parts, quiet ones for containers
    "image": "#85b16f",
    "icon": "#b11637",
    "text button": "#7a64de",
    "list item": "#bca6a6",
    "input": "#c8de2c",
    "background image": "#a6c8ff",
    "card": "#ffbcb1",
    "web view": "#597a64",
    "radio button": "#7a3790",
    "drawer": "#906f90",
    "checkbox": "#644e00",
    "advertisement": "#16de85",
    "modal": "#64596f",
    "pager indicator": "#4e0b90",
    "slider": "#2190ff",
    "on/off switch": "#006443",
    "button bar": "#7a90d3",
    "toolbar": "#004364",
    "number stepper": "#592c21",
    "multi tab": "#59bcd3",
    "date picker": "#cc79a7",
    "map view": "#009e73",
    "video": "#4e43bc",
    "bottom navigation": "#b19bff",
}

RGB = tuple[int, int, int]

# Dark enough to be read as text on white: the 4.5 to 1 of the accessibility guidelines, and more.
_INK_LUMINANCE = 0.12
# An outline may be lighter than text, but must still be seen on white: about 3 to 1.
_EDGE_LUMINANCE = 0.30


# In OKLab; nearer colours of two labels are taken for the same at a glance.
NEAR = 0.14


@dataclass(frozen=True)
class Scheme:
    """The colours of one picture or set of pictures; a label keeps its colour once it has one."""

    chosen: tuple[tuple[str, str], ...] = ()  # (normal name, colour) of names not in the table

    def colour(self, label: str) -> str:
        """The fill of a label, as "#rrggbb"."""
        return _chosen(self).get(_normal(label)) or colour(label)

    def ink(self, label: str) -> str:
        """The label's colour, darkened until it reads well as text on white."""
        return _darkened(self.colour(label), _INK_LUMINANCE)

    def edge(self, label: str) -> str:
        """The label's colour, darkened until a thin outline shows on white."""
        return _darkened(self.colour(label), _EDGE_LUMINANCE)

    def extended(self, labels: Iterable[str]) -> Scheme:
        """With colours for these labels too, as far as can be from those that are there."""
        found = _chosen(self)
        names = sorted({_normal(label) for label in labels} - set(found))
        new = [name for name in names if name not in KNOWN]
        if not new:
            return self
        taken = [*found.values(), *(KNOWN[name] for name in names if name in KNOWN)]
        added = []
        for name in new:
            added.append((name, _apart(_from_letters(name), taken)))
            taken.append(added[-1][1])
        return Scheme((*self.chosen, *added))


PLAIN = Scheme()


def scheme(labels: Iterable[str]) -> Scheme:
    """Colours for these labels, whatever their order."""
    return PLAIN.extended(labels)


@cache
def _chosen(scheme: Scheme) -> dict[str, str]:
    return dict(scheme.chosen)


def _apart(own: str, taken: list[str]) -> str:
    """The colour itself, or one further from those that are taken."""
    if not taken:
        return own
    others = np.array([_oklab(colour) for colour in taken])
    if np.linalg.norm(others - _oklab(own), axis=1).min() >= NEAR:
        return own
    distances = np.linalg.norm(_choice()[1][:, None] - others, axis=2).min(axis=1)
    return _choice()[0][int(distances.argmax())]


@cache
def _choice() -> tuple[list[str], np.ndarray[tuple[int, int], np.dtype[np.float64]]]:
    """Colours over the whole range that a screen shows well, and their places in OKLab."""
    found = {}
    for lightness in (0.40, 0.50, 0.60, 0.70, 0.80):
        for chroma in (0.05, 0.10, 0.15, 0.20):
            for angle in np.arange(24) * (2 * np.pi / 24):
                a, b = chroma * float(np.cos(angle)), chroma * float(np.sin(angle))
                name = _from_oklab(lightness, a, b)
                if np.linalg.norm(_oklab(name) - (lightness, a, b)) < 0.01:  # it was not clipped
                    found[name] = _oklab(name)
    return list(found), np.array(list(found.values()))


def colour(label: str) -> str:
    """The colour of a label, as "#rrggbb"; case, underscores, hyphens and blanks do not matter."""
    name = _normal(label)
    return KNOWN.get(name) or _from_letters(name)


def ink(label: str) -> str:
    """The label's colour, darkened until it reads well as text on white."""
    return PLAIN.ink(label)


def edge(label: str) -> str:
    """The label's colour, darkened until a thin outline shows on white."""
    return PLAIN.edge(label)


@cache
def _normal(label: str) -> str:
    return " ".join(label.casefold().replace("_", " ").replace("-", " ").split())


def rgb(hex_colour: str) -> RGB:
    """(red, green, blue) in 0..255 of "#rrggbb"."""
    return (int(hex_colour[1:3], 16), int(hex_colour[3:5], 16), int(hex_colour[5:7], 16))


def luminance(hex_colour: str) -> float:
    """Relative luminance, 0 for black to 1 for white."""
    return float(np.dot(_linear(hex_colour), (0.2126, 0.7152, 0.0722)))


def _linear(hex_colour: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    values = np.array(rgb(hex_colour), dtype=np.float64) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def _hex(linear: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    values = np.clip(linear, 0, 1)
    encoded = np.where(values <= 0.0031308, values * 12.92, 1.055 * values ** (1 / 2.4) - 0.055)
    return "#" + "".join(f"{round(float(v) * 255):02x}" for v in encoded)


@cache
def _darkened(hex_colour: str, limit: float) -> str:
    """Scaling light, not the encoded numbers, keeps the hue."""
    light = luminance(hex_colour)
    return hex_colour if light <= limit else _hex(_linear(hex_colour) * (limit / light))


@cache
def _from_letters(name: str) -> str:
    """A medium colour whose hue and lightness follow from a checksum of the name."""
    code = zlib.crc32(name.encode("utf-8", "replace"))
    angle = 2 * np.pi * (code % 997) / 997
    lightness = (0.52, 0.62, 0.72)[code // 997 % 3]
    return _from_oklab(lightness, 0.11 * float(np.cos(angle)), 0.11 * float(np.sin(angle)))


@cache
def _oklab(hex_colour: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    red, green, blue = _linear(hex_colour)
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    medium = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return np.array(
        [
            0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
            1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
            0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
        ]
    )


def _from_oklab(lightness: float, a: float, b: float) -> str:
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    return _hex(
        np.array(
            [
                4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
                -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
                -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
            ]
        )
    )
