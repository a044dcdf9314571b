"""The plan: what is decided before any box is drawn (number of elements, labels, reading order)."""

from layoutdm.plan.batch import Batch, begin
from layoutdm.plan.labels import LabelModel
from layoutdm.plan.number import draw_numbers
from layoutdm.plan.order import set_order

__all__ = ["Batch", "LabelModel", "begin", "draw_numbers", "set_order"]
