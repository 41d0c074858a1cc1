"""What this app's tables hold of a person."""

import structlog
from django.contrib.admin.models import LogEntry
from django.core.files.storage import default_storage
from django.db import models, transaction
from django.db.models import F, Q, Value
from django.db.models.functions import Concat, Now

from agents import sql
from agents.models import (
    Agent,
    AgentDocument,
    AgentDocumentVersion,
    ApiToken,
    AuditEvent,
    BootstrapRitual,
    ChainLink,
    Chat,
    DocumentProposal,
    File,
    Identity,
    Invitation,
    LoginLink,
    LoginRecord,
    Membership,
    Person,
    ProviderAccount,
    Team,
    ToolGrant,
    UsageRecord,
    User,
)
from agents.services import audit, files
from agents.services.portability import (
    Subject,
    Table,
    caused,
    register,
    register_files,
    register_nothing,
)

_log = structlog.get_logger(__name__)

_ERASE = "SELECT qanot_erase_person(%s, %s, %s, %s, %s)"


def _people(subject: Subject) -> "models.QuerySet[Person]":
    return Person.objects.filter(pk__in=subject.person_ids)


def _files_of(subject: Subject) -> "models.QuerySet[File]":
    return File.objects.filter(
        Q(person_id__in=subject.person_ids) | caused(subject, "origin"), team_id=subject.team_id
    )


def _erase_files(subject: Subject) -> int:
    """Empty the rows; each goes for good once its bytes have left the storage."""
    rows = list(_files_of(subject))
    subject.note_ids("files", [row.pk for row in rows])
    ids = subject.ids("files")
    File.objects.filter(pk__in=ids).update(
        name=files.NAMELESS, sha256="", media_type=files.ANY_TYPE, person_id=subject.person_id
    )
    transaction.on_commit(lambda: _remove_bytes(ids))
    return len(ids)


def _remove_bytes(ids: list[int]) -> None:
    """Remove stored bytes; what the storage refuses keeps its row, for the next time."""
    for row in File.objects.filter(pk__in=ids):
        try:
            default_storage.delete(row.content.name)
            row.delete()
        except (OSError, models.ProtectedError):
            _log.exception("file.not_removed", file=row.pk)


def _versions(subject: Subject) -> "models.QuerySet[AgentDocumentVersion]":
    return AgentDocumentVersion.objects.filter(document__person_id__in=subject.person_ids)


def _erase_records(subject: Subject) -> int:
    """Empty what only the database's own function may: versions of USER.md, names in the log."""
    subjects = [
        f"{audit.noun_of(model)}:{pk}" for model, keys in subject.rows.items() for pk in keys
    ]
    people = [subject.person_id, *subject.person_ids]
    ((touched,),) = sql.fetch(
        _ERASE,
        [people, subjects, sorted(subject.names), subject.actor, "asked for by the person or team"],
    )
    return int(touched)


def _proposals(subject: Subject) -> "models.QuerySet[DocumentProposal]":
    return DocumentProposal.objects.filter(
        Q(person_id__in=subject.person_ids) | caused(subject), agent__team_id=subject.team_id
    )


def _bytes_of(subject: Subject) -> "list[tuple[str, bytes]]":
    handed = []
    for row in _files_of(subject):
        try:
            handed.append((f"files/{row.pk}-{row.name}", files.read(row)))
        except OSError:
            _log.warning("file.lost", file=row.pk)
    return handed


register_files(_bytes_of)
register(
    "agents",
    Table(model=AgentDocumentVersion, rows=_versions, erase=_erase_records),
    Table(
        model=AgentDocument,
        rows=lambda subject: AgentDocument.objects.filter(person_id__in=subject.person_ids),
        blanks={"text": "", "archived_at": Now()},
        keeps=("name",),
    ),
    Table(
        model=DocumentProposal,
        rows=_proposals,
        blanks={"text": "", "reason": "", "state": DocumentProposal.State.REFUSED},
        keeps=("name", "source"),
    ),
    Table(
        model=BootstrapRitual,
        rows=lambda subject: BootstrapRitual.objects.filter(person_id__in=subject.person_ids),
        blanks={"person": None},
        keeps=("session",),
    ),
    Table(
        model=ApiToken,
        rows=lambda subject: ApiToken.objects.filter(person_id__in=subject.person_ids),
    ),
    Table(model=File, rows=_files_of, erase=_erase_files),
    # What was spent stays, under a number that leads to nobody's name any more.
    Table(
        model=UsageRecord,
        rows=lambda subject: UsageRecord.objects.filter(person_id__in=subject.person_ids),
        blanks={},
        keeps=("origin", "kind", "channel", "job", "provider", "model", "price"),
    ),
    Table(
        model=Identity,
        rows=lambda subject: Identity.objects.filter(person_id__in=subject.person_ids),
    ),
    Table(
        model=Person,
        rows=_people,
        blanks={
            "display_name": Concat(Value("person:"), F("pk"), output_field=models.CharField()),
            "language": "",
            "time_zone": "",
            "user": None,
            "archived_at": Now(),
        },
    ),
)
register_nothing(
    {
        User: "a login: its owner changes it, superusers delete it; it is no part of any chat",
        LoginLink: "belongs to a login",
        LoginRecord: "belongs to a login, and is forgotten 90 days after it ended",
        Membership: "says what a login may do",
        Invitation: "an owner's note about a link, not what anybody said",
        Team: "the team's own",
        Agent: "the team's own",
        Chat: "a group's name and number, which are the group's",
        ChainLink: "settings",
        ToolGrant: "settings",
        ProviderAccount: "settings",
        AuditEvent: "who did what stays; names in it go with qanot_erase_person",
        LogEntry: "names in it go with the rows it speaks of",
    }
)
