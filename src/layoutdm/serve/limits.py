"""What the server allows: one frozen value, stated in /v1/health, set on the command line.

>>> Limits(count=16).as_dict()["count"]
16
>>> Limits(count=0)
Traceback (most recent call last):
    ...
layoutdm.errors.LayoutdmError: limit count must be a whole number from 1, got 0
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields

from layoutdm.errors import LayoutdmError


def _limit(default: int, what: str) -> int:
    value: int = field(default=default, metadata={"help": what})
    return value


@dataclass(frozen=True)
class Limits:
    """Every bound of the server; a request beyond one is refused with a sentence that names it."""

    body_bytes: int = _limit(2 * 2**20, "bytes of a request's body")
    depth: int = _limit(32, "levels of nesting in a body")
    elements: int = _limit(100, "elements of a request or a layout")
    relations: int = _limit(2_000, "relations of a request")
    count: int = _limit(256, "layouts of one /v1/generate")
    steps: int = _limit(200, "steps of the sampler")
    tries: int = _limit(20, "attempts a layout, with require")
    seconds: int = _limit(60, "seconds that a request may wait and be drawn")
    header_seconds: int = _limit(15, "seconds in which the headers of a request must arrive")
    body_seconds: int = _limit(15, "seconds in which a body must arrive")
    waiting: int = _limit(4_096, "layouts that may wait to be drawn")
    batch: int = _limit(128, "layouts that are drawn together")
    connections: int = _limit(1_000, "requests that are answered at the same time")
    convert_layouts: int = _limit(500, "layouts of one /v1/convert or /v1/tidy")
    drawn_elements: int = _limit(2_500, "elements of one /v1/convert into pictures")
    tidy_elements: int = _limit(40, "elements of each layout of a /v1/tidy")
    converting: int = _limit(32, "conversions at work or waiting")
    job_count: int = _limit(100_000, "layouts of one job")
    jobs: int = _limit(100, "jobs that are kept, finished ones included")

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise LayoutdmError(
                    f"limit {item.name} must be a whole number from 1, got {value!r}"
                )
        if self.count > self.waiting:
            raise LayoutdmError(
                f"limit waiting ({self.waiting:,}) must not be below limit count "
                f"({self.count:,}), or a whole request could never wait"
            )

    def as_dict(self) -> dict[str, int]:
        return asdict(self)

    @classmethod
    def from_pairs(cls, pairs: list[str]) -> Limits:
        """From NAME=NUMBER, as --limit takes them.

        >>> Limits.from_pairs(["count=64", "seconds=5"]).seconds
        5
        """
        known = [item.name for item in fields(cls)]
        given: dict[str, int] = {}
        for pair in pairs:
            name, equals, text = pair.partition("=")
            digits = text.strip().replace("_", "")
            if not equals or not digits.isascii() or not digits.isdigit() or len(digits) > 15:
                raise LayoutdmError(f"--limit: write NAME=NUMBER, such as count=64; got {pair!r}")
            if name.strip() not in known:
                from layoutdm.spec.problems import suggestion

                hint = suggestion(name.strip(), known, "limits", shown=len(known))
                raise LayoutdmError(f"--limit: {name.strip()!r} is unknown; {hint}")
            given[name.strip()] = int(digits)
        return cls(**given)
