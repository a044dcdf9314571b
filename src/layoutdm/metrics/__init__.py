"""Metrics over plain numpy arrays: boxes, labels and a mask."""

from layoutdm.metrics.alignment import alignment, alignments, batch_padding
from layoutdm.metrics.fid import fid, frechet_distance
from layoutdm.metrics.max_iou import max_iou, max_ious
from layoutdm.metrics.overlap import overlap, overlaps
from layoutdm.metrics.pack import Layouts, Packed, as_packed, pack
from layoutdm.metrics.prdc import PRDC, prdc

__all__ = [
    "PRDC",
    "Layouts",
    "Packed",
    "alignment",
    "alignments",
    "as_packed",
    "batch_padding",
    "fid",
    "frechet_distance",
    "max_iou",
    "max_ious",
    "overlap",
    "overlaps",
    "pack",
    "prdc",
]
