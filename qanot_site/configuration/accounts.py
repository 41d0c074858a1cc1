"""``[accounts.NAME]``: accounts at providers, without their keys."""

from collections.abc import Iterator, Mapping

from agents.models import ProviderAccount, Team
from agents.providers.presets import preset
from agents.services.managed import ACCOUNT_FIELDS, Parts, account_parts
from qanot_site.configuration import toml
from qanot_site.configuration.section import Finding, Known
from qanot_site.configuration.tables import NONE, AccountName, AccountTable

_OF_PRESET = ("kind", "base_url", "is_free", "first_event_s")


class Accounts:
    """Accounts by name."""

    name = "accounts"
    noun = "account"
    key = AccountName
    table = AccountTable

    def rows(self, team: Team) -> Mapping[str, ProviderAccount]:
        rows = ProviderAccount.objects.select_for_update().filter(team=team)
        return {row.name: row for row in rows.order_by("name")}

    def wanted(self, key: str, table: AccountTable) -> Parts:
        said = table.model_fields_set
        unsaid = _unsaid(table.preset, has_own_address="base_url" in said)
        return {
            name: getattr(table, name) if name in said else unsaid[name] for name in ACCOUNT_FIELDS
        }

    def parts(self, row: ProviderAccount, wanted: Parts) -> Parts:
        return account_parts(row)

    def check(
        self, table: AccountTable, row: ProviderAccount | None, known: Known
    ) -> Iterator[Finding]:
        if row is None or not row.sealed_key or table.key_reference:
            return
        # As on its page: a stored key never follows a change of address.
        wanted = self.wanted(row.name, table)
        for name in ("kind", "base_url"):
            if wanted[name] != getattr(row, name):
                yield (
                    (name,),
                    "the stored key belongs to another address: say where the new key stands, "
                    'key_reference = "env:NAME"',
                )
                return

    def write(
        self, team: Team, key: str, row: ProviderAccount | None, wanted: Parts, file: str
    ) -> ProviderAccount:
        row = row or ProviderAccount(team=team, name=key)
        before = account_parts(row)
        for name, value in wanted.items():
            setattr(row, name, value)
        if row.key_reference:
            row.sealed_key = ""
        if any(before[name] != wanted[name] for name in ("kind", "base_url", "key_reference")):
            row.tested_at = None
        row.save()
        return row

    def dump(self, row: ProviderAccount) -> Iterator[str]:
        yield toml.header(self.name, row.name)
        known = row.preset if preset(row.preset) else ""
        has_own_address = row.base_url != _unsaid(known, has_own_address=False)["base_url"]
        unsaid = _unsaid(known, has_own_address=has_own_address)
        if known:
            yield toml.pair("preset", known)
        for name in ACCOUNT_FIELDS:
            value = getattr(row, name)
            is_needed = name == "kind" and not known
            if name != "preset" and (is_needed or value != unsaid[name]):
                # What a column leaves empty has no word of its own in TOML.
                yield toml.pair(name, NONE if value is None else value)
        if row.sealed_key:
            yield "# Its key is stored sealed in the database and stays there. To keep it outside:"
            yield '# key_reference = "env:NAME_OF_A_VARIABLE"'


def _unsaid(preset_name: str | None, *, has_own_address: bool) -> Parts:
    """Return what an account is where the file does not say: as the preset has it, or as new.

    A preset's own private address is what it is chosen for; any other needs the word of the file.
    """
    new, known = ProviderAccount(), preset(preset_name or "")
    values: Parts = {name: getattr(new, name) for name in ACCOUNT_FIELDS}
    if known is not None:
        values |= {name: getattr(known, name) for name in _OF_PRESET}
        values["may_reach_private"] = known.is_local and not has_own_address
    return values
