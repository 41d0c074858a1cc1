"""What the language menu shows."""

from django import template
from django.conf import settings

register = template.Library()


@register.simple_tag
def language_names() -> list[tuple[str, str]]:
    """Return code and name of each language, the name in the language itself.

    Django's own tag would translate the names into the active language.
    """
    return [(code, str(name)) for code, name in settings.LANGUAGES]
