"""The paper's own figures, to stand beside ours: made on other data with another feature network.

They are context, not rivals: the paper's Rico has 42,178 screens, its PubLayNet 343,518 pages, and
FID depends on the network that reads the layouts. What may be compared is the distance to the
floor: a model's FID over that of real data, each with its own network.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

# Task, then the columns of the paper's tables: (LayoutDM, real data).
_ROWS: Mapping[str, Mapping[str, Mapping[str, tuple[float | None, float]]]] = {
    "rico25": {
        "unconditional": {"fid": (6.65, 1.85), "alignment": (0.162, 0.109)},
        "c": {"fid": (3.55, 1.85), "max_iou": (0.277, 0.691)},
        "cwh": {"fid": (2.22, 1.85), "max_iou": (0.392, 0.691)},
        "completion": {"fid": (9.00, 1.85), "max_iou": (0.576, 0.691)},
        "refinement": {"fid": (2.77, 1.85), "max_iou": (0.370, 0.691), "docsim": (0.205, 0.260)},
        "relation": {"fid": (None, 1.85)},
    },
    "publaynet": {
        "unconditional": {"fid": (13.9, 6.25), "alignment": (0.195, 0.0214)},
        "c": {"fid": (7.95, 6.25), "max_iou": (0.310, 0.438)},
        "cwh": {"fid": (4.25, 6.25), "max_iou": (0.381, 0.438)},
        "completion": {"fid": (7.65, 6.25), "max_iou": (0.377, 0.438)},
        "refinement": {"fid": (6.75, 6.25), "max_iou": (0.352, 0.438), "docsim": (0.149, 0.216)},
        "relation": {"fid": (None, 6.25)},
    },
}


# The best released figure of each task, divided by its own floor; made on other data.
_MARKS: Mapping[str, Mapping[str, float]] = {
    "rico25": {"unconditional": 2.6, "c": 1.36, "cwh": 1.09, "completion": 2.0, "refinement": 1.08},
    "publaynet": {
        "unconditional": 1.83,
        "c": 0.78,
        "cwh": 0.44,
        "completion": 1.22,
        "refinement": 1.02,
    },
}


def paper_rows(labels: Iterable[str], task: str) -> dict[str, tuple[float | None, float]] | None:
    """The paper's (LayoutDM, real data) by metric, for data with its labels; else None.

    >>> paper_rows(["text", "title", "list", "table", "figure"], "c")["fid"]
    (7.95, 6.25)
    """
    name = _data_of(labels)
    return (dict(_ROWS[name].get(task, {})) or None) if name else None


def mark(labels: Iterable[str], task: str) -> float | None:
    """The distance to the floor (FID over the floor's) to beat, for data with these labels.

    >>> mark(["Text", "Image"], "cwh")
    1.09
    """
    name = _data_of(labels)
    return _MARKS[name].get(task) if name else None


def _data_of(labels: Iterable[str]) -> str | None:
    from layoutdm.data.labels import PUBLAYNET, RICO25

    used = set(labels)
    for name, known in (("publaynet", PUBLAYNET), ("rico25", RICO25)):
        if used and used <= set(known):
            return name
    return None
