"""Vectors: made once a text, in one space, and made again where they could not be."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from agents.core.embedding import TooSlow
from agents.core.errors import AuthenticationFailed, Overloaded, StreamBroken
from agents.models import ProviderAccount, UsageRecord
from agents.providers import Endpoint
from agents.providers.embedding_builtin import BuiltinEmbedder
from agents.providers.embedding_openai import OpenAIEmbedder
from agents.services import secrets
from memory.index import legs, rebuilding, scopes, vectors
from memory.models import IndexVersion, MemorySettings, Passage, PassageVector
from memory.search import Note, search
from tests import factories
from tests.fakes.embeddings import FakeEmbeddings
from tests.memory.index.conftest import Corner

KEY = "sk-fake-of-the-embedder"


@pytest.fixture
def fake() -> Iterator[FakeEmbeddings]:
    with FakeEmbeddings() as server:
        yield server


@pytest.fixture
def asking(corner: Corner, fake: FakeEmbeddings) -> MemorySettings:
    """Let the person's team embed through an account."""
    account = factories.provider_account(
        team=corner.person.team,
        kind=ProviderAccount.Kind.OPENAI,
        base_url=fake.base_url,
        may_reach_private=True,
        sealed_key=secrets.seal(KEY),
    )
    settings = factories.memory_settings(
        team=corner.person.team,
        embedder=MemorySettings.Embedder.ACCOUNT,
        account=account,
        model="text-embedding-3-small",
    )
    corner.say("The first thing that was ever said")
    _build(corner)
    fake.asked.clear()
    return settings


def _build(corner: Corner) -> None:
    """Do what workers do, until there is nothing left."""
    for _ in range(200):
        corner.settle()
        vectors.embed_waiting()
        if not rebuilding.advance():
            break


def _later() -> None:
    """Let what was postponed be due; the database's clock stands still in a test."""
    waiting = Passage.objects.filter(retry_at__isnull=False)
    waiting.update(retry_at=timezone.now() - timedelta(hours=1))


def test_account_embeds_and_the_ledger_knows(
    asking: MemorySettings, corner: Corner, fake: FakeEmbeddings
) -> None:
    corner.say("I live in Tashkent", name="Bobur")
    corner.embed()
    assert fake.asked == ['Bobur said, "I live in Tashkent"']
    assert set(fake.keys) == {f"Bearer {KEY}"}
    record = UsageRecord.objects.filter(kind="embedding").latest("id")
    assert record.input_tokens == 6
    assert record.model == "text-embedding-3-small"
    visible = scopes.visible(corner.viewer)
    assert visible.space is not None
    assert visible.space.dimensions == fake.dimensions
    assert visible.vectors == 2


def test_unchanged_text_is_never_embedded_again(
    asking: MemorySettings, corner: Corner, fake: FakeEmbeddings
) -> None:
    corner.say("I live in Tashkent")
    corner.embed()
    corner.say("I live in Tashkent", thread="session:2/1")
    corner.embed()
    asking.chunk_characters = 400
    asking.save()
    _build(corner)
    assert fake.asked == ["I live in Tashkent"]
    assert scopes.visible(corner.viewer).vectors == 3


def test_case_memory_index_3_what_could_not_be_embedded_is_tried_again(
    asking: MemorySettings, corner: Corner, fake: FakeEmbeddings
) -> None:
    fake.refusals.extend([503, 503])
    corner.say("The gate is green")
    assert vectors.embed_waiting().failed == 1
    assert corner.exact("gate")
    assert IndexVersion.objects.get(state="active").error == "Overloaded"
    assert vectors.embed_waiting() == vectors.Step()
    first = Passage.objects.get(text="The gate is green").retry_at
    _later()
    assert vectors.embed_waiting().failed == 1
    second = Passage.objects.get(text="The gate is green").retry_at
    assert first is not None
    assert second is not None
    assert second - timezone.now() > timedelta(seconds=25) > first - timezone.now()
    _later()
    assert vectors.embed_waiting().done == 1
    assert IndexVersion.objects.get(state="active").error == ""
    assert not Passage.objects.filter(wants_vector=True).exists()


def test_case_memory_index_1_another_model_is_another_space(
    asking: MemorySettings, corner: Corner, fake: FakeEmbeddings
) -> None:
    corner.say("The gate is green")
    corner.embed()
    before = scopes.visible(corner.viewer)
    fake.dimensions = 12
    asking.model = "text-embedding-3-large"
    asking.save()
    _build(corner)
    after = scopes.visible(corner.viewer)
    assert before.space is not None
    assert after.space is not None
    assert (before.space.dimensions, after.space.dimensions) == (8, 12)
    assert set(PassageVector.objects.values_list("space_id", flat=True)) == {after.space.id}
    assert len(legs.meaning(after, [12**-0.5] * 12)) == 2
    # What still holds the old scopes finds nothing of the other space.
    assert legs.meaning(before, [8**-0.5] * 8) == {}


def test_case_memory_index_2_what_the_index_was_made_by_is_compared_and_told(
    asking: MemorySettings, corner: Corner
) -> None:
    corner.say("The gate is green")
    corner.embed()
    asking.model, asking.chunk_characters = "text-embedding-3-large", 400
    asking.save()
    found = search(corner.viewer, "gate", now=timezone.now())
    assert found.found[0].content == "The gate is green"
    assert found.notes == (Note.OTHER_MODEL,)
    rebuilding.advance()
    used, built = rebuilding.progress(corner.person.team_id)
    assert (used.state, built.state) == ("active", "building")
    assert used.space != built.space
    assert (used.chunk_characters, built.chunk_characters) == (900, 400)
    other = replace(corner.viewer, person_id=factories.person(team=corner.person.team).pk)
    assert search(other, "gate", now=timezone.now()).found == []


@pytest.mark.parametrize(("status", "error"), [(401, AuthenticationFailed), (503, Overloaded)])
def test_refusals_are_told_as_ours(
    fake: FakeEmbeddings, status: int, error: type[Exception]
) -> None:
    fake.refusals.append(status)
    with pytest.raises(error) as raised:
        _open(fake).query("x")
    assert KEY not in str(raised.value)


def test_vectors_of_no_length_are_no_answer(
    fake: FakeEmbeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fake, "_vector", lambda text: [0.0] * 8)
    with pytest.raises(StreamBroken):
        _open(fake).passages(["x"])


def test_e5_is_told_which_side_a_text_is_on(fake: FakeEmbeddings) -> None:
    opened = _open(fake, "multilingual-e5-large")
    opened.query("where")
    opened.passages(["there"])
    assert fake.asked == ["query: where", "passage: there"]


def test_builtin_takes_any_text_and_keeps_its_deadline() -> None:
    embedder = BuiltinEmbedder()
    found = embedder.passages(["half \ud800 a pair", "", "long " * 40_000]).vectors
    assert [len(vector) for vector in found] == [384, 384, 384]
    assert sum(value * value for value in found[0]) == pytest.approx(1, abs=1e-3)
    with pytest.raises(TooSlow):
        embedder.query("in no time at all", deadline_s=0)


def _open(fake: FakeEmbeddings, model: str = "text-embedding-3-small") -> OpenAIEmbedder:
    return OpenAIEmbedder(
        Endpoint(api_key=KEY, base_url=fake.base_url, may_reach_private=True), model
    )
