"""What a step costs apart from the network, as a share of the network's own time.

    python bench/sampler_overhead.py [--model rico25] [--slots 12] [--batch 1]

The network's time is taken off the time of the same runs. The goal is a share below 0.2 at batch 1
and at batch 64. Processor time is used, so that other programs matter less.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass, replace
from typing import Any

import layoutdm
from layoutdm.diffusion.network import Denoiser, Prediction, Query, Traits
from layoutdm.diffusion.streams import stream
from layoutdm.generator.layoutdm import LayoutDM
from layoutdm.generator.options import LayoutDMOptions
from layoutdm.model import Model
from layoutdm.spec import Condition, Spec


@dataclass
class Timed:
    """Counts the calls of a denoiser and the processor time they take."""

    inner: Denoiser
    calls: int = 0
    seconds: float = 0.0

    @property
    def traits(self) -> Traits:
        return self.inner.traits

    def __call__(self, query: Query) -> Prediction:
        start = time.process_time()
        answer = self.inner(query)
        self.calls, self.seconds = self.calls + 1, self.seconds + time.process_time() - start
        return answer


IN_TURN = LayoutDMOptions(steps=30)
# Ten steps for a dozen elements: some share them.
WAYS = {
    "labels": IN_TURN,
    "labels, few steps": IN_TURN.replaced(steps=10),
    "labels, not kept apart": IN_TURN.replaced(keep_apart=False),
    "labels, the paper's sampler": LayoutDMOptions(sampler="plain"),
    "drafts": IN_TURN,
    "relations": IN_TURN,
    "relations, the paper's sampler": LayoutDMOptions(sampler="plain"),
}


def requests(model: Model, slots: int) -> dict[str, dict[str, Any]]:
    """One of each way to step: decided tokens only, weak priors, relation guidance."""
    labels = [model.labels[i % len(model.labels)] for i in range(slots)]
    named = [{"name": f"e{i}", "label": label} for i, label in enumerate(labels)]
    return {
        "labels": {"elements": named},
        "drafts": {"elements": [{**e, "y": {"about": 0.5, "strength": 3.0}} for e in named]},
        "relations": {
            "elements": named,
            "relations": [
                {"of": f"e{i}", "is": "below", "to": f"e{i - 1}"} for i in range(1, slots, 2)
            ],
        },
    }


def measure(
    model: Model, spec: Spec, options: LayoutDMOptions, size: int, repeats: int
) -> dict[str, float]:
    assert isinstance(model.generator, LayoutDM)
    condition = Condition.from_spec(spec, model.labels, model.max_elements)
    timed = Timed(model.generator.denoiser)
    generator = replace(model.generator, denoiser=timed)
    conditions = [condition] * size
    generator.draw(conditions, options, [stream(repeats, i) for i in range(size)])  # warm up
    timed.calls, timed.seconds = 0, 0.0
    start = time.process_time()
    for repeat in range(repeats):
        generator.draw(conditions, options, [stream(repeat, i) for i in range(size)])
    rest = (time.process_time() - start - timed.seconds) / timed.calls
    network = timed.seconds / timed.calls
    return {"network_ms": network * 1e3, "rest_ms": rest * 1e3, "share": rest / network}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="rico25")
    parser.add_argument("--slots", type=int, default=12)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--batch", type=int, action="append", help="1 and 64 unless told")
    arguments = parser.parse_args()
    model = layoutdm.load(arguments.model, threads=1)
    asked = requests(model, arguments.slots)
    for name, options in WAYS.items():
        spec = Spec.parse(asked[name.split(",")[0]])
        for size in arguments.batch or (1, 64):
            row = measure(model, spec, options, size, arguments.repeats)
            rounded = {key: round(value, 3) for key, value in row.items()}
            found = {"model": model.name, "request": name, "batch": size, **rounded}
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
