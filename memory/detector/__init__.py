"""Finds what a person's message says that is worth keeping; plain Python, no model, linear time.

`scan` gives the hits. One pack a language holds the words as data (`packs`), written in the small
language of `patterns`; `scanning` finds the sentences worth reading, `reading` reads one with one
pack. What needs no language stands in `values`, `secrets` and `remembering`.
"""

from memory.detector.folding import APOSTROPHES, straighten
from memory.detector.hits import Category, Hit, PackName
from memory.detector.scanning import Report, scan, scan_report
from memory.detector.secrets import mask_secrets

__all__ = [
    "APOSTROPHES",
    "Category",
    "Hit",
    "PackName",
    "Report",
    "mask_secrets",
    "scan",
    "scan_report",
    "straighten",
]
