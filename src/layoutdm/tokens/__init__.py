"""Bins and the tokenizer: layouts to arrays of small integers and back."""

from layoutdm.tokens.bins import Bins, cells, fit_bins, split_bins, uniform_bins
from layoutdm.tokens.tokenizer import MODALITIES, Decoded, Tokenizer

__all__ = [
    "MODALITIES", "Bins", "Decoded", "Tokenizer", "cells", "fit_bins", "split_bins", "uniform_bins",
]  # fmt: skip
