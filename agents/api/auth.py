"""Bearer tokens: who asks, and whether they may."""

from http import HTTPStatus

from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from ninja.security import HttpBearer

from agents.api.problems import Problem
from agents.db import in_db
from agents.models import ApiToken
from agents.services import tokens


class ApiRequest(HttpRequest):
    """A request that a token has authenticated."""

    auth: ApiToken


class BearerToken(HttpBearer):
    """Reads ``Authorization: Bearer qanot_…``.

    Args:
        scopes: One of them is enough.
    """

    def __init__(self, *scopes: ApiToken.Scope) -> None:
        super().__init__()
        self._scopes = scopes

    async def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        """Return the token's row, or None for a secret that is not good.

        Raises:
            Problem: The token is good, but not for this operation.
        """
        found = await in_db(tokens.verify, token)
        if found is not None and not set(self._scopes) & set(found.scopes):
            wanted = self._scopes[0].value
            raise Problem(
                HTTPStatus.FORBIDDEN,
                "scope_missing",
                _("This token lacks the scope “%(scope)s”.") % {"scope": wanted},
                headers={
                    "WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{wanted}"'
                },
            )
        return found
