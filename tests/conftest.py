"""How hypothesis looks for examples in the whole suite: the same ones every time, without a clock.

python -m pytest --hypothesis-profile=search    # other examples each time
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A busy machine is no fault of the code: neither one slow example nor slow drawing of them.
PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("search", **PATIENT)
settings.register_profile("suite", **PATIENT, derandomize=True)
settings.load_profile("suite")
