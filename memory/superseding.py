"""Facts that hold no longer: replaced by a correction, taken back, or forgotten on request.

Rows stay. A replaced one has ``superseded_at`` and what replaced it; a forgotten one has
``retracted_at`` and the wish. Neither stands in a prompt or is found by a search.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Q, QuerySet

from agents.models import User
from agents.services import audit
from memory import detector, documents, files, hooks
from memory.detector import Hit
from memory.documents import Home, home_of
from memory.entries import fingerprint_of, said
from memory.index import facts, telling
from memory.index.telling import Told
from memory.models import DailyNote, Origin, Scope, WalEntry
from memory.sameness import (
    Said,
    is_named,
    is_replaced,
    is_vague,
    key_of,
    may_be_replaced,
    parts_of,
)

# Older ones of a very talkative scope are not compared.
MOST_COMPARED = 5_000

HOLDS = Q(retracted_at=None, superseded_at=None)
TRUSTED = ~Q(origin=Origin.UNTRUSTED) | Q(accepted_at__isnull=False)
# The same for statements written by hand.
HOLDS_SQL = "retracted_at IS NULL AND superseded_at IS NULL AND category <> 'forget'"
# Of a message's facts: it asked to forget, or told what was forgotten before it was answered.
FORGOTTEN_SQL = (
    "((category = 'forget' AND retracted_at IS NULL) "
    "OR (retracted_at IS NOT NULL AND superseded_by_id IS NOT NULL))"
)
TRUSTED_SQL = "(origin <> 'untrusted' OR accepted_at IS NOT NULL)"


def live(home: Home) -> QuerySet[WalEntry]:
    """Return the facts of one scope that still hold."""
    return WalEntry.objects.filter(HOLDS, **home)


def apply(
    new: Sequence[WalEntry],
    *,
    hits: Sequence[Hit],
    opposites: Mapping[str, WalEntry],
    home: Home,
    at: datetime,
) -> dict[str, str]:
    """Close what new facts correct, contradict or want forgotten.

    Args:
        new: Stored already.
        hits: What each of them was made of.
        opposites: By the fingerprint of what it contradicts, the fact that does.

    Returns:
        The lines of MEMORY.md that hold no longer, each with what takes its place, if anything.
    """
    lines: dict[str, str] = {}
    own = {entry.pk for entry in new}
    if opposites:
        for entry in live(home).filter(fingerprint__in=opposites).exclude(pk__in=own):
            _supersede(entry, opposites[entry.fingerprint], lines, at=at)
    asking = [
        (entry, hit)
        for entry, hit in zip(new, hits, strict=True)
        if hit.category in ("correction", "forget") or hit.replaces
    ]
    if not asking:
        return lines
    earlier = list(live(home).exclude(pk__in=own).order_by("-id")[:MOST_COMPARED])
    for entry, hit in asking:
        if hit.category == "forget":
            _forget(entry, hit, earlier, lines, home=home, at=at)
        else:
            better = _lasting(entry, new)
            for old in _corrected(earlier, entry, hit):
                _supersede(old, better, lines, at=at)
                _keep(parts_of(said(old))[1], old, at=at)
    return lines


def _corrected(earlier: Sequence[WalEntry], new: WalEntry, hit: Hit) -> list[WalEntry]:
    """Return what a correction corrects: what is about the same, else the one fact that fits."""
    own = [
        old
        for old in earlier
        if old.superseded_at is None and old.retracted_at is None and _is_open(old, new)
    ]
    by = said(new)
    sure = [old for old in own if is_replaced(said(old), by=by, replaces=hit.replaces)]
    if sure:
        return sure
    fitting = [old for old in own if may_be_replaced(said(old), by=by, replaces=hit.replaces)]
    return fitting if _are_one(fitting) else []


def _is_open(old: WalEntry, to: WalEntry) -> bool:
    return old.category != WalEntry.Category.FORGET and _may_touch(old, to)


def _are_one(entries: Iterable[WalEntry]) -> bool:
    """Return whether facts come from one message, or tell one figure."""
    told = list(entries)
    figures = {"".join(filter(str.isdigit, one.value or one.text)) or one.text for one in told}
    return len({one.source for one in told}) == 1 or len(figures) == 1


def _may_touch(old: WalEntry, new: WalEntry) -> bool:
    """Return whether this author may close that fact: elsewhere than at home, only their own."""
    return old.scope == Scope.PERSON or old.author_id == new.author_id


def _lasting(correction: WalEntry, new: Sequence[WalEntry]) -> WalEntry:
    """Return what a correction says as a lasting fact, where it was noted as one too."""
    if correction.is_durable:
        return correction
    same = (
        entry
        for entry in new
        if entry.is_durable and (entry.value == correction.value or entry.text == correction.text)
    )
    return next(same, correction)


def _supersede(old: WalEntry, new: WalEntry, lines: dict[str, str], *, at: datetime) -> None:
    old.superseded_by, old.superseded_at = new, at
    old.save(update_fields=["superseded_by", "superseded_at"])
    facts.hide([old])
    _close_shares([old.pk], at=at)
    if not old.is_durable:
        return
    lines[old.text] = new.text
    if not new.is_durable:
        # It stands in MEMORY.md now.
        new.is_durable = True
        new.save(update_fields=["is_durable"])


def _forget(
    wish: WalEntry,
    hit: Hit,
    earlier: Sequence[WalEntry],
    lines: dict[str, str],
    *,
    home: Home,
    at: datetime,
) -> None:
    named = [
        old
        for old in earlier
        if old.retracted_at is None
        and _is_open(old, wish)
        and is_named(said(old), forgotten=hit.value, language=hit.language)
    ]
    if is_vague(hit.value) and not _are_one(named):
        # "My number" may be any of them: better none than the wrong one.
        return
    for old in named:
        old.superseded_by, old.retracted_at = wish, at
        old.save(update_fields=["superseded_by", "retracted_at"])
        facts.hide([old])
        _hide_exchanges(old)
        _close_shares([old.pk], at=at)
        if old.is_durable:
            lines[old.text] = ""
    standing = {key_of(old.text) for old in earlier if old.retracted_at is None}
    for fact in documents.take_out_named(
        hit.value, language=hit.language, standing=standing, home=home, source=wish.source
    ):
        lines.setdefault(fact, "")
    for old in named:
        _keep(_unnamed(said(old), hit.value), old, at=at)


def _hide_exchanges(forgotten: WalEntry) -> None:
    """Let nobody find the conversations in which a forgotten fact was told, nor their notes.

    The conversation itself stays with those who had it.
    """
    told = Told(
        forgotten.text,
        forgotten.value,
        words=forgotten.evidence,
        thread=forgotten.thread,
        author_id=forgotten.author_id if forgotten.scope == Scope.CHAT else None,
    )
    homes: list[Home] = [home_of(forgotten)]
    if forgotten.scope in (Scope.AGENT, Scope.TEAM):
        # Told in private and kept for more people.
        agent = {"agent_id": forgotten.agent_id} if forgotten.agent_id is not None else {}
        private = {"team_id": forgotten.team_id, "scope": Scope.PERSON, **agent}
        homes.append({**private, "person_id": forgotten.author_id})
    for home in homes:
        sources = telling.hide(told, home=home)
        DailyNote.objects.filter(source__in=sources, **home).delete()


def _unnamed(old: Said, forgotten: str) -> str:
    """Return the part of a fact that a wish to forget does not name; empty where it names all."""
    name, besides = parts_of(old)
    if not besides:
        return ""
    is_name = is_named(Said(old.category, name, old.value), forgotten=forgotten)
    is_besides = is_named(Said("", besides), forgotten=forgotten)
    if is_name == is_besides:
        return ""
    return besides if is_name else name


def _keep(part: str, old: WalEntry, *, at: datetime) -> None:
    """Let a part of a closed fact hold on, as a fact of its own from the same message."""
    if not part:
        return
    is_name = old.text.startswith(part)
    kept = WalEntry(
        **home_of(old),
        category=old.category if is_name else WalEntry.Category.REMEMBER,
        text=part,
        value=old.value if is_name else "",
        language=old.language,
        is_durable=old.is_durable,
        author_id=old.author_id,
        origin=old.origin,
        source=old.source,
        thread=old.thread,
        created_at=old.created_at,
        last_said_at=old.last_said_at,
    )
    kept.fingerprint = fingerprint_of(kept)
    kept.save(force_insert=True)
    facts.add([kept])
    hooks.written(kept.text, kept.source)
    if kept.is_durable:
        documents.append_facts([part], home=home_of(old), source=old.source, at=at)


@transaction.atomic
def take_back(
    entries: Sequence[WalEntry], *, source: str, at: datetime, revives: bool = False
) -> None:
    """Let facts hold no longer.

    MEMORY.md loses their lines, unless something else that holds says the same.

    Args:
        revives: True for an undo: what they had closed holds again.
    """
    groups: dict[int, list[WalEntry]] = defaultdict(list)
    homes: dict[int, Home] = {}
    for entry in entries:
        home = home_of(entry)
        key = hash(tuple(sorted((name, str(value)) for name, value in home.items())))
        groups[key].append(entry)
        homes[key] = home
    for key, rows in groups.items():
        _take_back(rows, homes[key], source=source, at=at)
        if revives:
            _revive(rows, homes[key], source=source, at=at)


def _take_back(rows: Sequence[WalEntry], home: Home, *, source: str, at: datetime) -> None:
    ids = [row.pk for row in rows]
    WalEntry.objects.filter(pk__in=ids, retracted_at=None).update(retracted_at=at)
    facts.hide(rows)
    durable = [row.text for row in rows if row.is_durable]
    if durable:
        document = documents.lock(home)
        others = live(home).filter(is_durable=True).values_list("text", flat=True)
        standing = list(others)
        for text in durable:
            documents.take_out(text, document, unless_in=standing, source=source)
    _close_shares(ids, at=at)
    for row in rows:
        hooks.written("", row.source)


def _revive(rows: Sequence[WalEntry], home: Home, *, source: str, at: datetime) -> None:
    closed = WalEntry.objects.filter(superseded_by__in=rows)
    take_back(_parts_kept(closed), source=source, at=at)
    texts = [row.text for row in closed if row.is_durable]
    closed.update(superseded_by=None, superseded_at=None, retracted_at=None)
    facts.add(closed)
    if texts:
        documents.append_facts(texts, home=home, source=source, at=at)


def _parts_kept(closed: Iterable[WalEntry]) -> list[WalEntry]:
    """Return what was kept of facts that hold as a whole again."""
    kept: list[WalEntry] = []
    for row in closed:
        name, besides = parts_of(said(row))
        if besides:
            kept += live(home_of(row)).filter(source=row.source, text__in=(name, besides))
    return kept


def _close_shares(ids: Sequence[int], *, at: datetime) -> None:
    """Let what was shared of facts hold no longer either."""
    shared = list(WalEntry.objects.filter(HOLDS, shared_from__in=ids))
    if shared:
        take_back(shared, source=f"fact:{ids[0]}", at=at)


@transaction.atomic
def forget(entry: WalEntry, *, by: User | None, actor: str = "", at: datetime) -> bool:
    """Take back one fact on somebody's word; False where it holds no longer anyway.

    Args:
        by: The user who does it in the admin or over the API; it is written to the audit log.
        actor: How the log names who does it, where it is no user.
    """
    locked = WalEntry.objects.select_for_update(of=("self",)).get(pk=entry.pk)
    if locked.retracted_at is not None:
        return False
    take_back([locked], source=audit.actor_of(by or actor), at=at)
    _hide_exchanges(locked)
    _record(locked, "fact.forgotten", by or actor)
    return True


@transaction.atomic
def replace(entry: WalEntry, text: str, *, by: User, at: datetime) -> WalEntry:
    """Write a fact anew; the old one stays in the history.

    Raises:
        ValueError: The fact holds no longer, or the text is empty.
    """
    locked = WalEntry.objects.select_for_update(of=("self",)).get(pk=entry.pk)
    if locked.retracted_at is not None or locked.superseded_at is not None:
        raise ValueError("the fact holds no longer")
    clean = files.one_line(detector.mask_secrets(text))
    if not clean:
        raise ValueError("the text is empty")
    read = next((hit for hit in detector.scan(clean) if hit.category == locked.category), None)
    new = WalEntry(
        **home_of(locked),
        category=locked.category,
        text=clean,
        value=read.value if read else "",
        is_negated=read.is_negated if read else locked.is_negated,
        language=locked.language,
        is_durable=locked.is_durable,
        author_id=locked.author_id,
        origin=Origin.SYSTEM,
        source=f"user:{by.pk}",
        thread=locked.thread,
        created_at=at,
        last_said_at=at,
    )
    new.fingerprint = fingerprint_of(new)
    new.save(force_insert=True)
    facts.add([new])
    lines: dict[str, str] = {}
    _supersede(locked, new, lines, at=at)
    if lines:
        documents.replace_facts(lines, [], home=home_of(locked), source=f"user:{by.pk}", at=at)
    hooks.written(new.text, new.source)
    _record(locked, "fact.replaced", by)
    return new


def _record(entry: WalEntry, action: str, actor: User | str) -> None:
    audit.record(
        team_id=entry.team_id,
        actor=actor,
        action=action,
        subject=f"fact:{entry.pk}",
        reason=f"agent:{entry.agent_id}" if entry.agent_id else "",
    )
