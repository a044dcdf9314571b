"""Bins and the tokenizer: layouts to arrays of small integers and back."""

from layoutdm.tokens.bins import Bins, fit_bins, uniform_bins
from layoutdm.tokens.tokenizer import MODALITIES, Decoded, Tokenizer

__all__ = ["MODALITIES", "Bins", "Decoded", "Tokenizer", "fit_bins", "uniform_bins"]
