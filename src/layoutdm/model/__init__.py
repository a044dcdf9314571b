"""Models: load one, generate layouts.

model = layoutdm.load("rico25")
for result in model.generate({"elements": [{"label": "Toolbar"}], "more": True}, count=4):
    print(result.layout.labels, result.report.met)
"""

from layoutdm.generator import Frame
from layoutdm.model.model import Model, Request
from layoutdm.model.result import Result
from layoutdm.model.store import embedded, load

__all__ = ["Frame", "Model", "Request", "Result", "embedded", "load"]
