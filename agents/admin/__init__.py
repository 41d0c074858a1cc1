"""The admin's pages of agents, teams and the ledger; importing this package registers them."""

from agents.admin import (
    agents,
    audit,
    checks,
    documents,
    files,
    invitations,
    ledger,
    logins,
    people,
    persona,
    proposals,
    providers,
    tokens,
    users,
    versions,
)

__all__ = [
    "agents",
    "audit",
    "checks",
    "documents",
    "files",
    "invitations",
    "ledger",
    "logins",
    "people",
    "persona",
    "proposals",
    "providers",
    "tokens",
    "users",
    "versions",
]
