"""``[agents.SLUG]``: agents with their tools, their chain and their documents."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.utils import timezone

from agents.models import Agent, AgentDocument, ChainLink, ProviderAccount, Team, ToolGrant
from agents.services import documents, managed
from agents.services.managed import AGENT_FIELDS, DOCUMENTS, LINK_FIELDS, RITUAL, SPEECH, Parts
from qanot_site.configuration import toml
from qanot_site.configuration.section import Finding, Known
from qanot_site.configuration.tables import NONE, OFF, AgentTable, Slug, nearest

# Where a row is put away that the file names.
PUT_AWAY: Final = "archived"


class Agents:
    """Agents by slug."""

    name = "agents"
    noun = "agent"
    key = Slug
    table = AgentTable

    def rows(self, team: Team) -> Mapping[str, Agent]:
        rows = Agent.objects.select_for_update().filter(team=team)
        return {row.slug: row for row in rows.order_by("slug")}

    def wanted(self, key: str, table: AgentTable) -> Parts:
        parts: Parts = {name: getattr(table, name) for name in AGENT_FIELDS}
        parts[SPEECH] = table.speech_account or ""
        parts[PUT_AWAY] = False
        parts["tools"] = sorted(table.tools)
        parts["chain"] = [
            link.model_dump() | {"effort": "" if link.effort == OFF else link.effort}
            for link in table.chain
        ]
        for name in sorted(table.documents):
            parts[f"{DOCUMENTS}{name}"] = table.documents[name].text
        return parts

    def parts(self, row: Agent, wanted: Parts) -> Parts:
        put_away = (RITUAL,) if RITUAL in wanted else ()
        return managed.agent_parts(row, put_away=put_away) | {PUT_AWAY: bool(row.archived_at)}

    def check(self, table: AgentTable, row: Agent | None, known: Known) -> Iterator[Finding]:
        for place, link in enumerate(table.chain):
            if link.account not in known.accounts:
                offered = nearest(link.account, known.accounts)
                text = f"there is no account “{link.account}”{offered}"
                yield ("chain", place, "account"), text
        hearing = table.speech_account
        if hearing is not None and hearing not in known.accounts:
            yield (SPEECH,), f"there is no account “{hearing}”{nearest(hearing, known.accounts)}"
        elif hearing is not None and hearing not in known.hearing:
            yield (SPEECH,), "voice messages are heard by OpenAI-compatible accounts only"

    def write(self, team: Team, key: str, row: Agent | None, wanted: Parts, file: str) -> Agent:
        row = row or Agent(team=team, slug=key)
        for name in AGENT_FIELDS:
            setattr(row, name, wanted[name])
        row.speech_account = (
            ProviderAccount.objects.get(team=team, name=wanted[SPEECH]) if wanted[SPEECH] else None
        )
        row.archived_at = None
        row.save()
        _write_tools(row, wanted["tools"])
        _write_chain(row, wanted["chain"])
        _write_documents(row, wanted, file)
        return row

    def dump(self, row: Agent) -> Iterator[str]:
        parts, new = managed.agent_parts(row), Agent()
        yield toml.header(self.name, row.slug)
        for name in AGENT_FIELDS:
            if name == "name" or parts[name] != getattr(new, name):
                yield toml.pair(name, NONE if parts[name] is None else parts[name])
        if parts[SPEECH]:
            yield toml.pair(SPEECH, parts[SPEECH])
        yield toml.pair("tools", parts["tools"])
        for link in _links(parts["chain"]):
            yield ""
            yield toml.header(self.name, row.slug, "chain", is_item=True)
            yield from _dump_link(link)
        texts = [name for name in parts if name.startswith(DOCUMENTS)]
        if texts:
            yield ""
            yield toml.header(self.name, row.slug, "documents")
        for name in texts:
            yield toml.pair(name.removeprefix(DOCUMENTS), parts[name])


def _links(chain: Any) -> list[dict[str, Any]]:  # a part's value
    found: list[dict[str, Any]] = chain
    return found


def _dump_link(link: Mapping[str, Any]) -> Iterator[str]:
    new = ChainLink()
    yield toml.pair("account", link["account"])
    for name in LINK_FIELDS:
        if name == "model" or link[name] != getattr(new, name):
            yield toml.pair(name, link[name])


def _write_tools(agent: Agent, tools: Any) -> None:
    agent.tool_grants.exclude(tool__in=tools).delete()
    known = set(agent.tool_grants.values_list("tool", flat=True))
    ToolGrant.objects.bulk_create(
        ToolGrant(agent=agent, tool=name) for name in tools if name not in known
    )


def _write_chain(agent: Agent, chain: Any) -> None:
    """Store the chain over the rows that there are, in their order."""
    rows = list(agent.chain_links.select_for_update().order_by("position", "id"))
    wanted = _links(chain)
    accounts = {row.name: row for row in ProviderAccount.objects.filter(team=agent.team_id)}
    for position, values in enumerate(wanted, start=1):
        row = rows[position - 1] if position <= len(rows) else ChainLink(agent=agent)
        row.position = position
        row.account = accounts[values["account"]]
        for name in LINK_FIELDS:
            setattr(row, name, values[name])
        row.save()
    for row in rows[len(wanted) :]:
        row.delete()


def _write_documents(agent: Agent, wanted: Parts, file: str) -> None:
    stored = managed.shared_documents(agent)
    for part, text in wanted.items():
        if not part.startswith(DOCUMENTS):
            continue
        name = part.removeprefix(DOCUMENTS)
        document = stored.pop(name, None) or AgentDocument(agent=agent, name=name)
        if document.archived_at is not None and part != RITUAL:
            documents.use_again(document, file=file)
        documents.save(document, text=str(text), author=None, reason=file, file=file)
    for document in stored.values():
        AgentDocument.objects.filter(pk=document.pk, archived_at=None).update(
            archived_at=timezone.now()
        )
