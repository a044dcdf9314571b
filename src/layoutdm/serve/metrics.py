"""Counters, gauges and histograms in the text form that Prometheus reads.

>>> metrics = Metrics()
>>> layouts = metrics.counter("layouts_total", "Layouts drawn.", "model")
>>> layouts.add(8, "rico25")
>>> print(metrics.text(), end="")
# HELP layoutdm_layouts_total Layouts drawn.
# TYPE layoutdm_layouts_total counter
layoutdm_layouts_total{model="rico25"} 8

A client library would be one more dependency for a hundred lines; label values are our own names
(routes, models, statuses), never a client's text, so their number stays bounded.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Iterator

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0)
PREFIX = "layoutdm_"


class Metric:
    """One name with its label names; a value for each combination of label values."""

    kind = "counter"

    def __init__(self, name: str, what: str, labels: tuple[str, ...]) -> None:
        self.name, self.what, self.labels = PREFIX + name, what, labels
        self.lock = threading.Lock()
        self.values: dict[tuple[str, ...], float] = {} if labels else {(): 0.0}

    def add(self, amount: float, *labels: str) -> None:
        with self.lock:
            self.values[labels] = self.values.get(labels, 0.0) + amount

    def lines(self) -> Iterator[str]:
        with self.lock:
            found = sorted(self.values.items())
        for labels, value in found:
            yield f"{self.name}{_labels(self.labels, labels)} {_number(value)}"


class Gauge(Metric):
    """A number that is read when someone asks."""

    kind = "gauge"

    def __init__(self, name: str, what: str, read: Callable[[], float]) -> None:
        super().__init__(name, what, ())
        self.read = read

    def lines(self) -> Iterator[str]:
        yield f"{self.name} {_number(self.read())}"


class Histogram(Metric):
    """How many observations were at most as large as each bound."""

    kind = "histogram"

    def __init__(
        self, name: str, what: str, labels: tuple[str, ...], bounds: tuple[float, ...]
    ) -> None:
        super().__init__(name, what, labels)
        self.bounds = bounds
        self.counts: dict[tuple[str, ...], list[int]] = {}

    def observe(self, value: float, *labels: str) -> None:
        with self.lock:
            counts = self.counts.setdefault(labels, [0] * (len(self.bounds) + 1))
            counts[bisect_left(self.bounds, value)] += 1
            self.values[labels] = self.values.get(labels, 0.0) + value

    def lines(self) -> Iterator[str]:
        with self.lock:
            found = [(key, list(counts), self.values[key]) for key, counts in self.counts.items()]
        for labels, counts, total in sorted(found):
            seen = 0
            for bound, number in zip((*map(_number, self.bounds), "+Inf"), counts, strict=True):
                seen += number
                yield f"{self.name}_bucket{_labels((*self.labels, 'le'), (*labels, bound))} {seen}"
            yield f"{self.name}_sum{_labels(self.labels, labels)} {_number(total)}"
            yield f"{self.name}_count{_labels(self.labels, labels)} {seen}"


class Metrics:
    """All metrics of one server."""

    def __init__(self) -> None:
        self._all: list[Metric] = []

    def counter(self, name: str, what: str, *labels: str) -> Metric:
        return self._kept(Metric(name, what, labels))

    def gauge(self, name: str, what: str, read: Callable[[], float]) -> Metric:
        return self._kept(Gauge(name, what, read))

    def histogram(
        self, name: str, what: str, *labels: str, bounds: tuple[float, ...] = SECONDS
    ) -> Histogram:
        made = Histogram(name, what, labels, bounds)
        self._all.append(made)
        return made

    def _kept(self, made: Metric) -> Metric:
        self._all.append(made)
        return made

    def text(self) -> str:
        parts = []
        for metric in self._all:
            parts += [f"# HELP {metric.name} {metric.what}", f"# TYPE {metric.name} {metric.kind}"]
            parts += metric.lines()
        return "\n".join(parts) + "\n"


def _labels(names: tuple[str, ...], values: tuple[str, ...]) -> str:
    if not names:
        return ""
    pairs = (f'{name}="{_quoted(value)}"' for name, value in zip(names, values, strict=True))
    return "{" + ",".join(pairs) + "}"


def _quoted(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() else repr(float(value))
