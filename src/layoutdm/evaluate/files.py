"""Score files: read both sides, choose the feature network, add the counts and the warnings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from layoutdm.errors import LayoutdmError
from layoutdm.evaluate.reading import LIMIT, LayoutSet, read_set
from layoutdm.evaluate.requests import asked_relations, read_requests
from layoutdm.evaluate.score import Options
from layoutdm.evaluate.score import score as score_layouts
from layoutdm.layout import Layout
from layoutdm.metrics.features import (
    FeatureNetwork,
    embedded_features,
    features_for,
    load_features,
)


def score(
    generated: Sequence[Layout] | str | Path,
    reference: Sequence[Layout] | str | Path,
    *,
    features: str | None = None,
    paired: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """All metrics of layouts, or of files of them, against a reference; see docs/metrics.md.

    `options` are those of `evaluate.score.Options`: published, seed, c2st, ...

        layoutdm.score("made.jsonl", "real.jsonl")["fid"]["value"]
    """
    how = Options(paired=paired, **options)
    if isinstance(generated, (str, Path)) and isinstance(reference, (str, Path)):
        return score_files(Path(generated), Path(reference), features=features, options=how)
    sides = [
        read_set(Path(one)).layouts if isinstance(one, (str, Path)) else tuple(one)
        for one in (generated, reference)
    ]
    named = load_features(features) if features else None
    network, missing = choose_network(named, sides)
    return score_layouts(*sides, network=network, missing=missing, options=how)


def score_files(
    generated: Path,
    reference: Path,
    *,
    floor: Path | None = None,
    requests: Path | None = None,
    features: str | None = None,
    format: str | None = None,
    limit: int = LIMIT,
    strict: bool = False,
    threads: int = 0,
    options: Options | None = None,
) -> dict[str, Any]:
    """The whole score sheet of one file against another; see `score` for the metrics."""
    options = options or Options()
    # Loaded first: a wrong name should not be told after minutes of reading.
    named = load_features(features, threads=threads) if features else None

    def read(path: Path, ordered: bool) -> LayoutSet:
        found = read_set(path, format, limit=limit, seed=options.seed, strict=strict or ordered)
        if not found.layouts:
            why = f"; the first problem: {found.first_problem}" if found.first_problem else ""
            raise LayoutdmError(f"{path}: holds no layout that can be scored{why}")
        return found

    in_order = options.paired or requests is not None
    sets = {"generated": read(generated, in_order), "reference": read(reference, options.paired)}
    if floor is not None:
        sets["floor"] = read(floor, False)
    network, missing = choose_network(named, [s.layouts for s in sets.values()], threads)
    relations = None
    if requests is not None:
        relations = [asked_relations(spec) for spec in read_requests(requests)]
        made = sets["generated"].counts["layouts"]
        if len(relations) != made:
            raise LayoutdmError(
                f"{requests}: {len(relations)} requests for {made} generated layouts; "
                "there should be one for each, in the same order"
            )
        if limit and made > limit:
            raise LayoutdmError(
                f"{made} layouts are more than the limit of {limit}; with requests, pass --limit 0"
            )
    if options.paired:
        _check_pairs(sets["generated"], sets["reference"])
    sheet = score_layouts(
        sets["generated"].layouts,
        sets["reference"].layouts,
        network=network,
        missing=missing,
        floor=sets["floor"].layouts if floor is not None else None,
        relations=relations,
        options=options,
    )
    sheet["counts"] = _counts(sets, network, options)
    return sheet


def choose_network(
    named: FeatureNetwork | None, sets: Sequence[Sequence[Layout]], threads: int = 0
) -> tuple[FeatureNetwork | None, str]:
    """The network that was asked for, or an embedded one that knows all labels; else the reason
    why there is none."""
    labels = {name for layouts in sets for layout in layouts for name in layout.labels}
    if named is not None:
        if named.fits(labels):
            return named, ""
        unknown = ", ".join(sorted(labels - set(named.labels))[:5])
        return None, f"feature network {named.name!r} does not know these labels: {unknown}"
    found = features_for(labels, threads=threads)
    if found is not None:
        return found, ""
    names = " or ".join(embedded_features()) or "none embedded"
    return None, (
        f"no embedded feature network ({names}) knows all labels of these files; "
        "train one with `layoutdm fit-features` and pass --features FOLDER"
    )


def _check_pairs(first: LayoutSet, second: LayoutSet) -> None:
    if first.counts["layouts"] != second.counts["layouts"]:
        raise LayoutdmError(
            f"--paired needs as many generated as reference layouts, but {first.path} has "
            f"{first.counts['layouts']} and {second.path} has {second.counts['layouts']}"
        )


def _counts(
    sets: dict[str, LayoutSet], network: FeatureNetwork | None, options: Options
) -> dict[str, Any]:
    counts: dict[str, Any] = {}
    for role, found in sets.items():
        counts[role] = dict(found.counts)
        if network is not None:
            counts[role]["too_long"] = network.too_long(found.layouts)
    counts["paired"] = options.paired
    used = {
        role: {name for layout in found.layouts for name in layout.labels}
        for role, found in sets.items()
    }
    warnings = []
    foreign = sorted(used["generated"] - used["reference"])
    if foreign:
        warnings.append(
            f"{len(foreign)} generated labels do not occur in the reference: "
            f"{', '.join(foreign[:5])}{', ...' if len(foreign) > 5 else ''}"
        )
    for role, found in sets.items():
        if found.first_problem:
            warnings.append(f"{role}: first problem: {found.first_problem}")
    counts["warnings"] = warnings
    return counts
