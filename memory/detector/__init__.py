"""Finds what a person's message says that is worth keeping; plain Python, no model, linear time.

`scan` gives the hits. One pack a language holds the words; what needs no language (addresses,
dates in figures, secrets) stands in `values` and `secrets`.
"""

from memory.detector.folding import APOSTROPHES, straighten
from memory.detector.hits import Category, Hit, PackName
from memory.detector.scanning import SCANNED_CHARACTERS, scan
from memory.detector.secrets import mask_secrets

__all__ = [
    "APOSTROPHES",
    "SCANNED_CHARACTERS",
    "Category",
    "Hit",
    "PackName",
    "mask_secrets",
    "scan",
    "straighten",
]
