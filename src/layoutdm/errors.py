"""The one exception that user mistakes raise, and how messages quote what users wrote.

>>> shown("a" * 100)
"'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..."
"""


class LayoutdmError(ValueError):
    """Bad input, said in one sentence: what was wrong, where, and what would be right."""


def shown(value: object, length: int = 60) -> str:
    """A value as it is quoted in a message: never longer than a line."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits, a deep tree
        return f"a {type(value).__name__} that is too large to show"
    return text if len(text) <= length else text[: length - 3] + "..."


class RefusedError(LayoutdmError):
    """A request that a system cannot draw for, whatever it says in detail."""
