"""``[channels.NAME]``: Telegram bots by name, without their tokens."""

from collections.abc import Iterator, Mapping

from agents.models import Agent, Team
from agents.services.managed import Parts
from qanot_site.configuration import toml
from qanot_site.configuration.section import Finding, Known
from qanot_site.configuration.tables import AccountName, ChannelTable, nearest
from sessions.channels.telegram.parts import AGENT, BOT_FIELDS, bot_parts
from sessions.channels.telegram.setup import TELEGRAM_CHANNEL
from sessions.models import ChannelAccount


class Channels:
    """Bots by name."""

    name = "channels"
    noun = "channel"
    key = AccountName
    table = ChannelTable

    def rows(self, team: Team) -> Mapping[str, ChannelAccount]:
        rows = ChannelAccount.objects.select_for_update(of=("self",)).select_related("agent")
        bots = rows.filter(team=team, channel=TELEGRAM_CHANNEL, archived_at=None)
        return {row.name: row for row in bots.order_by("name")}

    def wanted(self, key: str, table: ChannelTable) -> Parts:
        return {AGENT: table.agent, **{name: getattr(table, name) for name in BOT_FIELDS}}

    def parts(self, row: ChannelAccount, wanted: Parts) -> Parts:
        return bot_parts(row)

    def check(
        self, table: ChannelTable, row: ChannelAccount | None, known: Known
    ) -> Iterator[Finding]:
        if table.agent not in known.agents:
            offered = nearest(table.agent, known.agents)
            yield ("agent",), f"there is no agent “{table.agent}”{offered}"
        if table.token_reference:
            return
        if row is None or not row.sealed_token:
            yield (), 'say where its token stands: token_reference = "env:NAME"'
        elif table.base_url != row.base_url:
            # As on its page: a stored token never follows a change of address.
            yield (
                ("base_url",),
                "the stored token belongs to another address: say where the new token stands, "
                'token_reference = "env:NAME"',
            )

    def write(
        self, team: Team, key: str, row: ChannelAccount | None, wanted: Parts, file: str
    ) -> ChannelAccount:
        row = row or ChannelAccount(team=team, channel=TELEGRAM_CHANNEL, name=key)
        before = bot_parts(row)
        for name in BOT_FIELDS:
            setattr(row, name, wanted[name])
        row.agent = Agent.objects.get(team=team, slug=wanted[AGENT])
        if row.token_reference:
            row.sealed_token = ""
        columns = [*BOT_FIELDS, AGENT, "sealed_token"]
        if any(before[name] != wanted[name] for name in ("token_reference", "base_url")):
            # Who it is, the poller asks before it asks for messages.
            row.bot_id, row.username, row.last_error_code, row.last_error = None, "", "", ""
            columns += ["bot_id", "username", "last_error_code", "last_error"]
        # No more than that: a poller writes the row at the same time.
        row.save(update_fields=None if row._state.adding else columns)
        return row

    def dump(self, row: ChannelAccount) -> Iterator[str]:
        yield toml.header(self.name, row.name)
        new = ChannelAccount()
        if row.agent is not None:
            yield toml.pair(AGENT, row.agent.slug)
        for name in BOT_FIELDS:
            value = getattr(row, name)
            if value != getattr(new, name):
                yield toml.pair(name, value)
        if row.sealed_token:
            yield "# Its token is stored sealed in the database and stays there. To keep it"
            yield '# outside: token_reference = "env:NAME_OF_A_VARIABLE"'
