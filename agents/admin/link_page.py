"""The page that shows a new one-time link, once."""

from django.contrib.admin.options import ModelAdmin
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.cache import patch_cache_control
from django.views.decorators.debug import sensitive_variables


@sensitive_variables("link", "context")
def link_page(
    request: HttpRequest,
    page: "ModelAdmin[models.Model]",
    *,
    link: str,
    title: str,
    text: str,
    back: str,
    back_words: str,
) -> HttpResponse:
    """Return the page: nobody keeps it, and going back to it shows no link.

    Args:
        link: Path of the link, with its secret.
        back: Where one goes on; the browser's address bar shows it too.
    """
    context = {
        **page.admin_site.each_context(request),
        "opts": page.opts,
        "title": title,
        "text": text,
        "link": request.build_absolute_uri(link),
        "back": back,
        "back_words": back_words,
    }
    response = TemplateResponse(request, "admin/people/link_made.html", context)
    patch_cache_control(response, no_store=True, private=True)
    return response
