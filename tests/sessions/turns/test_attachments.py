"""Files, pictures and voice messages: fetched before the answer, shown to the model, bounded."""

import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import PIL.Image
import pytest
from pytest_django import Settings

from agents.models import ChainLink, File, ProviderAccount, UsageRecord
from agents.services import files, pictures
from memory.models import WalEntry
from sessions import attachments
from sessions.attachments import NotFetched
from sessions.inbox import Inbound, accept
from sessions.marks import Enclosed
from sessions.models import Attachment, Turn
from sessions.turns.worker import Worker
from tests.fakes.script import Refusal, answer
from tests.fakes.speech import FakeSpeech
from tests.sessions.conftest import Scene, ended, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
Kind = Attachment.Kind


@dataclass
class Shelf:
    """A channel's files, by reference; an exception in place of bytes is raised."""

    files: dict[str, bytes | NotFetched] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    async def fetch(self, attachment: Attachment) -> bytes:
        """Give what lies there."""
        self.asked.append(attachment.reference)
        found = self.files[attachment.reference]
        if isinstance(found, NotFetched):
            raise found
        return found


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """The web chat's files, as far as the worker is concerned."""
    made = Shelf()
    monkeypatch.setattr(attachments, "source_of", lambda channel: made)
    monkeypatch.setattr(attachments, "PAUSE_S", 0.0)
    return made


@pytest.fixture
def hearing(scene: Scene, settings: Settings) -> Iterator[FakeSpeech]:
    """Let the agent hear."""
    with FakeSpeech() as fake:
        scene.agent.speech_account = ProviderAccount.objects.create(
            team=scene.agent.team,
            name="Ears",
            kind=ProviderAccount.Kind.OPENAI,
            base_url=fake.base_url,
            may_reach_private=True,
            key_reference="env:FAKE_KEY",
        )
        scene.agent.save()
        yield fake


def bring(scene: Scene, text: str, *brought: Attachment) -> Turn:
    """Send a message with files."""
    inbound = Inbound(
        text=text,
        sender=f"person:{scene.person.public_id}",
        external_id=uuid4().hex,
        person=scene.person,
        attachments=brought,
    )
    return accept(inbound, session=scene.session).turn


def photo(width: int = 40, height: int = 20) -> bytes:
    """Return a picture."""
    written = io.BytesIO()
    PIL.Image.new("RGB", (width, height), "teal").save(written, "JPEG")
    return written.getvalue()


def blocks(scene: Scene) -> list[dict[str, Any]]:  # Any: JSON as it went over the wire
    """Return what the person's last message held when the model was asked."""
    content = scene.fake.last.body["messages"][-1]["content"]
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


def test_a_photo_is_seen_and_kept_without_what_its_camera_wrote(
    scene: Scene, worker: Worker, shelf: Shelf
) -> None:
    shelf.files["p1"] = photo(3_000, 1_000)
    scene.fake.play("A wall.")
    turn = bring(scene, "What is it?", Attachment(kind=Kind.PHOTO, reference="p1", name="wall.jpg"))
    wait_until(lambda: ended(turn))
    picture, words = blocks(scene)
    assert (picture["type"], picture["source"]["media_type"]) == ("image", "image/jpeg")
    assert words["text"].endswith("bytes)]")
    assert words["text"].startswith("What is it?")
    kept = Attachment.objects.get(message__turn=turn)
    assert (kept.state, kept.file) == (Attachment.State.FETCHED, kept.picture)
    file = File.objects.get()
    assert (file.person, file.origin, file.name) == (
        scene.person,
        kept.message.ref,
        "wall.jpg",
    )


def test_the_next_question_may_be_about_the_picture_and_later_ones_are_not_sent_it(
    scene: Scene, worker: Worker, shelf: Shelf
) -> None:
    shelf.files["p1"] = photo()
    scene.fake.play("A wall.", "Teal.", "Bye.")
    turn = bring(scene, "What is it?", Attachment(kind=Kind.PHOTO, reference="p1"))
    wait_until(lambda: ended(turn))
    sent = []
    for text in ("Which colour?", "Good night"):
        turn = scene.say(text).turn
        wait_until(lambda: ended(turn))  # noqa: B023 — called at once
        messages = scene.fake.last.body["messages"]
        sent.append(str(messages).count("'type': 'image'"))
    assert sent == [1, 0]
    assert "came along: photo" in str(scene.fake.last.body["messages"])


def test_a_question_that_is_asked_again_still_has_its_picture(
    scene: Scene, worker: Worker, shelf: Shelf
) -> None:
    shelf.files["p1"] = photo()
    scene.fake.play(Refusal(400), "A wall.")
    turn = bring(scene, "What is it?", Attachment(kind=Kind.PHOTO, reference="p1"))
    wait_until(lambda: ended(turn))
    assert turn.state in (Turn.State.ENDED, Turn.State.FAILED)
    again = scene.say("What is it?").turn
    wait_until(lambda: ended(again))
    assert again.state == Turn.State.ANSWERED
    assert str(scene.fake.last.body["messages"]).count("'type': 'image'") == 1


def test_a_model_that_cannot_see_is_told_that_a_picture_came(
    scene: Scene, worker: Worker, shelf: Shelf
) -> None:
    ChainLink.objects.update(supports_images=False)
    shelf.files["p1"] = photo()
    scene.fake.play("I cannot see it.")
    turn = bring(scene, "", Attachment(kind=Kind.PHOTO, reference="p1", name="wall.jpg"))
    wait_until(lambda: ended(turn))
    (told,) = blocks(scene)
    assert "[a picture was sent, wall.jpg, which this model cannot see]" in told["text"]


def test_what_is_said_is_text_with_its_facts_and_its_price(
    scene: Scene, worker: Worker, shelf: Shelf, hearing: FakeSpeech
) -> None:
    shelf.files["v1"] = b"OggS..."
    hearing.text, hearing.usage = "My name is Bobur.", {"input_tokens": 20, "output_tokens": 5}
    scene.fake.play("Hello Bobur")
    turn = bring(
        scene, "", Attachment(kind=Kind.VOICE, reference="v1", name="v.ogg", media_type="audio/ogg")
    )
    wait_until(lambda: ended(turn))
    (told,) = blocks(scene)
    assert told["text"].endswith("— as it was heard:]\nMy name is Bobur.")
    assert "Bobur" in WalEntry.objects.get(category="proper_noun").text
    spent = UsageRecord.objects.get(kind="speech")
    assert (spent.origin, spent.model) == (turn.ref, "whisper-1")
    assert (spent.input_tokens, spent.output_tokens) == (20, 5)
    assert hearing.heard[0].content == b"OggS..."


def test_nothing_is_noted_from_a_forwarded_voice_message(
    scene: Scene, worker: Worker, shelf: Shelf, hearing: FakeSpeech
) -> None:
    shelf.files["v1"] = b"OggS..."
    hearing.text = "My name is Bobur."
    scene.fake.play("I hear him")
    inbound = Inbound(
        text="",
        sender="telegram:7",
        external_id="forwarded",
        person=scene.person,
        context=(Enclosed('forwarded, written by "Bobur"'),),
        attachments=(Attachment(kind=Kind.VOICE, reference="v1"),),
    )
    turn = accept(inbound, session=scene.session).turn
    wait_until(lambda: ended(turn))
    assert "My name is Bobur." in str(blocks(scene))
    assert not WalEntry.objects.exists()


def test_without_ears_it_says_so_and_asks_no_model(
    scene: Scene, worker: Worker, shelf: Shelf
) -> None:
    shelf.files["v1"] = b"OggS..."
    turn = bring(scene, "", Attachment(kind=Kind.VOICE, reference="v1"))
    wait_until(lambda: ended(turn))
    assert turn.state == Turn.State.ENDED
    assert turn.notice == {"v": 1, "code": "unheard", "values": {}}
    assert scene.fake.requests == []


def test_words_beside_a_voice_message_are_answered_all_the_same(
    scene: Scene, worker: Worker, shelf: Shelf, hearing: FakeSpeech
) -> None:
    shelf.files["v1"] = b"OggS..."
    hearing.status = 500
    scene.fake.play("I could not hear it.")
    turn = bring(scene, "Listen", Attachment(kind=Kind.VOICE, reference="v1"))
    wait_until(lambda: ended(turn))
    (told,) = blocks(scene)
    assert "could not be heard" in told["text"]


@pytest.mark.parametrize(
    ("is_final", "asked"), [(True, 1), (False, attachments.TRIES)], ids=["refused", "away"]
)
def test_a_file_that_cannot_be_had_is_told_and_breaks_nothing(
    scene: Scene, worker: Worker, shelf: Shelf, is_final: bool, asked: int
) -> None:
    shelf.files["d1"] = NotFetched("unreachable", is_final=is_final)
    scene.fake.play("I have not got it.")
    turn = bring(scene, "Read it", Attachment(kind=Kind.DOCUMENT, reference="d1", name="a.txt"))
    wait_until(lambda: ended(turn))
    (told,) = blocks(scene)
    assert "could not be fetched" in told["text"]
    kept = Attachment.objects.get(message__turn=turn)
    assert (kept.state, kept.error) == (Attachment.State.FAILED, "unreachable")
    assert shelf.asked == ["d1"] * asked


def test_what_says_to_be_too_large_is_not_even_asked_for(
    scene: Scene, worker: Worker, shelf: Shelf
) -> None:
    scene.fake.play("Too large.")
    turn = bring(
        scene,
        "Read it",
        Attachment(kind=Kind.DOCUMENT, reference="d1", name="a.iso", size_bytes=2**31),
    )
    wait_until(lambda: ended(turn))
    assert shelf.asked == []
    assert Attachment.objects.get(message__turn=turn).error == attachments.TOO_LARGE


def test_what_was_fetched_before_a_crash_is_not_fetched_again(
    scene: Scene, start_worker: Callable[[], Worker], shelf: Shelf
) -> None:
    shelf.files |= {"d1": b"one", "d2": NotFetched("unreachable", is_final=False)}
    one = Attachment(kind=Kind.DOCUMENT, reference="d1", name="1.txt", media_type="text/plain")
    turn = bring(scene, "Read", one, Attachment(kind=Kind.DOCUMENT, reference="d2", name="2.txt"))
    Attachment.objects.filter(reference="d1").update(state=Attachment.State.FETCHED)
    scene.fake.play("Read.")
    start_worker()
    wait_until(lambda: ended(turn))
    assert set(shelf.asked) == {"d2"}


def test_a_picture_sent_as_a_file_is_kept_as_it_came_and_seen_in_a_fitting_size(
    scene: Scene, worker: Worker, shelf: Shelf
) -> None:
    shelf.files["d1"] = photo(2_000, 2_000)
    scene.fake.play(answer("Big."))
    turn = bring(
        scene,
        "",
        Attachment(kind=Kind.DOCUMENT, reference="d1", name="a.jpg", media_type="image/jpeg"),
    )
    wait_until(lambda: ended(turn))
    kept = Attachment.objects.get(message__turn=turn)
    assert kept.file is not None
    assert kept.picture is not None
    assert kept.file.size_bytes == len(photo(2_000, 2_000))
    assert pictures.size_of(files.read(kept.picture)) == (1_568, 1_568)
