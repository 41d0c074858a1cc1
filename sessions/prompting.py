"""The system prompt of an agent for a viewer: for a turn, or for a look at it beforehand."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from zoneinfo import ZoneInfo

from agents import models
from agents.core import prompt
from agents.core.prompt import Mode, Prompt, Source
from agents.core.viewer import Viewer
from agents.models import Agent, Person
from agents.services import chain, persona, ritual
from memory.prompt import MemoryParts, memory_parts
from sessions.models import Generation

# The offline provider reads no history, but its turns are frozen like any other.
OFFLINE_WINDOW = 100_000

Recaller = Callable[[MemoryParts], str]

_NO_DRAFTS: Mapping[str, str] = MappingProxyType({})


def assemble_for(
    agent: Agent,
    viewer: Viewer,
    *,
    now: datetime,
    person: Person | None = None,
    generation: Generation | None = None,
    window_tokens: int | None = None,
    mode: Mode = "full",
    drafts: Mapping[str, str] = _NO_DRAFTS,
    documents: Sequence[Source] | None = None,
    with_ritual: bool = False,
    recall: Recaller | None = None,
) -> Prompt:
    """Return the system prompt that a turn of this agent gets.

    Args:
        person: The viewer's person, whose name and time zone a private prompt has.
        generation: The conversation's stretch; None for one that has not begun.
        window_tokens: Of the agent's chain (``window_of``); None reads the chain.
        drafts: Texts by document name in the place of the stored ones.
        documents: What ``documents_for`` returned; None reads them.
        with_ritual: Shows BOOTSTRAP.md, as the agent's first conversation sees it.
        recall: Looks up what fits the message, given what the prompt shows of memory.
    """
    if documents is None:
        documents = documents_for(agent, viewer)
    if window_tokens is None:
        window_tokens = window_of(chain.rows_of(agent.pk))
    zone = time_zone_of(agent, person if viewer.is_private else None)
    talks_with = person if viewer.is_private else None
    used = generation.context_tokens if generation else 0
    sources = [
        *_shown(documents, drafts, with_ritual=with_ritual),
        Source(prompt.STYLE, prompt.TOOL_STYLE),
        Source(
            prompt.INFO,
            _info(now.astimezone(ZoneInfo(zone)), zone, talks_with, used, window_tokens),
        ),
    ]
    if mode == "full" and agent.keeps_memory:
        remembered = memory_parts(viewer, thread=_thread(generation), now=now)
        sources += _memory(remembered)
        if recall is not None:
            sources.append(Source(prompt.RECALL, recall(remembered)))
    return prompt.assemble(
        sources,
        preset="qanot" if agent.prompt_preset == Agent.PromptPreset.QANOT else "default",
        values=persona.values(agent, (source.text for source in sources), zone=zone, now=now),
        mode=mode,
    )


def window_of(links: Sequence[models.ChainLink]) -> int:
    """Return the window that all of a chain's models have, in tokens."""
    return min((link.window_tokens for link in links), default=OFFLINE_WINDOW)


def time_zone_of(agent: Agent, person: Person | None) -> str:
    """Return the time zone in which a conversation's days and hours are told.

    Args:
        person: Whose private conversation it is; None for others.
    """
    return (person.time_zone if person is not None else "") or agent.time_zone


def documents_for(agent: Agent, viewer: Viewer) -> list[Source]:
    """Return the agent's documents, with the viewer's USER.md where it may be shown."""
    return persona.documents(agent.pk, person_id=viewer.person_id if viewer.sees_person else None)


def _shown(
    documents: Sequence[Source], drafts: Mapping[str, str], *, with_ritual: bool
) -> list[Source]:
    texts = [source for source in documents if source.name not in drafts]
    texts += [Source(name, text) for name, text in drafts.items()]
    return [source for source in texts if with_ritual or source.name != ritual.DOCUMENT]


def _memory(remembered: MemoryParts) -> list[Source]:
    versions = " ".join(str(reference) for reference in remembered.references) or None
    return [
        Source(prompt.STATE, remembered.session_state),
        Source(prompt.MEMORY, remembered.long_term, version=versions),
    ]


def _info(local: datetime, zone: str, talks_with: Person | None, used: int, window: int) -> str:
    percent = 100 * used / window if window else 0
    lines = [
        "# Session",
        "",
        f"- Date and time: {local:%A, %Y-%m-%d %H:%M} ({zone})",
        f"- Context used: {percent:.1f} % ({used} of {window} tokens)",
    ]
    if talks_with is not None:
        lines.append(f"- You talk with: {talks_with.display_name}")
    return "\n".join(lines)


def _thread(generation: Generation | None) -> str:
    """Return the stretch as memory names it; a conversation that has not begun has none."""
    return f"session:{generation.session_id}/{generation.number}" if generation else ""
