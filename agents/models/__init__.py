"""Rows of the agents app, one module a subject."""

from agents.models.agents import (
    Agent,
    AgentDocument,
    AgentDocumentVersion,
    BootstrapRitual,
    DocumentProposal,
    ToolGrant,
)
from agents.models.audit import AuditEvent
from agents.models.files import File
from agents.models.ledger import UsageRecord
from agents.models.people import (
    ApiToken,
    Chat,
    Identity,
    Invitation,
    LoginLink,
    LoginRecord,
    Membership,
    Person,
    Team,
    User,
)
from agents.models.providers import ChainLink, ProviderAccount

__all__ = [
    "Agent",
    "AgentDocument",
    "AgentDocumentVersion",
    "ApiToken",
    "AuditEvent",
    "BootstrapRitual",
    "ChainLink",
    "Chat",
    "DocumentProposal",
    "File",
    "Identity",
    "Invitation",
    "LoginLink",
    "LoginRecord",
    "Membership",
    "Person",
    "ProviderAccount",
    "Team",
    "ToolGrant",
    "UsageRecord",
    "User",
]
