"""The paper's three priors of a weak wish, each in the paper's and in the published code's form."""

from __future__ import annotations

from enum import IntEnum

NO_PRIOR = -1


class Prior(IntEnum):
    """Odd numbers are the code's forms; terms/near.py has the formulas."""

    DEFAULT_PAPER = 0
    DEFAULT_CODE = 1
    GAUSSIAN_PAPER = 2
    GAUSSIAN_CODE = 3
    NEGATION_PAPER = 4
    NEGATION_CODE = 5

    @classmethod
    def select(cls, kind: str, form: str | None = None) -> Prior:
        """By kind and form; without a form the one that works best: gaussian the code's, as the
        paper's has a sign error, the others the paper's, which use the exact value."""
        form = form or ("code" if kind == "gaussian" else "paper")
        return cls[f"{kind}_{form}".upper()]
