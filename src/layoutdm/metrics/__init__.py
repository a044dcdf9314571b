"""Metrics over plain numpy arrays: boxes (B, S, 4), labels (B, S), mask (B, S) True = valid.

>>> import numpy as np
>>> from layoutdm import metrics
>>> bbox = np.array([[[0.5, 0.2, 0.8, 0.1], [0.5, 0.7, 0.8, 0.4]]])
>>> mask = np.ones((1, 2), dtype=bool)
>>> metrics.alignment(bbox, mask), metrics.overlap(bbox, mask)
(0.0, 0.0)

Each metric has its own file, its mean over layouts as a function in the singular and its figure per
layout in the plural. What each one means, and what to compare with what: docs/metrics.md.
"""

from layoutdm.metrics.alignment import alignment, alignments, batch_padding
from layoutdm.metrics.average_iou import average_iou, average_ious
from layoutdm.metrics.bootstrap import Interval, bootstrap_fid, bootstrap_mean, bootstrap_prdc
from layoutdm.metrics.c2st import C2ST, c2st
from layoutdm.metrics.docsim import docsim, docsims
from layoutdm.metrics.features import (
    FeatureNetwork,
    embedded_features,
    features_for,
    load_features,
)
from layoutdm.metrics.fid import fid, frechet_distance
from layoutdm.metrics.ltsim import ltsim, ltsims
from layoutdm.metrics.max_iou import max_iou, max_ious
from layoutdm.metrics.overlap import overlap, overlaps
from layoutdm.metrics.pack import Layouts, Packed, as_packed, pack
from layoutdm.metrics.prdc import PRDC, prdc
from layoutdm.metrics.regularity import (
    Regularity,
    bootstrap_regularity,
    count_repeats,
    regularity,
)
from layoutdm.metrics.violation import relation_edges, violation, violations

__all__ = [
    "C2ST",
    "PRDC",
    "FeatureNetwork",
    "Interval",
    "Layouts",
    "Packed",
    "Regularity",
    "alignment",
    "alignments",
    "as_packed",
    "average_iou",
    "average_ious",
    "batch_padding",
    "bootstrap_fid",
    "bootstrap_mean",
    "bootstrap_prdc",
    "bootstrap_regularity",
    "c2st",
    "count_repeats",
    "docsim",
    "docsims",
    "embedded_features",
    "features_for",
    "fid",
    "frechet_distance",
    "load_features",
    "ltsim",
    "ltsims",
    "max_iou",
    "max_ious",
    "overlap",
    "overlaps",
    "pack",
    "prdc",
    "regularity",
    "relation_edges",
    "violation",
    "violations",
]
