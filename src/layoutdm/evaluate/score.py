"""All metrics of one set of layouts against another, as plain data.

```python
sheet = score(generated, reference, network=load_features("rico25"))
sheet["fid"]["value"], sheet["fid"]["interval"], sheet["features"]["hash"]
```

Every metric is an object with `value`; `interval` (95 %, by bootstrap) where it has one; `floor`,
the same metric of a second real set, when one is given; and `reason` where the value is null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from layoutdm import __version__, metrics
from layoutdm.errors import LayoutdmError
from layoutdm.layout import Layout
from layoutdm.metrics.features import FeatureNetwork

LEARNED = ("fid", "precision", "recall", "density", "coverage")
SIMILAR = ("max_iou", "docsim", "ltsim")
METRICS = (*LEARNED, *SIMILAR, "alignment", "overlap", "average_iou", "violation")
NEIGHBOURS = 5
MOST_PAIRS = 200_000_000  # of generated and reference: beyond, halves for intervals take minutes
PAIRS = "compares pairs; say --paired when the i-th layouts belong together"

Sheet = dict[str, Any]
Floats = NDArray[np.float64]
# The feature network, why there is none, and the features of the reference.
Learned = tuple[FeatureNetwork | None, str, Floats | None]


@dataclass(frozen=True)
class Options:
    """What to score besides the plain metrics."""

    paired: bool = False  # the i-th generated layout belongs to the i-th reference layout
    published: bool = False  # add the figures of the released code
    level: float = 0.95
    resamples: int = 1000
    fid_resamples: int = 100  # 0 leaves out the intervals of the learned metrics
    seed: int = 0
    c2st: bool = False  # train a classifier to tell both sets apart; needs torch and minutes


def score(
    generated: Sequence[Layout],
    reference: Sequence[Layout],
    *,
    network: FeatureNetwork | None = None,
    missing: str = "no feature network was given",
    floor: Sequence[Layout] | None = None,
    relations: Iterable[ArrayLike] | None = None,
    options: Options | None = None,
    real_features: Floats | None = None,
) -> Sheet:
    """Score layouts; `missing` says why there is no `network`, for the metrics that need one.

    `real_features` are those of the reference's layouts that are not empty, where they are known.
    `relations` holds, for each generated layout, the rows (of, is, to) that were asked of it.
    Without them, pairs are checked against all relations of their reference layout.
    """
    options = options or Options()
    if options.paired and len(generated) != len(reference):
        raise LayoutdmError(
            f"paired scoring needs as many generated as reference layouts, but there are "
            f"{len(generated)} and {len(reference)}"
        )
    if network is not None and real_features is None:
        full = [layout for layout in reference if len(layout)]
        real_features = network.extract(full) if len(full) > 1 else None
    learned = (network, missing, real_features)
    sheet = _metrics(generated, reference, learned, relations, options)
    if floor is not None:
        # The floor is its own set: not paired, and no relations were asked of it.
        plain = Options(published=options.published, fid_resamples=0, resamples=2)
        lowest = _metrics(floor, reference, learned, None, plain)
        for name in METRICS:
            sheet[name]["floor"] = lowest[name]["value"]
    sheet["regularity"] = _regularity(generated, reference, floor, options)
    if options.c2st:
        sheet["c2st"] = _c2st(generated, reference, options)
    sheet["features"] = {"name": None, "hash": None, "reason": missing}
    if network is not None:
        sheet["features"] = {"name": network.name, "hash": network.hash}
    sheet["version"] = __version__
    return sheet


def _metrics(
    generated: Sequence[Layout],
    reference: Sequence[Layout],
    learned: Learned,
    relations: Iterable[ArrayLike] | None,
    options: Options,
) -> Sheet:
    # Empty layouts have no features, no labels to match and nothing to align: they are counted,
    # and left out of every mean. Only a pair with an empty side stays, as a failure.
    full = [layout for layout in generated if len(layout)]
    real = [layout for layout in reference if len(layout)]
    names = sorted({name for layout in (*full, *real) for name in layout.labels})
    sheet = _learned(full, len(real), *learned, options)
    sheet["max_iou"] = _max_iou(full, real, names, options)
    pair = (metrics.pack(generated, names), metrics.pack(reference, names))
    sheet["docsim"] = _docsim(pair, options)
    sheet["ltsim"] = (
        _mean(lambda: metrics.ltsims(*pair), options) if options.paired else null(PAIRS)
    )
    packed = metrics.pack(full, names)
    bbox, mask = packed.bbox, packed.mask
    sheet["alignment"] = _mean(lambda: metrics.alignments(bbox, mask), options)
    sheet["overlap"] = _mean(lambda: metrics.overlaps(bbox, mask), options)
    sheet["average_iou"] = _mean(lambda: metrics.average_ious(bbox, mask), options)
    sheet["violation"] = _violation(generated, reference, pair[0], relations, options)
    if full:
        _add_variants(sheet, packed, options)
    return sheet


def _regularity(
    generated: Sequence[Layout],
    reference: Sequence[Layout],
    floor: Sequence[Layout] | None,
    options: Options,
) -> Sheet:
    """Each share with its interval, beside that of the reference: it should be near it."""
    counted = [metrics.count_repeats(layout) for layout in generated]
    real = metrics.regularity(reference).shares()
    lowest = metrics.regularity(floor).shares() if floor is not None else {}
    drawn = metrics.bootstrap_regularity(
        counted, level=options.level, resamples=options.resamples, seed=options.seed
    )
    sheet: Sheet = {}
    for name, found in drawn.items():
        if np.isnan(found.value):
            sheet[name] = null("no elements of one label stand below each other")
            continue
        sheet[name] = _interval(found)
        sheet[name]["reference"] = None if np.isnan(real[name]) else real[name]
        if name in lowest:
            sheet[name]["floor"] = None if np.isnan(lowest[name]) else lowest[name]
    return sheet


def _c2st(generated: Sequence[Layout], reference: Sequence[Layout], options: Options) -> Sheet:
    try:
        found = metrics.c2st(generated, reference, seed=options.seed)
    except LayoutdmError as error:
        return null(str(error))
    return {
        **_interval(found.auc),
        "floor": found.floor.value,
        "floor_interval": [found.floor.low, found.floor.high],
        "note": f"{found.layouts:,} layouts of each set, {found.asked:,} of them asked about",
    }


def null(reason: str) -> Sheet:
    """A metric that has no value, and why."""
    return {"value": None, "reason": reason}


def _mean(values: Callable[[], Floats], options: Options) -> Sheet:
    """A mean over layouts with its interval; the values are only made when there are layouts."""
    figures = values()
    figures = figures[~np.isnan(figures)]
    if not len(figures):
        return null("there is no layout to measure")
    found = metrics.bootstrap_mean(
        figures, level=options.level, resamples=options.resamples, seed=options.seed
    )
    return _interval(found)


def _interval(found: metrics.Interval) -> Sheet:
    return {"value": found.value, "interval": [found.low, found.high], "level": found.level}


def _learned(
    generated: Sequence[Layout],
    reference: int,
    network: FeatureNetwork | None,
    missing: str,
    real: Floats | None,
    options: Options,
) -> Sheet:
    if network is None:
        return {name: null(missing) for name in LEARNED}
    fewest = min(len(generated), reference)
    if fewest < 2 or real is None:
        which = "generated" if len(generated) < 2 else "reference"
        reason = f"needs at least 2 layouts in each set; the {which} set has {fewest}"
        return {name: null(reason) for name in LEARNED}
    fake = network.extract(list(generated))
    sheet: Sheet = {}
    if options.fid_resamples:
        found = metrics.bootstrap_fid(
            fake, real, level=options.level, resamples=options.fid_resamples, seed=options.seed
        )
        sheet["fid"] = _interval(found)
    else:
        sheet["fid"] = {"value": metrics.fid(fake, real)}
    if fewest < network.width:
        sheet["fid"]["note"] = (
            f"fewer layouts ({fewest}) than feature dimensions ({network.width}): "
            "FID is too high and not stable; compare it with sets of the same size only"
        )
    if fewest <= NEIGHBOURS:
        reason = f"needs more than {NEIGHBOURS} layouts in each set; one has {fewest}"
        return sheet | {name: null(reason) for name in LEARNED[1:]}
    if not options.fid_resamples or len(fake) * len(real) > MOST_PAIRS:
        four = metrics.prdc(fake, real, k=NEIGHBOURS)
        return sheet | {name: {"value": value} for name, value in four._asdict().items()}
    ranges = metrics.bootstrap_prdc(fake, real, NEIGHBOURS, level=options.level, seed=options.seed)
    return sheet | {name: _interval(found) for name, found in ranges.items()}


def _max_iou(
    generated: Sequence[Layout], reference: Sequence[Layout], names: list[str], options: Options
) -> Sheet:
    first, second = metrics.pack(generated, names), metrics.pack(reference, names)
    scores = metrics.max_ious(first, second)
    if not len(scores):
        return null("no generated layout has the same labels, equally often, as a reference one")
    sheet: Sheet = {"value": float(scores.mean()), "matched": len(scores)}
    if options.published:
        sheet["published"] = metrics.max_iou(first, second, published=True)
    return sheet


def _docsim(pair: tuple[metrics.Packed, metrics.Packed], options: Options) -> Sheet:
    if not options.paired:
        return null(PAIRS)
    sheet = _mean(lambda: metrics.docsims(*pair), options)
    if options.published and sheet["value"] is not None:
        sheet["published"] = metrics.docsim(*pair, published=True)
    return sheet


def _violation(
    generated: Sequence[Layout],
    reference: Sequence[Layout],
    packed: metrics.Packed,
    relations: Iterable[ArrayLike] | None,
    options: Options,
) -> Sheet:
    if relations is not None:
        edges, note = metrics.relation_edges(relations), "relations that were asked"
    elif options.paired:
        edges = metrics.relation_edges(
            all_relations(real) if fake.labels == real.labels else []
            for fake, real in zip(generated, reference, strict=True)
        )
        note = "all relations of the reference, for pairs whose elements have the same labels"
    else:
        return null("no relations were asked: give --requests, or --paired for those of pairs")
    if not len(edges):
        return null("there is no relation to check")
    # A request may list more elements than the longest generated layout has.
    longest = max(packed.mask.shape[1], int(edges[:, [1, 3]].max()) + 1)
    room = ((0, 0), (0, longest - packed.mask.shape[1]))
    bbox, mask = np.pad(packed.bbox, (*room, (0, 0))), np.pad(packed.mask, room)
    rates = metrics.violations(bbox, mask, edges)
    sheet = _mean(lambda: rates, options)
    sheet |= {"relations": len(edges), "layouts": int((~np.isnan(rates)).sum()), "of": note}
    if options.published:
        sheet["published"] = float(np.nansum(rates) / len(rates))
    return sheet


def all_relations(layout: Layout) -> NDArray[np.int64]:
    """Every relation (of, is, to) that holds in a layout: size and place, for all pairs of
    elements and for elements against the canvas (-1)."""
    from layoutdm.relations import detect_all

    of, to = np.tril_indices(len(layout))  # column 0 of the tables is the canvas
    tables = detect_all(layout.boxes)
    return np.concatenate([np.stack([of, table[of, to], to - 1], axis=1) for table in tables])


def _add_variants(sheet: Sheet, packed: metrics.Packed, options: Options) -> None:
    """The other definitions in use, under their names; see docs/metrics.md for who uses which."""
    bbox, mask = packed.bbox, packed.mask
    for name, function, variants in (
        ("alignment", metrics.alignment, ("attribute-conditioned", "ndn")),
        ("overlap", metrics.overlap, ("attribute-conditioned", "layoutgan")),
        ("average_iou", metrics.average_iou, ("blt",)),
    ):
        sheet[name]["variants"] = {v: float(function(bbox, mask, v)) for v in variants}
    if options.published:
        sheet["alignment"]["published"] = metrics.alignment(
            bbox, mask, published=True, padding=metrics.batch_padding(mask)
        )
