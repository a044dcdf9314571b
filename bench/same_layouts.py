"""Do two versions of the code draw the same layouts?

    python bench/same_layouts.py --out before.json        # with the code as it was
    python bench/same_layouts.py --against before.json    # with the code as it is

Many kinds of requests, both embedded models, both samplers, some seeds: one digest of the layouts
of each. A made-up network that costs no time answers, unless `--network` asks for the models' own.
Digests belong to one machine: another processor may round a last digit otherwise.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import layoutdm
from layoutdm.diffusion.network import Prediction, Query, Traits
from layoutdm.generator.layoutdm import LayoutDM
from layoutdm.model import Result
from mixtures import KINDS, layouts_of, request_of

SETTINGS: dict[str, dict[str, Any]] = {
    "usual": {},
    "few steps": {"steps": 8},
    "plain": {"sampler": "plain", "steps": 12},
    "published": {"sampler": "plain", "published": True, "relations": "published", "steps": 12},
    "remasked": {"sampler": "plain", "remask": 0.1, "steps": 12},
    "guided": {"relations": "guided"},
    "cool": {"temperature": 0.7, "top_p": 0.9, "label_top_p": 0.9},
}
EVERY_SETTING = {(), ("labels",), ("draft",), ("relations",), ("sizes",)}


class MadeUp:
    """A network whose answer depends on every token, on the level, the ranks and the drafts."""

    def __init__(self, traits: Traits) -> None:
        self.traits = traits
        rng = np.random.default_rng(0)
        tables = [2 * rng.standard_normal((257, size + 1)) for size in traits.sizes]
        self._tables = [t - np.log(np.exp(t).sum(axis=1, keepdims=True)) for t in tables]

    def __call__(self, query: Query) -> Prediction:
        batch, slots = query.valid.shape
        whole = (query.tokens * query.valid[..., None] @ np.array([3, 5, 7, 11, 13])).sum(axis=1)
        state = (whole + 17 * query.level)[:, None] + 31 * np.arange(slots)
        for extra in (query.position, None if query.about is None else query.about.sum(axis=2)):
            state = state + (0 if extra is None else 19 * extra)
        if query.asked is not None:
            state = np.take_along_axis(state, query.asked, axis=1)
        found = tuple(table[(state + 41 * m) % 257] for m, table in enumerate(self._tables))
        return Prediction(found, np.zeros((batch, self.traits.max_elements)))


def digest(results: list[Result]) -> str:
    found = hashlib.sha256()
    for result in results:
        found.update("|".join(result.layout.labels).encode())
        found.update(result.layout.boxes.tobytes())
    return found.hexdigest()[:16]


def cells(count: int, *, network: bool) -> Iterator[tuple[str, str]]:
    """(name, digest) of every request and setting."""
    for name in ("rico25", "publaynet"):
        model = layoutdm.load(name, threads=1)
        if not network:
            assert isinstance(model.generator, LayoutDM)
            traits = model.generator.config.traits
            model = layoutdm.Model(replace(model.generator, denoiser=MadeUp(traits)))
        layouts = layouts_of(name, None, count)
        pairs = list(combinations(KINDS, 2))[::4]
        for kinds in [(), *((kind,) for kind in KINDS), *pairs, tuple(KINDS)]:
            many = [request_of(one, kinds, i) if kinds else {} for i, one in enumerate(layouts)]
            for how in SETTINGS if kinds in EVERY_SETTING else ["usual"]:
                key = f"{name}, {how}, {' + '.join(kinds) or 'nothing'}"
                yield key, digest(model.generate_many(many, seed=3, **SETTINGS[how]))
                if how == "usual":
                    yield f"{key}, alone", digest(model.generate(many[0], 1, seed=5))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--layouts", type=int, default=4, help="of each cell")
    parser.add_argument("--network", action="store_true", help="ask the models' own networks")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--against", type=Path)
    given = parser.parse_args()
    found = dict(cells(given.layouts, network=given.network))
    if given.out:
        given.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    if given.against:
        before = json.loads(given.against.read_text(encoding="utf-8"))
        other = [key for key in before if before[key] != found.get(key)]
        print(f"{len(before) - len(other)} of {len(before)} cells draw the same layouts")
        for key in other:
            print(f"  other: {key}")
        raise SystemExit(bool(other))


if __name__ == "__main__":
    main()
