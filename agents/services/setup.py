"""What a fresh install begins with."""

import os
from dataclasses import dataclass

from django.db import transaction

from agents.models import (
    Agent,
    ChainLink,
    Membership,
    ProviderAccount,
    Team,
    ToolGrant,
    User,
)
from agents.services import accounts, people, personas

FIRST_TOOLS = (
    "current_time",
    "daily_note",
    "memory_append",
    "memory_edit",
    "memory_recalled",
    "memory_search",
    "propose_document",
    "read_file",
    "remember_fact",
    "send_file",
    "session_status",
    "update_user_document",
)


@dataclass(frozen=True, slots=True)
class SetupResult:
    """The owner, team and agent of this deployment's first team."""

    owner: User
    team: Team
    agent: Agent


@dataclass(frozen=True, slots=True)
class KeyAccount:
    """An account made when its provider's usual variable, or that of a file, is set."""

    variable: str
    kind: ProviderAccount.Kind
    name: str
    model: str
    window_tokens: int


# Models and windows as listed by genai-prices 0.2 and the SDKs (November 2026); both are
# columns that the team may change.
KEY_ACCOUNTS = (
    KeyAccount(
        "ANTHROPIC_API_KEY",
        ProviderAccount.Kind.ANTHROPIC,
        "Anthropic",
        "claude-sonnet-5-5",
        1_000_000,
    ),
    KeyAccount("OPENAI_API_KEY", ProviderAccount.Kind.OPENAI, "OpenAI", "gpt-6-sol", 1_050_000),
)


@transaction.atomic
def ensure_first_team() -> SetupResult:
    """Make the first team, its owner and its agent, where they are missing.

    Safe to repeat: a second call returns the same rows and touches nothing that was edited.
    Accounts whose key was refused get another try, as it may be a new key by now.
    """
    team = Team.objects.order_by("id").first() or Team.objects.create(name="Qanot", slug="qanot")
    owner = _ensure_owner(team)
    agent = Agent.objects.filter(team=team).order_by("id").first() or _first_agent(team)
    _ensure_key_accounts(team, agent)
    accounts.forgive_refused()
    return SetupResult(owner=owner, team=team, agent=agent)


def _ensure_owner(team: Team) -> User:
    membership = (
        Membership.objects.filter(team=team, role=Membership.Role.OWNER, user__is_superuser=True)
        .select_related("user")
        .order_by("id")
        .first()
    )
    if membership is not None:
        return membership.user
    owner = User.objects.filter(is_superuser=True).order_by("id").first()
    if owner is None:
        # No password: the first way in is the login link; `changepassword` sets one.
        owner = User.objects.create_superuser("owner", first_name="Owner")
    Membership.objects.create(user=owner, team=team, role=Membership.Role.OWNER)
    people.person_of(owner, team)
    return owner


def _first_agent(team: Team) -> Agent:
    agent = Agent.objects.create(team=team, name="Qanot", slug="qanot")
    personas.apply_template(agent, personas.FIRST, agent.language, author=None)
    ToolGrant.objects.bulk_create([ToolGrant(agent=agent, tool=name) for name in FIRST_TOOLS])
    return agent


def _ensure_key_accounts(team: Team, agent: Agent) -> None:
    for known in KEY_ACCOUNTS:
        if not _is_set(known.variable):
            continue
        account, is_new = ProviderAccount.objects.get_or_create(
            team=team,
            key_reference=f"env:{known.variable}",
            defaults={"name": known.name, "kind": known.kind, "preset": known.kind.value},
        )
        # What a file owns gets its chain from there.
        if is_new and not agent.managed_by:
            ChainLink.objects.create(
                agent=agent,
                account=account,
                position=agent.chain_links.count(),
                model=known.model,
                window_tokens=known.window_tokens,
            )


def _is_set(variable: str) -> bool:
    return any(os.environ.get(name, "").strip() for name in (variable, f"{variable}_FILE"))
