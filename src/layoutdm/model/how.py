"""`How`: what a call of a model asks for besides requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from layoutdm.errors import LayoutdmError
from layoutdm.generator import Generator, Options
from layoutdm.model.asked import flag, whole

REQUIRE_TRIES = 20
DRAWS = 1  # of a request with wishes; the one that needs least settling is kept
MOST_TRIES = 100_000
RELATIONS = ("hold", "guided", "published")


@dataclass(frozen=True, eq=False)
class How:
    """What a model does with its requests, and which options of its generator were named."""

    changes: Mapping[str, Any]
    tries: int = 1
    trace: bool = False
    hold: bool = True  # make wishes hold
    draws: int = DRAWS
    tidy: bool = False

    @classmethod
    def of(cls, options: Mapping[str, Any], generator: Generator) -> How:
        """From the keyword arguments of a call; what is wrong is told before anything is drawn."""
        changes = dict(options)
        require = flag("require", changes.pop("require", False))
        trace = flag("trace", changes.pop("trace", False))
        tries = whole("tries", changes.pop("tries", REQUIRE_TRIES), 1, MOST_TRIES)
        draws = whole("draws", changes.pop("draws", DRAWS), 1, MOST_TRIES)
        tidy = flag("tidy", changes.pop("tidy", False))
        relations = changes.pop("relations", "hold")
        if relations not in RELATIONS:
            raise LayoutdmError(f"relations must be {' or '.join(RELATIONS)}, got {relations!r}")
        if trace and not hasattr(generator, "trace"):
            raise LayoutdmError(f"{generator.name} has no steps to trace; leave trace out")
        usual = generator.options()
        if hasattr(usual, "relations"):  # it may rule out what leads nowhere
            changes["relations"] = relations
        wanted = usual.replaced(**changes)
        if (check := getattr(generator, "check", None)) is not None:
            check(wanted)
        return cls(changes, tries if require else 1, trace, relations == "hold", draws, tidy)

    def options_of(self, usual: Options) -> Options:
        """A generator's usual options for a task, with what was named."""
        changes = self.changes
        own = getattr(usual, "relations", None) == "published"
        if own and changes.get("relations") == "guided":  # its own way to guide
            changes = {**changes, "relations": "published"}
        return usual.replaced(**changes)
