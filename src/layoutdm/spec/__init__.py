"""The request: what the user knows about a layout.

>>> from layoutdm.spec import Condition, Spec
>>> spec = Spec.parse({"elements": [{"label": "title"}, {"label": "text", "x": 0.5}]})
>>> spec.check(labels=("title", "text"), max_elements=25)   # [] or Problems (path, message)
[]
>>> Condition.from_spec(spec, labels=("title", "text"), max_elements=25).fixed.shape
(2, 4)

In short:
- `Spec.parse(dict | JSON text | Path | Spec | None)`: validated; a bad one raises SpecError (a
  LayoutdmError with `.problems`), all problems at once.
- `spec.check(labels, max_elements) -> list[Problem]`, `spec.ensure(...)` raises them.
- `Spec.from_layout(layout, task=..., seed=0, **options)`: the paper's task inputs.
- `Spec.json_schema()`, `spec.as_dict()`.
- `Condition.from_spec(spec, labels, max_elements)`: checks, then arrays (see condition.py for
  every field). Listed element k is row k; results carry the listed elements first, in that order.
"""

from __future__ import annotations

from layoutdm.spec.condition import Condition
from layoutdm.spec.model import About, ElementSpec, NumberRange, RelationSpec, Spec
from layoutdm.spec.problems import Problem, SpecError
from layoutdm.spec.tasks import TASKS

__all__ = [
    "TASKS",
    "About",
    "Condition",
    "ElementSpec",
    "NumberRange",
    "Problem",
    "RelationSpec",
    "Spec",
    "SpecError",
]
