"""Connecting a model: which ones an account has, whether one answers, and keeping what answered.

A draft is an account that may not be stored yet, with its key in clear beside it: it lives as long
as one request and is never logged. A test leaves a ticket behind, signed, so that what was tested
can be saved without asking twice, and so that nothing else can.
"""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final
from uuid import uuid4

from django.core import signing
from django.db import transaction
from django.utils.crypto import constant_time_compare, salted_hmac
from pydantic import TypeAdapter, ValidationError

from agents.core.errors import (
    Overloaded,
    ProviderError,
    ProviderTimeout,
    Redirected,
    RequestRefused,
    StreamBroken,
)
from agents.core.events import Done
from agents.core.messages import Usage, UserMessage
from agents.core.protocols import FREE, ListsModels, ModelCall, ModelInfo, Provider
from agents.models import Agent, ChainLink, ProviderAccount, UsageRecord, User
from agents.net import Guard
from agents.providers import ollama, open_provider, warm
from agents.services import accounts, audit, catalogue, chain, keys, ledger, managed, secrets
from agents.services.catalogue import ModelFacts

QUESTION: Final = "Reply with the single word: OK"
# Room for a model that thinks before it says its word.
TEST_OUTPUT_TOKENS: Final = 512
# What an answer may take once it has begun.
ANSWER_S: Final = 60
LIST_S: Final = 20
MAX_MODELS: Final = 500
TICKET_AGE_S: Final = 3_600

_SALT: Final = "agents.services.connecting"
_FACTS: Final = TypeAdapter(ModelFacts)
# What to propose, the best first; of those that match, the newest by its numbers.
_PREFERRED: Final = {
    "anthropic": (r"^claude-sonnet", r"^claude"),
    "openai": (r"^gpt-[\d.]+(-sol)?$", r"^gpt-[\d.]+-mini$", r"^gpt"),
    "gemini": (r"gemini-[\d.]+-flash$", r"gemini-[\d.]+-pro$", r"gemini.*flash"),
    "groq": (r"gpt-oss-120b", r"llama-[\d.]+-70b", r"llama"),
}
_UNUSUAL: Final = re.compile(r"preview|exp|beta|audio|image|live|search|codex|guard|vision|\d{8}")


@dataclass(frozen=True, slots=True)
class Draft:
    """An account as it would be asked.

    Args:
        account: Stored or not.
        key: In clear; empty where the server wants none.
    """

    account: ProviderAccount
    key: str = field(default="", repr=False)

    @property
    def is_stored(self) -> bool:
        """Return whether the account has its row already."""
        return not self.account._state.adding

    @property
    def is_ollama(self) -> bool:
        """Return whether it speaks Ollama's own API too."""
        return self.account.preset == "ollama"


@dataclass(frozen=True, slots=True)
class Tested:
    """A model that answered."""

    facts: ModelFacts
    usage: Usage | None
    seconds: float


def draft_of(account: ProviderAccount) -> Draft:
    """Return a stored account with its key.

    Raises:
        AuthenticationFailed: The key cannot be had.
    """
    return Draft(account, keys.key_of(account))


def prepare(draft: Draft) -> None:
    """Import what asking needs, so that the event loop does not wait for it."""
    warm(draft.account.kind)


# --- asking ------------------------------------------------------------------------------------


async def list_models(draft: Draft) -> tuple[ModelFacts, ...]:
    """Return the account's models, in the provider's order.

    Raises:
        ProviderError: It did not answer, or knows no such list.
    """
    said = await _listed(draft)
    return tuple(_facts(draft, info) for info in said[:MAX_MODELS])


async def find_ollama(draft: Draft) -> tuple[ModelFacts, ...] | None:
    """Return the models of an Ollama; None where nobody answers at the address."""
    found = await ollama.probe(draft.account.base_url, guard=_guard(draft.account))
    return None if found is None else tuple(_facts(draft, info) for info in found)


async def test(draft: Draft, model: str) -> Tested:
    """Ask a model one tiny question, for real.

    Raises:
        ProviderError: It did not answer; the detail is the provider's, without the key.
    """
    began = time.monotonic()
    limits = chain.limits(draft.account)
    try:
        async with asyncio.timeout(limits.first_event_s + ANSWER_S), _opened(draft) as provider:
            usage = await _ask(provider, model)
    except TimeoutError as exc:
        raise ProviderTimeout("no answer came in time") from exc
    seconds = time.monotonic() - began
    return Tested(await _facts_after(draft, model), usage, seconds)


async def _listed(draft: Draft) -> tuple[ModelInfo, ...]:
    try:
        async with asyncio.timeout(LIST_S):
            if draft.is_ollama:
                found = await ollama.probe(draft.account.base_url, guard=_guard(draft.account))
                if found is None:
                    raise Overloaded("the provider cannot be reached")
                return found
            async with _opened(draft) as provider:
                if not isinstance(provider, ListsModels):
                    raise RequestRefused("this provider does not list its models")
                return await provider.list_models()
    except TimeoutError as exc:
        raise ProviderTimeout("the list of models did not come in time") from exc


async def _ask(provider: Provider, model: str) -> Usage | None:
    call = ModelCall(
        model=model,
        system=(),
        messages=(UserMessage(QUESTION),),
        tools=(),
        max_output_tokens=TEST_OUTPUT_TOKENS,
    )
    done: Done | None = None
    # To the very end: an answer that is left half-way cleans up later, on a closed connection.
    async for event in provider.stream(call):
        if isinstance(event, Done):
            done = event
    if done is None:
        raise StreamBroken("the answer ended without a stop")
    return done.reply.usage


async def _facts_after(draft: Draft, model: str) -> ModelFacts:
    """Return a model's facts once it is loaded: only now Ollama knows its real window."""
    said: ModelInfo | None = None
    if draft.is_ollama:
        found = await ollama.probe(draft.account.base_url, guard=_guard(draft.account)) or ()
        said = next((info for info in found if info.name == model), None)
    return _facts(draft, said or ModelInfo(model))


@asynccontextmanager
async def _opened(draft: Draft) -> AsyncIterator[Provider]:
    provider = open_provider(draft.account.kind, chain.endpoint_of(draft.account, draft.key))
    try:
        yield provider
    finally:
        await provider.aclose()


def _guard(account: ProviderAccount) -> Guard:
    endpoint = chain.endpoint_of(account, "")
    return Guard(endpoint.may_reach_private, endpoint.private_hosts)


def knows_no_list(error: ProviderError) -> bool:
    """Return whether a server refused to list its models, which says nothing about asking one."""
    return isinstance(error, RequestRefused) and not isinstance(error, Redirected)


def known_facts(draft: Draft, model: str) -> ModelFacts:
    """Return what is known about a model without asking anybody."""
    return _facts(draft, ModelInfo(model))


def _facts(draft: Draft, said: ModelInfo) -> ModelFacts:
    account = draft.account
    return catalogue.facts(said.name, said=said, preset=account.preset, base_url=account.base_url)


# --- choosing ----------------------------------------------------------------------------------


def preferred(draft: Draft, models: Sequence[ModelFacts]) -> ModelFacts | None:
    """Return the model to propose; None where there is none."""
    if not models:
        return None
    for pattern in _PREFERRED.get(draft.account.preset, ()):
        found = [row for row in models if re.search(pattern, row.name)]
        if found:
            return max(found, key=lambda row: (not _UNUSUAL.search(row.name), _numbers(row.name)))
    # A model without tools can talk, but not remember or look anything up.
    return max(models, key=lambda row: row.supports_tools)


def _numbers(name: str) -> tuple[float, ...]:
    return tuple(float(number) for number in re.findall(r"\d+(?:\.\d+)?", name))


# --- the ticket of a test ----------------------------------------------------------------------


def ticket_of(draft: Draft, facts: ModelFacts) -> str:
    """Return the proof that this draft's model answered, with what is known about it."""
    told = _FACTS.dump_python(facts, mode="json")
    return signing.dumps({"draft": _digest(draft), "facts": told}, salt=_SALT)


def redeem(ticket: str, draft: Draft, model: str) -> ModelFacts | None:
    """Return what a test found out; None where it was of something else, or is too old."""
    try:
        told = signing.loads(ticket, salt=_SALT, max_age=TICKET_AGE_S)
        facts = _FACTS.validate_python(told["facts"])
    except (signing.BadSignature, ValidationError, KeyError, TypeError):
        return None
    is_ours = constant_time_compare(told["draft"], _digest(draft)) and facts.name == model
    return facts if is_ours else None


def _digest(draft: Draft) -> str:
    account = draft.account
    asked = "\0".join((str(account.team_id), account.kind, account.base_url, draft.key))
    return salted_hmac(_SALT, asked, algorithm="sha256").hexdigest()


# --- keeping -----------------------------------------------------------------------------------


@transaction.atomic
def save(
    draft: Draft,
    facts: ModelFacts,
    *,
    agent: Agent,
    is_first: bool,
    was_tested: bool,
    by: User | None = None,
) -> ChainLink:
    """Store the account and put its model into the agent's chain.

    The account that is there already, with the same key at the same address, is used again, and
    so is the link with the same model: connecting twice makes nothing double.

    Args:
        is_first: Ask it before the agent's other models.
        by: Who connects, for the audit log.

    Raises:
        ManagedByFile: A file owns the agent's chain.
    """
    managed.refuse_edit(agent)
    is_new_account = not draft.is_stored
    account = _kept(draft)
    # An account like it may have been there: then that one is used.
    is_new_account = is_new_account and account is draft.account
    if was_tested:
        accounts.note_tested(account)
    link = ChainLink.objects.filter(agent=agent, account=account, model=facts.name).first()
    link = link or _new_link(agent, account, facts)
    link.window_tokens = facts.window_tokens
    link.max_output_tokens = facts.max_output_tokens
    link.supports_tools = facts.supports_tools
    link.supports_images = facts.supports_images
    is_new = link.pk is None
    _place(link, is_first=is_first)
    if by is not None:
        _tell(link, by, is_new_account=is_new_account, is_new=is_new)
    return link


def _tell(link: ChainLink, by: User, *, is_new_account: bool, is_new: bool) -> None:
    account, agent = link.account, link.agent
    if is_new_account:
        audit.record(
            team_id=agent.team_id,
            actor=by,
            action="account.added",
            subject=audit.subject_of(account),
            changes=audit.changes_between(
                None, account, ("name", "kind", "base_url", "key_reference", "sealed_key")
            ),
        )
    audit.record(
        team_id=agent.team_id,
        actor=by,
        action="chainlink.added" if is_new else "chainlink.changed",
        subject=audit.subject_of(link),
        reason=audit.subject_of(agent),
        changes=audit.changes_between(None, link, ("account", "model", "position")),
    )


def _new_link(agent: Agent, account: ProviderAccount, facts: ModelFacts) -> ChainLink:
    """Return a place of the chain that costs what was shown.

    The ledger looks a model up by its name alone; where this provider's list says something else,
    that price is written down.
    """
    link = ChainLink(agent=agent, account=account, model=facts.name)
    shown = (facts.input_usd_mtok, facts.output_usd_mtok)
    listed = catalogue.facts(facts.name)
    if not account.is_free and shown != (listed.input_usd_mtok, listed.output_usd_mtok):
        link.input_usd_mtok, link.output_usd_mtok = shown
    return link


def _place(link: ChainLink, *, is_first: bool) -> None:
    # Locked, so that two who connect at once do not give out one position twice.
    rows = ChainLink.objects.select_for_update().filter(agent=link.agent).exclude(pk=link.pk)
    others = list(rows.order_by("position", "id"))
    if link.pk is None or is_first:
        ordered = [link, *others] if is_first else [*others, link]
        for position, row in enumerate(ordered, start=1):
            row.position = position
        ChainLink.objects.bulk_update(others, ["position"])
    link.save()


def _kept(draft: Draft) -> ProviderAccount:
    account = draft.account
    if draft.is_stored:
        return account
    same = ProviderAccount.objects.select_for_update().filter(
        team=account.team,
        kind=account.kind,
        base_url=account.base_url,
        key_reference=account.key_reference,
    )
    for known in same.order_by("id"):
        if _has_key(known, draft):
            if not known.managed_by:
                known.may_reach_private = known.may_reach_private or account.may_reach_private
                known.save(update_fields=["may_reach_private", "updated_at"])
            return known
    account.name = accounts.free_name(account.team, account.name)
    if draft.key and not account.key_reference:
        account.sealed_key = secrets.seal(draft.key)
    account.save()
    return account


def _has_key(known: ProviderAccount, draft: Draft) -> bool:
    if known.key_reference:
        return True
    if not known.sealed_key:
        return not draft.key
    try:
        return constant_time_compare(secrets.unseal(known.sealed_key), draft.key)
    except secrets.Unreadable:
        return False


def record(tested: Tested, draft: Draft, *, agent: Agent | None, user: User) -> None:
    """Write what a test cost; the account's row may not exist yet."""
    if tested.usage is None:
        return
    account = draft.account
    price, cost = ledger.price_of(
        tested.facts.name, tested.usage, own=FREE if account.is_free else None
    )
    person = user.people.filter(team=account.team, merged_into=None).first()
    UsageRecord.objects.create(
        origin=f"test:{uuid4()}",
        kind="test",
        team_id=account.team_id,
        agent_id=agent.pk if agent else None,
        person_id=person.pk if person else None,
        account_id=account.pk,
        provider=account.name,
        model=tested.facts.name,
        input_tokens=tested.usage.input_tokens,
        cache_read_tokens=tested.usage.cache_read_tokens,
        cache_write_tokens=tested.usage.cache_write_tokens,
        output_tokens=tested.usage.output_tokens,
        reasoning_tokens=tested.usage.reasoning_tokens,
        is_estimate=tested.usage.is_estimate,
        price=price,
        cost_usd=cost,
    )
