"""Rows that a file owns (`manage.py apply`): what of them it says, and whether they still say it.

What a file may say of a row is taken apart into *parts*, by name: a column, the tools, the chain,
a document. The same parts are compared, written, exported and watched.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Protocol

from django.core.exceptions import PermissionDenied
from django.db import models
from django.utils.translation import gettext
from pydantic import AwareDatetime, BaseModel, ValidationError

from agents.models import Agent, AgentDocument, ProviderAccount

Parts = dict[str, object]


class Managed(Protocol):
    """A row that a file may own: an agent, an account, and what other apps register."""

    @property
    def pk(self) -> Any: ...  # as Django has it
    @property
    def team_id(self) -> int: ...
    @property
    def managed_by(self) -> str: ...
    @property
    def managed_mark(self) -> Any: ...  # a JSON column


# How rows of apps above are taken apart, by model.
_registered: dict[type[models.Model], Callable[[Any], Parts]] = {}

AGENT_FIELDS: Final = (
    "name",
    "description",
    "language",
    "time_zone",
    "prompt_preset",
    "max_iterations",
    "daily_cap_usd",
    "keeps_memory",
    "detector_pack",
    "private_facts",
    "auto_recall",
    "extracts_facts",
    "notes_days",
    "hears_groups",
    "speech_model",
)
ACCOUNT_FIELDS: Final = (
    "kind",
    "preset",
    "base_url",
    "key_reference",
    "may_reach_private",
    "is_free",
    "first_event_s",
    "prompt_cache",
)
LINK_FIELDS: Final = (
    "model",
    "window_tokens",
    "max_output_tokens",
    "effort",
    "supports_tools",
    "supports_images",
    "input_usd_mtok",
    "output_usd_mtok",
)
# By the account's name.
SPEECH: Final = "speech_account"
DOCUMENTS: Final = "documents/"
# The first conversation puts it away by itself: it is no drift, and no reason to begin again.
RITUAL: Final = f"{DOCUMENTS}BOOTSTRAP.md"
# Of a file that is watched; whoever writes more of it has to apply it to see.
MOST_BYTES: Final = 5_000_000


class ManagedByFile(PermissionDenied):
    """A file owns the row: it is changed there. Pages that do not expect it answer 403."""


class Mark(BaseModel):
    """What a row keeps of the file that was applied to it.

    Attributes:
        parts: A digest of each part, as it was stored.
        files: A digest of each file that was read, by its whole path.
    """

    v: int = 1
    applied_at: AwareDatetime
    parts: dict[str, str]
    files: dict[str, str]


def account_parts(account: ProviderAccount) -> Parts:
    """Return what a file may say of an account; a key that is sealed in its row is no part."""
    return {name: getattr(account, name) for name in ACCOUNT_FIELDS}


def agent_parts(agent: Agent, *, put_away: Collection[str] = ()) -> Parts:
    """Return what a file may say of an agent.

    Args:
        put_away: Parts that count although no prompt shows them any more.
    """
    parts: Parts = {name: getattr(agent, name) for name in AGENT_FIELDS}
    parts[SPEECH] = agent.speech_account.name if agent.speech_account else ""
    parts["tools"] = sorted(agent.tool_grants.values_list("tool", flat=True))
    links = agent.chain_links.select_related("account").order_by("position", "id")
    parts["chain"] = [
        {"account": link.account.name} | {name: getattr(link, name) for name in LINK_FIELDS}
        for link in links
    ]
    for document in shared_documents(agent).values():
        part = f"{DOCUMENTS}{document.name}"
        if document.archived_at is None or part in put_away:
            parts[part] = document.text
    return parts


def shared_documents(agent: Agent) -> dict[str, AgentDocument]:
    """Return an agent's documents by name; what is one person's own is not among them."""
    rows = AgentDocument.objects.filter(agent=agent, person=None).order_by("name")
    return {row.name: row for row in rows}


def register(model: type[models.Model], parts: Callable[[Any], Parts]) -> None:
    """Say how the rows of a model of another app are taken apart."""
    _registered[model] = parts


def is_kind(row: object) -> bool:
    """Return whether a row is of a kind that a file may own."""
    return isinstance(row, Agent | ProviderAccount) or type(row) in _registered


def parts_of(row: Managed, *, put_away: Collection[str] = ()) -> Parts:
    """Return what a file may say of a row."""
    if isinstance(row, Agent):
        return agent_parts(row, put_away=put_away)
    if isinstance(row, ProviderAccount):
        return account_parts(row)
    parts: Parts = _registered[model_of(row)](row)
    return parts


def mark_of(row: Managed) -> Mark | None:
    """Return what was applied last; None where nothing was, or nothing that we can read."""
    try:
        return Mark.model_validate(row.managed_mark)
    except ValidationError:
        return None


def put_mark(row: Managed, *, file: str, files: Mapping[str, str], now: datetime) -> bool:
    """Mark a row as owned by a file, as it is stored now; False where it says so already.

    Args:
        file: How the file was named.
        files: Digests of the files that were read, by path.
    """
    known = mark_of(row)
    digests = _digests(parts_of(row, put_away=(RITUAL,)))
    if RITUAL in digests and known is not None and RITUAL not in known.parts:
        # Put away before the file was applied, and not named by it.
        digests = _digests(parts_of(row))
    mark = Mark(applied_at=now, parts=digests, files=dict(files))
    is_known = known is not None and (known.parts, known.files) == (mark.parts, mark.files)
    if is_known and row.managed_by == file:
        return False
    _store(row, file, mark)
    return True


def release(row: Managed) -> None:
    """Let people change a row again."""
    _store(row, "", None)


def _store(row: Managed, file: str, mark: Mark | None) -> None:
    kept = {"managed_by": file, "managed_mark": mark.model_dump(mode="json") if mark else None}
    for name, value in kept.items():
        setattr(row, name, value)
    # Not by save(): an account would count as edited, and its open connections as outdated.
    model_of(row)._base_manager.filter(pk=row.pk).update(**kept)


def model_of(row: Managed) -> type[models.Model]:
    model = type(row)
    if not issubclass(model, models.Model):
        raise AssertionError("rows are rows")
    return model


def drift(row: Managed) -> tuple[str, ...]:
    """Return the names of the parts that somebody changed since the file was applied."""
    mark = mark_of(row)
    if mark is None:
        return ()
    now = _digests(parts_of(row, put_away=tuple(mark.parts)))
    return tuple(
        name for name in sorted({*now, *mark.parts}) if now.get(name) != mark.parts.get(name)
    )


def changed_files(row: Managed) -> tuple[str, ...]:
    """Return those files that say something else than when they were applied.

    A file that this machine cannot read counts as unchanged: it may lie on another one.
    """
    mark = mark_of(row)
    if mark is None:
        return ()
    return tuple(
        path for path, digest in mark.files.items() if digest_now(path) not in (None, digest)
    )


def digest_now(path: str) -> str | None:
    """Return the digest of a file; None where it cannot be read here."""
    found = Path(path)
    try:
        if not found.is_file() or found.stat().st_size > MOST_BYTES:
            return None
        return digest(found.read_bytes())
    except OSError:
        return None


def digest(content: bytes) -> str:
    """Return what tells one content from another."""
    return hashlib.sha256(content).hexdigest()


def _digests(parts: Parts) -> dict[str, str]:
    return {name: digest(_canonical(value).encode())[:32] for name, value in parts.items()}


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=_plain)


def _plain(value: object) -> str:
    # 5 and 5.00 are one price.
    return format(value.normalize(), "f") if isinstance(value, Decimal) else str(value)


def refuse_edit(agent: Agent, *, file: str = "") -> None:
    """Refuse to change what a file owns.

    Args:
        file: By which file it would be changed; empty for people.

    Raises:
        ManagedByFile: Another one owns it.
    """
    if agent.managed_by not in ("", file):
        raise ManagedByFile(sentence(agent))


def sentence(row: Managed) -> str:
    """Return where a row is changed, in words; empty where it is changed on its page."""
    if not row.managed_by:
        return ""
    told = gettext("This is kept in the file %(file)s. Change it there and apply it again.")
    return told % {"file": row.managed_by}


def part_in_words(row: Managed, part: str) -> str:
    """Return how people call a part: by its label, a document by its name."""
    if part.startswith(DOCUMENTS):
        return part.removeprefix(DOCUMENTS)
    if part == "tools":
        return gettext("tools")
    if part == "chain":
        return gettext("chain")
    # An older release may have marked what is no column any more.
    columns = model_of(row)._meta.concrete_fields
    labels = {field.name: str(field.verbose_name) for field in columns}
    return labels.get(part, part)
