"""Whether a page leads on to the first steps."""

from django import template
from django.template import RequestContext

from qanot_site import first_steps

register = template.Library()


@register.simple_tag(takes_context=True)
def steps_are_open(context: RequestContext) -> bool:
    """Return whether the first steps concern the reader and are not all done."""
    return first_steps.lead(context["request"].user)
