"""What the first attempt decides for all: prompt, history and tools, kept while the turn runs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from django.utils import timezone
from pydantic import BaseModel, TypeAdapter

from agents import models, sql
from agents.core.messages import Message, UserMessage
from agents.core.prompt import Source
from agents.core.protocols import SystemPart
from agents.services import caps, chain, persona, ritual
from agents.services.caps import UNLIMITED, Allowance
from sessions import marks, overheard, prompting
from sessions.models import ChatSession, Turn, TurnFreeze
from sessions.turns import history, offline
from sessions.turns.history import Own
from sessions.turns.leases import Claimed
from sessions.turns.recalling import Recaller


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything that a turn's loop needs from the database.

    Args:
        asked: What the turn answers, as one text.
        noted_model: The model of the first call, where its step is written already.
    """

    asked: str
    system: tuple[SystemPart, ...]
    messages: tuple[Message, ...]
    tool_names: tuple[str, ...]
    links: tuple[models.ChainLink, ...]
    time_zone: str
    allowance: Allowance
    noted_model: str | None = None


class FrozenPrompt(BaseModel):
    """The stored form of a turn's decisions; history is named, not copied, as it never changes."""

    v: Literal[1] = 1
    system: tuple[SystemPart, ...]
    tool_names: tuple[str, ...]
    history_from: int | None
    # What the group had said to others; shown before the turn's own messages, never kept.
    overheard: str = ""


_FROZEN = TypeAdapter(FrozenPrompt)
_FREEZE = """
    INSERT INTO bot_sessions_turnfreeze (turn_id, prompt) VALUES (%s, %s)
    ON CONFLICT (turn_id) DO UPDATE SET prompt = excluded.prompt
"""
_NOTE_MANIFEST = "UPDATE bot_sessions_turn SET manifest = %s::jsonb WHERE id = %s"


def prepare(claimed: Claimed) -> Prepared:
    """Return what the turn's loop needs; the first attempt decides, later ones read it again.

    Call it in the transaction that claims the turn.
    """
    turn = claimed.turn
    links = tuple(chain.rows_of(turn.session.agent_id))
    frozen = TurnFreeze.objects.filter(turn=turn).first() if turn.attempt > 1 else None
    if frozen is None:
        return _decide(turn, links)
    decided = _FROZEN.validate_json(frozen.prompt)
    own = history.of_turn(turn)
    first_id = decided.history_from
    earlier = history.since(turn, own, first_id=first_id) if first_id else ()
    return Prepared(
        asked=_asked(own),
        system=decided.system,
        messages=_shown(earlier, decided.overheard, own),
        tool_names=decided.tool_names,
        links=links,
        time_zone=_time_zone(turn),
        allowance=_allowance(turn, links),
    )


def is_offline(turn: Turn) -> bool:
    """Return whether the turn was prepared while no model was set up."""
    return isinstance(turn.manifest, dict) and turn.manifest.get("offline") is True


def nothing(turn: Turn) -> Prepared:
    """Return what a turn needs that will not be tried again."""
    return Prepared(
        asked=_asked(history.of_turn(turn)),
        system=(),
        messages=(),
        tool_names=(),
        links=(),
        time_zone=_time_zone(turn),
        allowance=_allowance(turn, ()),
    )


def _decide(turn: Turn, links: tuple[models.ChainLink, ...]) -> Prepared:
    now = timezone.now()
    window = prompting.window_of(links)
    own = history.of_turn(turn)
    # Without a model nobody would read it.
    recaller = Recaller(turn, _asked(own), now) if links else None
    earlier = history.chosen(turn, own, window_tokens=window)
    documents = prompting.documents_for(turn.session.agent, turn.viewer)
    is_first = _is_first_conversation(turn, links, documents, now=now)
    if recaller is not None:
        recaller.earlier = earlier.messages
    assembled = prompting.assemble_for(
        turn.session.agent,
        turn.viewer,
        now=now,
        person=turn.session.person,
        generation=turn.generation,
        window_tokens=window,
        documents=documents,
        with_ritual=is_first,
        recall=recaller,
    )
    heard = _overheard(turn, now)
    messages = _shown(earlier.messages, heard, own)
    system = (*assembled.parts, *_marks(turn, messages))
    if not links:
        system = (*system, offline.part(turn, _asked(own), now=now))
    names = persona.granted_tools(turn.session.agent_id)
    if is_first:
        names = tuple(sorted({*names, *ritual.TOOLS}))
    turn.manifest = {
        "v": 1,
        "parts": [*assembled.manifest, history.manifest_of(earlier)],
        "tools": list(names),
    }
    if not links:
        turn.manifest["offline"] = True
    if recaller is not None and recaller.manifest is not None:
        turn.manifest["recall"] = recaller.manifest
    frozen = FrozenPrompt(
        system=system, tool_names=names, history_from=earlier.first_id, overheard=heard
    )
    _store(turn, frozen)
    return Prepared(
        asked=_asked(own),
        system=system,
        messages=messages,
        tool_names=names,
        links=links,
        time_zone=_time_zone(turn),
        allowance=_allowance(turn, links),
    )


def _allowance(turn: Turn, links: Sequence[models.ChainLink]) -> Allowance:
    """Return what the turn may spend; where every link is free, nobody has to count."""
    if all(link.account.is_free for link in links):
        return UNLIMITED
    return caps.allowance(turn.session.agent, now=timezone.now())


def _asked(own: Sequence[Own]) -> str:
    return "\n".join(each.words for each in own)


def _shown(earlier: Sequence[Message], overheard: str, own: Sequence[Own]) -> tuple[Message, ...]:
    around = (UserMessage(overheard),) if overheard else ()
    return (*earlier, *around, *(each.message for each in own))


def _overheard(turn: Turn, now: datetime) -> str:
    session = turn.session
    if session.kind != ChatSession.Kind.GROUP or not session.agent.hears_groups:
        return ""
    return overheard.shown(session, now=now)


def _marks(turn: Turn, messages: Sequence[Message]) -> tuple[SystemPart, ...]:
    """Return what explains the platform's marks, where there are any."""
    texts = [message.text for message in messages if isinstance(message, UserMessage)]
    if not any(marks.OPENING in text for text in texts):
        return ()
    is_group = turn.session.kind == ChatSession.Kind.GROUP
    text = f"{marks.EXPLAINED}\n{marks.IN_A_GROUP}" if is_group else marks.EXPLAINED
    return (SystemPart("marks", text, is_stable=False),)


def _store(turn: Turn, frozen: FrozenPrompt) -> None:
    prompt_text = _FROZEN.dump_json(frozen).decode()
    sql.execute(_FREEZE, [turn.pk, prompt_text])
    sql.execute(_NOTE_MANIFEST, [json.dumps(turn.manifest), turn.pk])


def _is_first_conversation(
    turn: Turn,
    links: Sequence[models.ChainLink],
    documents: Sequence[Source],
    *,
    now: datetime,
) -> bool:
    """Return whether the turn follows BOOTSTRAP.md; without that document it costs nothing.

    While no model is set up, or none that may call tools, the ritual waits for one.
    """
    person_id = turn.viewer.person_id
    if person_id is None or not turn.is_private:
        return False
    if not any(source.name == ritual.DOCUMENT for source in documents):
        return False
    if not any(link.supports_tools for link in links):
        return False
    return ritual.follow(
        turn.session.agent_id,
        session=f"session:{turn.session_id}",
        person_id=person_id,
        now=now,
    )


def _time_zone(turn: Turn) -> str:
    return prompting.time_zone_of(
        turn.session.agent, turn.session.person if turn.is_private else None
    )
