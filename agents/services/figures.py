"""Figures in words, as every page shows them."""

from django.utils.translation import ngettext


def grouped(value: int) -> str:
    """Return a figure that can be read at a glance."""
    # A narrow no-break space groups digits in every language that we speak.
    return f"{value:,}".replace(",", "\u202f")


def characters(count: int) -> str:
    """Return a text's length in words."""
    return ngettext("%(n)s character", "%(n)s characters", count) % {"n": grouped(count)}
