"""The pipeline: load a model, generate layouts.

model = layoutdm.load("rico25")
for result in model.generate({"elements": [{"label": "Toolbar"}], "more": True}, count=4):
    print(result.layout.labels, result.report.met)
"""

from layoutdm.diffusion.settings import Settings
from layoutdm.model.config import ModelConfig
from layoutdm.model.onnx import OnnxDenoiser
from layoutdm.model.pipeline import Model
from layoutdm.model.result import Frame, Result
from layoutdm.model.store import embedded, load

__all__ = [
    "Frame",
    "Model",
    "ModelConfig",
    "OnnxDenoiser",
    "Result",
    "Settings",
    "embedded",
    "load",
]
