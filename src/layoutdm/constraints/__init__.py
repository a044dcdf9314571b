"""What makes a sampler honour a condition: priors near a value, energies, and a report after.

In short:
- relations.py: `Relation` (numbers), `detect_size`, `detect_location`, `detect_canvas_location`,
  `detect_all(boxes)`; `relation_name(code, canvas)`.
- weak.py: `condition_priors(condition, centres) -> [x, y, width, height arrays (n, K)] | None`,
  what to add to log p of the attribute's own bins in every step; `log_prior` for one attribute.
- energies.py: `Edges.from_conditions([condition, ...])` (flat arrays for a batch of different
  layouts), then `guide = Guide(edges, centres)` once per batch, and in every step
  `guide.update(log_probs, strength=..., updates=3)`, in place on four arrays (B, S, K_a), or
  views, of the own bins of x, y, width, height. `guide.energy(probs) -> (B,)`,
  `guide.energy_and_gradient(probs) -> (B,), [4 arrays like probs]`. Options of update:
  `relaxation` "bins" (default; the expected energy) or "box" (published), `variable`, `keep_mass`.
- report.py: `report(condition, layout) -> Report` with `.met`, `.score` (1 is best), `.wishes`,
  `.as_dict()`.

`centres` is always a sequence of four arrays: the bin centres of x, y, width, height.
"""

from __future__ import annotations

from layoutdm.constraints.energies import Edges, Guide
from layoutdm.constraints.relations import CANVAS, Relation, relation_name
from layoutdm.constraints.report import Report, Wish, report
from layoutdm.constraints.weak import Prior, condition_priors, log_prior

__all__ = [
    "CANVAS",
    "Edges",
    "Guide",
    "Prior",
    "Relation",
    "Report",
    "Wish",
    "condition_priors",
    "log_prior",
    "relation_name",
    "report",
]
