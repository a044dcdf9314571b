"""Terms: each adjusts log p(z_0) of the tokens that are drawn now, and all work with any sampler.

| term | what it does |
|---|---|
| `Allowed` | labels that an element may have, and where PAD may stand |
| `OnCanvas` | sizes and centres whose boxes lie on the canvas |
| `Possible` | values from which wishes can no longer be met are out |
| `Near` | weak wishes: values near a wished one become more likely |
| `Related` | relations, areas, aspect ratios and reading order |
| `KeepApart` | the last value of a box leaves the others free |
| `LeaveRoom` | sizes and x look ahead for room |
"""

from layoutdm.terms.allowed import Allowed
from layoutdm.terms.apart import Apart, KeepApart
from layoutdm.terms.canvas import OnCanvas
from layoutdm.terms.near import Near
from layoutdm.terms.possible import Possible
from layoutdm.terms.related import Related
from layoutdm.terms.room import LeaveRoom
from layoutdm.terms.rows import Rows, State, Term, View

__all__ = [
    "Allowed", "Apart", "KeepApart", "LeaveRoom", "Near", "OnCanvas", "Possible", "Related", "Rows",
    "State", "Term", "View",
]  # fmt: skip
