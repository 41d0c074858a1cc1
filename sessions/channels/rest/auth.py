"""Bearer tokens: who asks, and whether they may."""

from http import HTTPStatus

from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from ninja.security import HttpBearer

from agents.db import in_db
from agents.models import ApiToken
from agents.services import tokens
from sessions.channels.rest.problems import Problem


class ApiRequest(HttpRequest):
    """A request that a token has authenticated."""

    auth: ApiToken


class BearerToken(HttpBearer):
    """Reads ``Authorization: Bearer qanot_…``."""

    async def authenticate(self, request: HttpRequest, token: str) -> ApiToken | None:
        """Return the token's row, or None for a secret that is not good.

        Raises:
            Problem: The token is good, but not for this API.
        """
        found = await in_db(tokens.verify, token)
        if found is not None and ApiToken.Scope.CHAT not in found.scopes:
            raise Problem(
                HTTPStatus.FORBIDDEN,
                "scope_missing",
                _("This token lacks the scope “chat”."),
                headers={"WWW-Authenticate": 'Bearer error="insufficient_scope", scope="chat"'},
            )
        return found
