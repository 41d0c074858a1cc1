"""What this app's tables hold of a person: facts, documents, notes, and what is found of them."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from django.db.models import Q, QuerySet

from agents.models import File
from agents.services.portability import (
    Subject,
    Table,
    caused,
    register,
    register_nothing,
    register_seer,
)
from memory import files
from memory.index import documents as index
from memory.index import erasing, removing
from memory.models import (
    DailyNote,
    EmbeddingSpace,
    FreshTerms,
    IndexVersion,
    MemoryDocument,
    MemoryDocumentVersion,
    MemoryProposal,
    MemoryScope,
    MemorySettings,
    MemoryThread,
    Passage,
    PassageVector,
    Posting,
    Scope,
    UploadedDocument,
    WalEntry,
)
from memory.sameness import key_of

# A scope, as its documents and facts name it.
_HOME: Final = ("scope", "agent_id", "person_id", "chat_id")

Home = tuple[object, ...]
Cleaner = Callable[[str], str]


def _see(subject: Subject) -> None:
    """Note the words of their facts, and which of these others were told."""
    rows = _facts(subject)
    for text in rows.values_list("text", flat=True):
        subject.quote(text)
    told = rows.filter(scope__in=(Scope.AGENT, Scope.TEAM))
    subject.note_ids("shared", told.values_list("pk", flat=True))


def _facts(subject: Subject) -> "QuerySet[WalEntry]":
    """Return what they said or caused to be noted, wherever it lies, and what was shared of it."""
    if "facts" not in subject.noted:
        people = subject.person_ids
        own = Q(person_id__in=people) | Q(author_id__in=people) | caused(subject)
        found = set(
            WalEntry.objects.filter(own, team_id=subject.team_id).values_list("pk", flat=True)
        )
        more = found
        while more:
            shares = WalEntry.objects.filter(shared_from__in=more).values_list("pk", flat=True)
            more = set(shares) - found
            found |= more
        subject.note_ids("facts", found)
    return WalEntry.objects.filter(pk__in=subject.ids("facts"))


def _erase_facts(subject: Subject) -> int:
    rows = _facts(subject)
    # Rows that are deleted together may point at each other.
    rows.update(shared_from=None, superseded_by=None)
    return rows.delete()[1].get(WalEntry._meta.label, 0)


def _notes(subject: Subject) -> "QuerySet[DailyNote]":
    """Return notes of their exchanges, and those in their groups that repeat their words."""
    if "notes" not in subject.noted:
        own = Q(person_id__in=subject.person_ids) | caused(subject)
        found = DailyNote.objects.filter(own, team_id=subject.team_id)
        others = DailyNote.objects.filter(chat_id__in=subject.ids("chats"))
        repeating = [
            pk
            for pk, answer, text in others.values_list("pk", "answer", "text")
            if subject.is_quoted_in(answer) or subject.is_quoted_in(text)
        ]
        subject.note_ids("notes", [*found.values_list("pk", flat=True), *repeating])
    return DailyNote.objects.filter(pk__in=subject.ids("notes"))


def _documents(subject: Subject) -> "QuerySet[MemoryDocument]":
    return MemoryDocument.objects.filter(person_id__in=subject.person_ids)


def _versions(subject: Subject) -> "QuerySet[MemoryDocumentVersion]":
    return MemoryDocumentVersion.objects.filter(document__in=_documents(subject))


def _proposals(subject: Subject) -> "QuerySet[MemoryProposal]":
    return MemoryProposal.objects.filter(document__in=_documents(subject))


def _erase_documents(subject: Subject) -> int:
    """Delete their documents, and take their lines out of those of groups, agents and the team."""
    count = _clean_shared(subject)
    _proposals(subject).delete()
    _versions(subject).delete()
    return count + _documents(subject).delete()[0]


def _clean_shared(subject: Subject) -> int:
    told: dict[Home, set[str]] = defaultdict(set)
    for row in _facts(subject):
        told[_home(row)].add(row.text)
    rows = MemoryDocument.objects.select_for_update().filter(team_id=subject.team_id)
    rows = rows.exclude(scope=Scope.PERSON).order_by("pk")
    touched = set(
        MemoryDocumentVersion.objects.filter(caused(subject)).values_list("document", flat=True)
    )
    return sum(
        _clean(document, told[_home(document)], subject)
        for document in rows
        if told[_home(document)] or document.pk in touched
    )


def _home(row: WalEntry | MemoryDocument) -> Home:
    return tuple(getattr(row, column) for column in _HOME)


def _clean(document: MemoryDocument, facts: Iterable[str], subject: Subject) -> int:
    """Take lines out of a document, its versions and its proposals; return how many changed."""
    clean = _cleaner(subject, facts, _added(document, subject))
    count = 0
    for version in document.versions.all():
        if (text := clean(version.text)) != version.text:
            document.versions.filter(pk=version.pk).update(text=text, reason="")
            count += 1
    for proposal in document.proposals.all():
        if (text := clean(proposal.text)) != proposal.text:
            document.proposals.filter(pk=proposal.pk).update(text=text, reason="")
            count += 1
    text = clean(document.text)
    if text != document.text:
        document.text = text
        document.save(update_fields=["text", "updated_at"])
        index.replace_memory_document(document)
        count += 1
    return count


def _added(document: MemoryDocument, subject: Subject) -> set[str]:
    """Return the lines that came in by their messages and turns."""
    own = set(document.versions.filter(caused(subject)).values_list("pk", flat=True))
    lines: set[str] = set()
    before: set[str] = {files.MEMORY_HEADING, ""}
    for version in document.versions.order_by("number") if own else ():
        after = set(version.text.splitlines())
        if version.pk in own:
            lines |= after - before
        before |= after
    return lines


def _cleaner(subject: Subject, facts: Iterable[str], added: set[str]) -> Cleaner:
    keys = {key_of(fact) for fact in facts} - {""}

    def stays(line: str) -> bool:
        plain = line.rstrip("\n")
        return not (
            plain in added
            or key_of(files.fact_of(plain) or "") in keys
            or subject.is_quoted_in(plain)
        )

    return lambda text: "".join(line for line in text.splitlines(keepends=True) if stays(line))


def _uploads(subject: Subject) -> "QuerySet[UploadedDocument]":
    """Return the files they brought to be looked up in, wherever these lie."""
    brought = File.objects.filter(
        Q(person_id__in=subject.person_ids) | caused(subject, "origin"), team_id=subject.team_id
    )
    return UploadedDocument.objects.filter(
        Q(person_id__in=subject.person_ids) | caused(subject) | Q(file__in=brought),
        team_id=subject.team_id,
    )


def _passages(subject: Subject) -> "QuerySet[Passage]":
    sources = {*subject.refs, *(f"fact:{pk}" for pk in subject.ids("facts"))}
    sources |= {f"document:{pk}" for pk in _uploads(subject).values_list("pk", flat=True)}
    people = subject.person_ids
    in_groups = Passage.objects.filter(scope__chat_id__in=subject.ids("chats"), author=None)
    repeating = [
        pk
        for pk, text in in_groups.exclude(kind=Passage.Kind.DOCUMENT).values_list("pk", "text")
        if subject.is_quoted_in(text)
    ]
    return Passage.objects.filter(
        Q(scope__person_id__in=people)
        | Q(author_id__in=people)
        | Q(source__in=sources)
        | Q(pk__in=repeating),
        scope__team_id=subject.team_id,
    )


def _erase_passages(subject: Subject) -> int:
    """Take all that is found of them out of every version of the index, terms and vectors too."""
    gone = list(_passages(subject).values_list("pk", flat=True))
    removing.remove(gone)
    for person_id in subject.person_ids:
        erasing.erase_person(person_id)
    # Lines that left the documents of others.
    shared = Passage.objects.filter(scope__team_id=subject.team_id, hidden_at__isnull=False)
    removing.remove(list(shared.values_list("pk", flat=True)))
    return len(gone)


def _of_scopes(subject: Subject) -> Mapping[str, object]:
    return {"scope__person_id__in": subject.person_ids}


register_seer(_see)
register(
    "memory",
    Table(model=MemoryDocument, rows=_documents, erase=_erase_documents),
    Table(model=MemoryDocumentVersion, rows=_versions),
    Table(model=MemoryProposal, rows=_proposals),
    Table(model=Passage, rows=_passages, erase=_erase_passages, is_exported=False),
    Table(
        model=Posting,
        rows=lambda subject: Posting.objects.filter(**_of_scopes(subject)),
        is_exported=False,
    ),
    Table(
        model=FreshTerms,
        rows=lambda subject: FreshTerms.objects.filter(**_of_scopes(subject)),
        is_exported=False,
    ),
    Table(
        model=PassageVector,
        rows=lambda subject: PassageVector.objects.filter(**_of_scopes(subject)),
        is_exported=False,
    ),
    Table(
        model=MemoryThread,
        rows=lambda subject: MemoryThread.objects.filter(**_of_scopes(subject)),
        is_exported=False,
    ),
    Table(
        model=MemoryScope,
        rows=lambda subject: MemoryScope.objects.filter(person_id__in=subject.person_ids),
        is_exported=False,
    ),
    Table(model=UploadedDocument, rows=_uploads),
    Table(model=WalEntry, rows=_facts, erase=_erase_facts),
    Table(model=DailyNote, rows=_notes),
)
register_nothing(
    {
        EmbeddingSpace: "names of models",
        IndexVersion: "settings and progress",
        MemorySettings: "settings",
    }
)
