"""The log of facts, written with the message and before anybody answers it."""

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from agents import sql
from agents.core.viewer import Viewer
from memory import detector, documents, files, hooks, superseding
from memory.detector import Hit
from memory.detector.hits import DURABLE
from memory.documents import Home
from memory.entries import fingerprint_of
from memory.index import facts
from memory.models import Origin, WalEntry, owns_scope, scope_of
from memory.policy import Policy, home_of, policy_for

# Contradicted by their own opposite: "I like tea", "I don't like tea".
_EITHER_OR = frozenset({"preference", "decision"})
_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended(%s, 5))"
VALUE_CHARACTERS = 300


def append(
    text: str,
    *,
    viewer: Viewer,
    source: str,
    thread: str,
    author_id: int | None,
    at: datetime,
    policy: Policy | None = None,
) -> list[WalEntry]:
    """Note what a message says that is worth keeping, in the scope that the policy names.

    Durable facts go to that scope's MEMORY.md at once. A fact that is noted already is counted
    and not written again; a correction closes what it corrects, and a wish to forget takes back
    what it names. It runs in the caller's transaction and asks the database nothing where nothing
    is found. Called again for a source it gives the entries of the first call.

    Args:
        source: What is read, as text: ``message:12``.
        thread: The conversation's stretch, as text: ``session:3/1``.
        policy: The agent's; None reads it, which costs a query.

    Returns:
        The new entries in the message's order; none for a viewer without a scope of their own.
    """
    if not owns_scope(viewer):
        return []
    policy = policy or policy_for(viewer.agent_id)
    if not policy.keeps:
        return []
    hits = detector.scan(text, pack=policy.pack)
    if not hits:
        return []
    home = home_of(viewer, policy)
    entries = [
        _entry(hit, home, source=source, thread=thread, author_id=author_id, at=at) for hit in hits
    ]
    return _store(entries, hits, home=home, source=source, at=at)


def lock_scope(home: Home) -> None:
    """Let those who write facts of one scope follow each other until the transaction ends."""
    sql.fetch(_LOCK, [f"{home.get('agent_id')}/{home['scope']}/{_owner_of(home)}"])


@transaction.atomic
def note(
    fact: str,
    *,
    viewer: Viewer,
    source: str,
    thread: str,
    at: datetime,
    category: str = WalEntry.Category.REMEMBER,
    confidence: float | None = None,
    evidence: str = "",
) -> bool:
    """Keep a fact that the agent found worth keeping, secrets masked; once a source.

    Args:
        confidence: Where a model noted it, how sure it was: 0 to 1.
        evidence: The person's own words, where a model noted it.

    Returns:
        False where it was known already; then it is counted.

    Raises:
        ValueError: The viewer owns no scope.
    """
    home = scope_of(viewer)
    lock_scope(home)
    if WalEntry.objects.filter(source=source).exists():
        return False
    text = files.one_line(detector.mask_secrets(fact))
    is_durable = category in DURABLE
    entry = WalEntry(
        **home,
        category=category,
        text=text,
        is_durable=is_durable,
        origin=Origin.AGENT,
        source=source,
        thread=thread,
        created_at=at,
        last_said_at=at,
        confidence=confidence,
        evidence=files.one_line(detector.mask_secrets(evidence)),
    )
    entry.fingerprint = fingerprint_of(entry)
    known = _known([entry.fingerprint], home)
    if known:
        count_again(known.values(), at=at)
        return False
    entry.save(force_insert=True)
    facts.add([entry])
    hooks.written(text, source)
    if not is_durable:
        return True
    return bool(documents.append_facts([text], home=home, source=source, at=at))


@transaction.atomic
def note_untrusted(
    fact: str, *, viewer: Viewer, source: str, thread: str, at: datetime
) -> WalEntry:
    """Keep a text from outside in quarantine, once a source; no prompt and no search has it.

    Somebody of the team may accept it, after which it counts as a fact.

    Raises:
        ValueError: The viewer owns no scope.
    """
    home = scope_of(viewer)
    lock_scope(home)
    earlier = WalEntry.objects.filter(source=source).first()
    if earlier is not None:
        return earlier
    entry = WalEntry(
        **home,
        category=WalEntry.Category.REMEMBER,
        text=files.one_line(detector.mask_secrets(fact)),
        is_durable=False,
        origin=Origin.UNTRUSTED,
        source=source,
        thread=thread,
        created_at=at,
        last_said_at=at,
    )
    entry.fingerprint = fingerprint_of(entry)
    entry.save(force_insert=True)
    return entry


@transaction.atomic
def retract(message_ref: str, text: str, viewer: Viewer) -> bool:
    """Take back a sentence that was noted from a message: nobody is told of it any more.

    Only whoever wrote the message can. The rows stay, marked; MEMORY.md loses its line, unless
    something else that still holds says the same. What the sentence had corrected or had let be
    forgotten holds again. Called again it changes nothing.

    Args:
        message_ref: The message, as text: ``message:12``.
        text: The sentence as it was noted.

    Returns:
        False where this person's message has no such sentence that still holds.
    """
    if not owns_scope(viewer) or viewer.person_id is None:
        return False
    noted = WalEntry.objects.visible_to(viewer).filter(
        source=message_ref, author_id=viewer.person_id, text=text, retracted_at=None
    )
    rows = list(noted)
    if not rows:
        return False
    superseding.take_back(rows, source=f"undo:{message_ref}", at=timezone.now(), revives=True)
    return True


@transaction.atomic(savepoint=False)
def _store(
    entries: list[WalEntry], hits: Sequence[Hit], *, home: Home, source: str, at: datetime
) -> list[WalEntry]:
    lock_scope(home)
    earlier = list(WalEntry.objects.filter(source=source).order_by("id"))
    if earlier:
        return earlier
    known = _known([entry.fingerprint for entry in entries], home)
    count_again(known.values(), at=at)
    new = [entry for entry in entries if entry.fingerprint not in known]
    stored = WalEntry.objects.bulk_create(new)
    for entry in stored:
        hooks.written(entry.text, source)
    lines = superseding.apply(
        stored, hits=[hit for hit, entry in zip(hits, entries, strict=True) if entry in new],
        opposites=_opposites(stored), home=home, at=at,
    )  # fmt: skip
    facts.add(stored)
    durable = [entry.text for entry in stored if entry.is_durable]
    if durable or lines:
        documents.replace_facts(lines, durable, home=home, source=source, at=at)
    return stored


def _entry(
    hit: Hit, home: Home, *, source: str, thread: str, author_id: int | None, at: datetime
) -> WalEntry:
    entry = WalEntry(
        **home,
        category=hit.category,
        text=hit.text,
        value=hit.value[:VALUE_CHARACTERS],
        is_negated=hit.is_negated,
        language=hit.language,
        is_durable=hit.is_durable,
        author_id=author_id,
        origin=Origin.PERSON,
        source=source,
        thread=thread,
        created_at=at,
        last_said_at=at,
    )
    entry.fingerprint = fingerprint_of(entry)
    return entry


def _opposites(entries: Iterable[WalEntry]) -> dict[str, WalEntry]:
    return {
        fingerprint_of(entry, is_negated=not entry.is_negated): entry
        for entry in entries
        if entry.category in _EITHER_OR
    }


def _known(fingerprints: Sequence[str], home: Home) -> dict[str, WalEntry]:
    """Return the facts of a scope that still hold, by what makes them the same."""
    rows = superseding.live(home).filter(fingerprint__in=fingerprints)
    rows = rows.exclude(category=WalEntry.Category.FORGET).exclude(origin=Origin.UNTRUSTED)
    return {entry.fingerprint: entry for entry in rows.order_by("-id")}


def count_again(entries: Iterable[WalEntry], *, at: datetime) -> None:
    """Note that facts were said once more."""
    for entry in entries:
        entry.mentions += 1
        entry.last_said_at = max(at, entry.last_said_at or entry.created_at)
        entry.save(update_fields=["mentions", "last_said_at"])


def _owner_of(home: Home) -> object:
    return home.get("person_id") or home.get("chat_id") or home["team_id"]
