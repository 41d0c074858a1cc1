"""What became of the messages of one run, by the rows and by what a browser was shown."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from agents.core.messages import load_reply
from memory.models import Origin, WalEntry
from qanot_site.bench.faults.browser import Letter, View
from qanot_site.bench.tabs import STAMP
from sessions.models import ChatSession, InboundMessage, Outgoing, TranscriptEntry, Turn


@dataclass(slots=True)
class Verdict:
    """How many messages of a run went wrong, and in which way.

    Args:
        out_of_order: Turns of one conversation that were answered before an earlier one.
        repeated_effects: Tool calls whose effect is there twice; each also counts as doubled.
        resent: Copies that say that they are one, of sends whose outcome nobody knew.
        remarks: One sentence for each thing that is wrong.
    """

    lost: int = 0
    doubled: int = 0
    wal_missing: int = 0
    out_of_order: int = 0
    repeated_effects: int = 0
    resent: int = 0
    remarks: list[str] = field(default_factory=list)

    def add(self, other: "Verdict") -> None:
        """Add another message's or run's figures."""
        self.lost += other.lost
        self.doubled += other.doubled
        self.wal_missing += other.wal_missing
        self.out_of_order += other.out_of_order
        self.repeated_effects += other.repeated_effects
        self.resent += other.resent
        self.remarks += other.remarks


def stored(session: ChatSession, letter: Letter) -> list[InboundMessage]:
    """Return the rows of a message: one, where all is well."""
    return list(
        InboundMessage.objects.select_related("turn")
        .filter(session=session, external_id=letter.key)
        .order_by("id")
    )


def has_wal(session: ChatSession, letter: Letter) -> bool:
    """Return whether what a message tells is noted."""
    messages = stored(session, letter)
    return bool(messages) and WalEntry.objects.filter(source=messages[0].ref).exists()


def is_settled(session: ChatSession) -> bool:
    """Return whether nothing of a conversation waits for a worker any more."""
    unsent = Outgoing.objects.filter(session=session).exclude(state=Outgoing.State.SENT)
    owed = Turn.objects.unfinished().filter(session=session)
    return not unsent.exists() and not owed.exists()


def judge(session: ChatSession, letters: Sequence[Letter], views: dict[str, View]) -> Verdict:
    """Look at every message of a conversation, and at their order."""
    verdict = Verdict()
    for letter in letters:
        verdict.add(_judge_one(session, letter, views))
    verdict.add(_order(session))
    return verdict


def _judge_one(session: ChatSession, letter: Letter, views: dict[str, View]) -> Verdict:
    messages = stored(session, letter)
    if not messages:
        return Verdict(lost=1, remarks=[f"{letter.text!r} is not stored"])
    missing: list[str] = []
    doubled: list[str] = []
    if len(messages) > 1:
        doubled.append("stored more than once")
    turn = messages[0].turn
    entries = list(
        TranscriptEntry.objects.filter(turn=turn).select_related("content").order_by("id")
    )
    _check_rows(turn, entries, letter, missing, doubled)
    view = views.get(str(turn.public_id))
    _check_view(view, _stamps(_answer(entries)), missing, doubled)
    repeated = _repeated_effects(letter)
    if repeated:
        doubled.append("the tool's effect is there twice")
    has_no_wal = not WalEntry.objects.filter(source=messages[0].ref).exists()
    wrong = [*missing, *doubled, *(["no WAL row"] if has_no_wal else [])]
    return Verdict(
        lost=int(bool(missing)),
        doubled=int(bool(doubled)),
        wal_missing=int(has_no_wal),
        repeated_effects=repeated,
        remarks=[f"turn {turn.pk} ({turn.state}): {', '.join(wrong)}"] if wrong else [],
    )


def _check_rows(
    turn: Turn,
    entries: Sequence[TranscriptEntry],
    letter: Letter,
    missing: list[str],
    doubled: list[str],
) -> None:
    """Hold the transcript and the outgoing row against one answer to one message."""
    if turn.state != Turn.State.ANSWERED:
        missing.append(f"ended with {turn.notice}")
    asked = sum(1 for entry in entries if entry.role == TranscriptEntry.Role.USER)
    if asked != 1:
        (doubled if asked else missing).append(f"{asked} entries of the person")
    contents = Counter(entry.content_id for entry in entries)
    if any(times > 1 for times in contents.values()):
        doubled.append("an entry stands twice in the transcript")
    stamps = _stamps(_answer(entries))
    if len(set(stamps)) < letter.chunks:
        missing.append(f"{len(set(stamps))} of {letter.chunks} pieces in the transcript")
    if len(stamps) > letter.chunks:
        doubled.append(f"{len(stamps)} pieces of {letter.chunks} in the transcript")
    sends = Outgoing.objects.filter(turn=turn)
    if sends.count() > 1:
        doubled.append("sent more than once")
    if not sends.filter(state=Outgoing.State.SENT).exists():
        missing.append("not sent")


def _check_view(
    view: View | None, stamps: Sequence[str], missing: list[str], doubled: list[str]
) -> None:
    """Hold what a browser showed, live and in the end, against the transcript."""
    if view is None or view.over_at is None:
        missing.append("the browser was not told")
        return
    if _stamps(view.shown_html) != list(stamps):
        missing.append("the browser shows another text than the transcript")
    live = _stamps(view.live_text)
    if len(set(live)) < len(live):
        doubled.append("the browser was sent a piece twice")
    if view.has_seen_end and not view.has_skipped and live != list(stamps):
        missing.append("the live answer was not the transcript's")
    if len(view.ends) > 1:
        doubled.append("the browser was told of two ends")


def _answer(entries: Sequence[TranscriptEntry]) -> str:
    replies = [entry for entry in entries if entry.role == TranscriptEntry.Role.ASSISTANT]
    return "\n".join(load_reply(entry.content.text).message.text + " " for entry in replies)


def _stamps(text: str) -> list[str]:
    """Return the provider's stamps in an answer; its HTML may end without the last space."""
    return STAMP.findall(text.replace("<", " <"))


def _repeated_effects(letter: Letter) -> int:
    if letter.fact is None:
        return 0
    found = WalEntry.objects.filter(origin=Origin.AGENT, text__contains=letter.fact).count()
    return max(0, found - 1)


def _order(session: ChatSession) -> Verdict:
    """Messages are answered in the order in which they were stored, one turn after the other."""
    times = Turn.objects.filter(session=session).order_by("id")
    pairs = pairwise(times.values_list("committed_at", "first_token_at"))
    wrong = sum(
        1
        for (ended_at, _), (_, began_at) in pairs
        if ended_at is not None and began_at is not None and began_at < ended_at
    )
    entries = list(
        TranscriptEntry.objects.filter(generation__session=session)
        .order_by("id")
        .values_list("turn_id", flat=True)
    )
    if wrong or entries != sorted(entries):
        return Verdict(out_of_order=max(1, wrong), remarks=["turns are out of order"])
    return Verdict()
