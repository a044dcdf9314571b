"""The one exception that user mistakes raise."""


class LayoutdmError(ValueError):
    """Bad input, said in one sentence: what was wrong, where, and what would be right."""
