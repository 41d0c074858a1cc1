"""Reading and changing agents and their documents for a token's person."""

import re
from collections.abc import Collection, Mapping
from http import HTTPStatus
from typing import Final
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from agents.api import describing, foreign
from agents.api.problems import Problem
from agents.api.schemas import (
    AgentDetailOut,
    AgentPatch,
    DocumentIn,
    DocumentsOut,
    DocumentTextOut,
    LinkIn,
)
from agents.models import Agent, AgentDocument, ApiToken, ProviderAccount, User
from agents.services import access, documents, settings_of_agents
from agents.services.managed import ManagedByFile, refuse_edit
from agents.services.settings_of_agents import Place

ANY: Final = "*"
_TAG: Final = re.compile(r'"[^"]*"')


def agent_of(token: ApiToken, agent_id: UUID) -> tuple[AgentDetailOut, str]:
    """Return an agent with its settings, and its ETag.

    Raises:
        Problem: It is none of the team, or the person may not read settings.
    """
    _user(token, access.READERS)
    return describing.agent(_find(token, agent_id))


def change_agent(
    token: ApiToken, agent_id: UUID, patch: AgentPatch, *, if_match: str
) -> tuple[AgentDetailOut, str]:
    """Change an agent, if it still is what the caller has seen.

    Raises:
        Problem: It is not, something is none of the team, or the person may not.
    """
    user = _user(token, access.EDITORS)
    agent = _find(token, agent_id)
    chain = None if patch.chain is None else [_place(token, link) for link in patch.chain]
    sources = {
        name: _source(token, reference) for name, reference in (patch.documents or {}).items()
    }
    _check_names(sources)
    values = {
        name: getattr(patch, name)
        for name in patch.model_fields_set & set(settings_of_agents.COLUMNS)
        if getattr(patch, name) is not None or name == "daily_cap_usd"
    }
    with transaction.atomic():
        agent = Agent.objects.select_for_update().get(pk=agent.pk)
        _check_match(describing.agent(agent)[1], if_match)
        _check_file(agent)
        try:
            settings_of_agents.change(
                agent,
                values=values,
                chain=chain,
                tools=patch.tools,
                by=user,
                through=_through(token),
            )
        except ValidationError as exc:
            raise _invalid(exc) from exc
        for name, source in sources.items():
            _take_over(agent, name, source, user, token)
        return describing.agent(agent)


def documents_of(token: ApiToken, agent_id: UUID) -> DocumentsOut:
    """Return an agent's documents, without those of single persons.

    Raises:
        Problem: The agent is none of the team, or the person may not read settings.
    """
    _user(token, access.READERS)
    agent = _find(token, agent_id)
    return describing.documents(agent)


def document_of(token: ApiToken, agent_id: UUID, name: str) -> tuple[DocumentTextOut, str]:
    """Return a document with its text, and its ETag.

    Raises:
        Problem: There is none, or the person may not read it.
    """
    _user(token, access.READERS)
    agent = _find(token, agent_id)
    row = describing.shared(agent).filter(name=name).first()
    if row is None:
        raise _no_document()
    return describing.document(agent, row)


def put_document(
    token: ApiToken,
    agent_id: UUID,
    name: str,
    new: DocumentIn,
    *,
    if_match: str,
    if_none_match: str,
) -> tuple[DocumentTextOut, str, bool]:
    """Give a document a new text as a version, or make it.

    Args:
        if_match: The ETag of the version that the caller has seen.
        if_none_match: ``*`` to make a document that must not be there yet.

    Returns:
        The document, its ETag, and whether it is new.

    Raises:
        Problem: It has another version by now, or the person may not.
    """
    user = _user(token, access.EDITORS)
    agent = _find(token, agent_id)
    with transaction.atomic():
        # The agent's row stands for a document that is not there yet: two makers take turns. Who
        # waited for a file to be applied sees that it owns the agent now.
        agent = Agent.objects.select_for_update().get(pk=agent.pk)
        row = describing.shared(agent).filter(name=name).select_for_update().first()
        is_new = row is None
        if if_none_match == ANY:
            if row is not None:
                raise _changed_meanwhile()
        else:
            _check_match(None if row is None else describing.tag_of(row), if_match)
        row = row or AgentDocument(agent=agent, name=name)
        _save(row, new.text, user, new.reason, token)
    return (*describing.document(agent, row), is_new)


# Who asks, and for what.


def _user(token: ApiToken, roles: Collection[str]) -> User:
    """Return the token's user if they have one of the roles right now."""
    user = token.person.user
    if user is None or not access.has_role(user, token.team_id, roles):
        raise Problem(
            HTTPStatus.FORBIDDEN,
            "role_missing",
            _("The person of this token needs the role %(roles)s for that.")
            % {"roles": " / ".join(sorted(roles))},
        )
    return user


def _find(token: ApiToken, agent_id: UUID) -> Agent:
    everybodys = Agent.objects.filter(public_id=agent_id)
    agent = everybodys.filter(team_id=token.team_id, archived_at=None).first()
    if agent is None:
        raise foreign.missing(
            token,
            _("There is no such agent."),
            what=f"agent:{agent_id}",
            others=everybodys.exclude(team_id=token.team_id),
        )
    return agent


def _place(token: ApiToken, link: LinkIn) -> Place:
    account = ProviderAccount.objects.filter(name=link.account, team_id=token.team_id).first()
    if account is None:
        raise foreign.missing(
            token,
            _("There is no such provider account."),
            what=f"account:{link.account}",
            others=None,
        )
    return Place(account, link.model)


def _source(token: ApiToken, reference: str) -> AgentDocument:
    """Return the document that a reference names, ``<agent id>/<name>``."""
    agent_id, _separator, name = reference.partition("/")
    try:
        agent = _find(token, UUID(agent_id))
    except ValueError:
        raise _no_document() from None
    found = describing.shared(agent).filter(name=name).first()
    if found is None:
        raise _no_document()
    return found


# What may not be.


def _check_names(names: Mapping[str, AgentDocument]) -> None:
    for name in names:
        try:
            AgentDocument(name=name).clean_fields(exclude=("agent", "text", "person"))
        except ValidationError as exc:
            raise _invalid(ValidationError({"documents": exc.messages})) from exc
        if name == "USER.md":
            raise _no_document()


def _check_match(tag: str | None, if_match: str) -> None:
    if not if_match:
        raise Problem(
            HTTPStatus.PRECONDITION_REQUIRED,
            "precondition_required",
            _("Send If-Match with the ETag that you have read, so that nobody's work is lost."),
        )
    if tag is None or (if_match.strip() != ANY and tag not in _TAG.findall(if_match)):
        raise _changed_meanwhile()


def _check_file(agent: Agent) -> None:
    try:
        refuse_edit(agent)
    except ManagedByFile as exc:
        raise _managed(exc) from exc


def _managed(exc: ManagedByFile) -> Problem:
    return Problem(HTTPStatus.CONFLICT, "managed_by_file", str(exc))


def _changed_meanwhile() -> Problem:
    return Problem(
        HTTPStatus.PRECONDITION_FAILED,
        "precondition_failed",
        _("It has changed since you read it. Read it again, then repeat your change."),
    )


def _no_document() -> Problem:
    return Problem(HTTPStatus.NOT_FOUND, "not_found", _("There is no such document."))


def _invalid(exc: ValidationError) -> Problem:
    problem = Problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        "invalid",
        _("Some fields are not as they should be."),
    )
    problem.errors = [
        {"field": f"body.{field}", "code": "invalid", "detail": " ".join(told)}
        for field, told in exc.message_dict.items()
    ]
    return problem


# What is done.


def _take_over(agent: Agent, name: str, source: AgentDocument, user: User, token: ApiToken) -> None:
    row = describing.shared(agent).filter(name=name).first() or AgentDocument(
        agent=agent, name=name
    )
    reason = _("Taken over from %(agent)s") % {"agent": source.agent.name}
    _save(row, source.text, user, reason[:300], token)


def _save(row: AgentDocument, text: str, user: User, reason: str, token: ApiToken) -> None:
    try:
        documents.save(row, text=text, author=user, reason=reason, through=_through(token))
    except ManagedByFile as exc:
        raise _managed(exc) from exc


def _through(token: ApiToken) -> str:
    return f"token:{token.pk} · {token}"
