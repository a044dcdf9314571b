"""Making wishes hold: a drawn layout is moved as little as possible until every wish is met.

>>> import numpy as np
>>> from layoutdm.spec import Condition, Spec
>>> spec = Spec.parse({"elements": [{"name": "bar", "y": 0.05, "height": 0.1}, {"name": "hero"}],
...                    "relations": [{"of": "hero", "is": "below", "to": "bar"}]})
>>> condition = Condition.from_spec(spec, ("text",), 5)
>>> drawn = np.array([[0.5, 0.05, 1.0, 0.1], [0.5, 0.24, 0.8, 0.3]])    # 0.01 too high
>>> settle(condition, drawn, np.zeros(2, np.intp)).boxes[1].round(3).tolist()
[0.5, 0.25, 0.8, 0.3]
"""

from layoutdm.settle.obstacles import obstacles
from layoutdm.settle.settle import Settled, has_wishes, is_draft, pins, settle
from layoutdm.settle.tidy import tidy, tidy_boxes

__all__ = ["Settled", "has_wishes", "is_draft", "obstacles", "pins", "settle", "tidy", "tidy_boxes"]
