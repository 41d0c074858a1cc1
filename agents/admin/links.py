"""Links between admin pages."""

from collections.abc import Iterable
from urllib.parse import urlencode

from django.db import models
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

_LINK = '<a href="{}" class="text-primary-600 dark:text-primary-500 hover:underline">{}</a>'


def to_row(model: type[models.Model], pk: object, text: object) -> SafeString | str:
    """Return a link to one row's page; a dash where there is no row."""
    if pk is None:
        return "–"
    meta = model._meta
    address = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[pk])
    return format_html(_LINK, address, text)


def to_page(address: str, text: object) -> SafeString:
    """Return a link to a page of ours."""
    return format_html(_LINK, address, text)


def to_list(model: type[models.Model], text: object, **lookups: object) -> SafeString:
    """Return a link to a list of rows, narrowed by lookups that its page allows."""
    meta = model._meta
    address = reverse(f"admin:{meta.app_label}_{meta.model_name}_changelist")
    return format_html(_LINK, f"{address}?{urlencode(lookups)}", text)


def joined(links: Iterable[SafeString | str]) -> SafeString | str:
    """Return several links in one line; a dash where there are none."""
    return format_html_join(" · ", "{}", ((link,) for link in links)) or "–"
