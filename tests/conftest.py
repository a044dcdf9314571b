"""What the whole suite shares: how hypothesis looks for examples, and threads.

python -m pytest --hypothesis-profile=search    # other examples each time; the suite's are fixed
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

# The networks of tests are so small that a second thread of torch only waits for the first, here
# and in the processes that tests start.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# A busy machine is no fault of the code: neither one slow example nor slow drawing of them.
PATIENT = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

settings.register_profile("search", **PATIENT)
settings.register_profile("suite", **PATIENT, derandomize=True)
settings.load_profile("suite")
