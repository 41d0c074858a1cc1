"""The Content-Security-Policy: strict for our pages, one narrower exception for the admin."""

from csp.constants import NONCE, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from csp.middleware import CSPMiddleware, PolicyParts
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse

# Unfold's Alpine compiles its attributes (unsafe-eval) and its pages carry style attributes.
# A nonce would make browsers ignore unsafe-inline, so the styles have none.
ADMIN_DIRECTIVES = {
    "script-src": [SELF, NONCE, UNSAFE_EVAL],
    "style-src": [SELF, UNSAFE_INLINE],
}


class ContentSecurityPolicyMiddleware(CSPMiddleware):
    """Adds the policy of `settings.CONTENT_SECURITY_POLICY`, relaxed below the admin's address."""

    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        parts = super().get_policy_parts(request, response, report_only)
        if request.path_info.startswith(reverse("admin:index")):
            parts.replace = {**ADMIN_DIRECTIVES, **(parts.replace or {})}
        return parts
