"""`bench search`: how quickly memory is searched and indexed, over as many passages as asked for.

Texts and vectors are made up, from a seed that is printed: words as frequent as in a language,
vectors in clusters as those of a model. What is asked for is made the same way. The embedder is
not called: a query's vector is laid ready.
"""

import itertools
import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, Final

import numpy as np
import psycopg
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from psycopg import sql as names
from rich.table import Table

from agents.core.viewer import Viewer
from agents.models import Agent, Chat, Person, Team
from memory.index import embedders, legs, postings, scopes, vectors, versions, writing
from memory.index.writing import Text
from memory.models import (
    EmbeddingSpace,
    IndexVersion,
    MemoryScope,
    MemorySettings,
    MemoryThread,
    Passage,
    PassageVector,
    Posting,
    Scope,
    scope_of,
)
from memory.search import asking, searching
from qanot_site.bench import report

SEED: Final = 20_261_201
TEAM: Final = "Bench"
SCOPES: Final = 50
THREAD: Final = 100
WORDS: Final = 20_000
CLUSTERS: Final = 500
QUERIES: Final = 300
WARM_UP: Final = 20
COMPARED_QUERIES: Final = 50
ONE_BY_ONE: Final = 300
BULK: Final = 2_000
# Where nobody watches a bar, a line is written every so many thousand.
TOLD: Final = 50
IDENTIFIER: Final = "QX-4471-B"
_COPY: Final = (
    "COPY memory_passagevector (passage_id, scope_id, space_id, digest, vector)"
    " FROM STDIN (FORMAT BINARY)"
)

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


@dataclass(slots=True)
class World:
    """What texts and vectors are drawn from."""

    dimensions: int
    chance: random.Random = field(default_factory=lambda: random.Random(SEED))  # noqa: S311
    numbers: np.random.Generator = field(default_factory=lambda: np.random.default_rng(SEED))
    vocabulary: list[str] = field(init=False)
    weights: list[float] = field(init=False)
    centres: Floats = field(init=False)

    def __post_init__(self) -> None:
        """Make words of two to four syllables, each rank as frequent as in a language."""
        syllables = ["".join(pair) for pair in itertools.product("bdfgklmnprstvz", "aeiou")]
        made = {
            "".join(self.chance.choices(syllables, k=self.chance.randint(2, 4)))
            for _ in range(2 * WORDS)
        }
        self.vocabulary = sorted(made)[:WORDS]
        self.chance.shuffle(self.vocabulary)
        rank = (1 / (place + 3) for place in range(len(self.vocabulary)))
        self.weights = list(itertools.accumulate(rank))
        self.centres = self._normal(self.numbers.standard_normal((CLUSTERS, self.dimensions)))

    def text(self) -> str:
        """Return what somebody may have said: 5 to 30 words."""
        return " ".join(self._words(self.chance.randint(5, 30)))

    def query(self) -> str:
        """Return what somebody may ask: 3 to 9 words."""
        return " ".join(self._words(self.chance.randint(3, 9)))

    def vectors(self, count: int) -> Floats:
        """Return vectors near the centres of clusters, of length one."""
        near = self.centres[self.numbers.integers(0, CLUSTERS, count)]
        noise = self.numbers.standard_normal((count, self.dimensions)) / self.dimensions**0.5
        return self._normal(near + 0.7 * noise)

    def _words(self, count: int) -> list[str]:
        return self.chance.choices(self.vocabulary, cum_weights=self.weights, k=count)

    @staticmethod
    def _normal(vectors: np.ndarray[Any, np.dtype[Any]]) -> Floats:
        scaled: Floats = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("f4")
        return scaled


@dataclass(frozen=True, slots=True)
class Place:
    """The team whose memory is searched.

    Args:
        viewer: Sees four of the scopes.
        homes: The columns of every scope, the viewer's four first.
    """

    team_id: int
    viewer: Viewer
    homes: Sequence[dict[str, object]]
    space: EmbeddingSpace


def measure(*, passages: int) -> tuple[report.Figures, Table]:
    """Fill an index, search it, and return the figures and a table.

    What a kept home has already is not done again, and not timed.
    """
    place = _found() or _place()
    world = World(place.space.dimensions)
    report.say(f"Seed {SEED}: {passages:,} passages in {SCOPES} scopes.")
    stages = {
        "texts": partial(_load, world, place, passages),
        "vectors": partial(_lay_vectors, world, place),
        "neighbours": partial(_index_vectors, place),
        "tidying": partial(_settle, place),
    }
    seconds = {name: _timed(name, do) for name, do in stages.items()}
    is_whole = None not in seconds.values()
    texts_s = seconds["texts"]
    timings = _search(world, place)
    recall, k_found = _recall(world, place)
    first = _identifier_place(place)
    one_by_one = _one_by_one(world, place)
    figures: report.Figures = {
        "passages": passages,
        **_spread(timings),
        "ann_recall@10": round(recall, 3),
        "index_per_s": round(passages / texts_s) if texts_s else None,
        "index_one_by_one_per_s": round(one_by_one),
        "load_s": round(sum(filter(None, seconds.values()))) if is_whole else None,
        **{f"load_{name}_s": taken and round(taken) for name, taken in seconds.items()},
        "identifier_place": first,
        "two_percent_scope_found": k_found,
        "seed": SEED,
    }
    return figures, _table(figures)


def _timed(name: str, do: Callable[[], bool]) -> float | None:
    """Return how many seconds a stage of loading took; None where all or part was there before."""
    began = time.perf_counter()
    if not do():
        return None
    taken = time.perf_counter() - began
    report.say(f"{name}: {taken:.0f} s")
    return taken


def _found() -> Place | None:
    """Return the place that an earlier run in this home made."""
    team = Team.objects.filter(name=TEAM).first()
    if team is None:
        return None
    agent = Agent.objects.get(team=team)
    people, chats = Person.objects.filter(team=team), Chat.objects.filter(team=team)
    return _of(team, agent, list(people.order_by("pk")), list(chats.order_by("pk")))


def _place() -> Place:
    team = Team.objects.create(name=TEAM)
    agent = Agent.objects.create(team=team, name=TEAM)
    half = SCOPES // 2 - 1
    people = [Person.objects.create(team=team, display_name=f"P{n}") for n in range(half)]
    chats = [
        Chat.objects.create(team=team, channel="bench", external_id=str(n), title=f"C{n}")
        for n in range(half)
    ]
    versions.ensure(team.pk)
    # Its vectors are laid afterwards: no passage is to wait for one.
    IndexVersion.objects.filter(team_id=team.pk).update(space=None, is_filled=True)
    return _of(team, agent, people, chats)


def _of(team: Team, agent: Agent, people: Sequence[Person], chats: Sequence[Chat]) -> Place:
    viewer = Viewer(team.pk, agent.pk, people[0].pk, chats[0].pk, is_private=True)
    shared: list[dict[str, object]] = [
        {"team_id": team.pk, "scope": Scope.TEAM},
        {"team_id": team.pk, "scope": Scope.AGENT, "agent_id": agent.pk},
    ]
    of_people = [
        scope_of(Viewer(team.pk, agent.pk, person.pk, is_private=True)) for person in people
    ]
    of_chats = [scope_of(Viewer(team.pk, agent.pk, chat_id=chat.pk)) for chat in chats]
    homes = [*shared, of_people[0], of_chats[0], *of_people[1:], *of_chats[1:]]
    space = embedders.space_of(MemorySettings(team=team))
    if space is None:
        raise RuntimeError("the built-in embedder is not installed on this machine")
    return Place(team.pk, viewer, homes, space)


def _load(world: World, place: Place, passages: int) -> bool:
    """Write and index all texts that are missing; return whether that was all of them."""
    with connection.cursor() as cursor:
        # On a busy machine the terms of one batch may take longer than a connection may wait.
        cursor.execute("SET idle_in_transaction_session_timeout = 0")
    number, there = 0, Passage.objects.count()
    with report.bar("Passages, in thousands", passages // 1_000) as bar:
        for count, home, thread in _threads(place, passages):
            if number < there:
                number += count
                continue
            said = [Text(world.text(), _at(number + n)) for n in range(count)]
            if number == 0:
                said[0] = Text(f"The flight is {IDENTIFIER} on Monday", _at(0))
            with transaction.atomic():
                writing.add(
                    said,
                    home=home,
                    kind=Passage.Kind.EXCHANGE,
                    source=f"turn:{number}",
                    thread=thread,
                )
            number += count
            if number % BULK < THREAD:
                _index_waiting()
                for done in range(number // 1_000 - BULK // 1_000 + 1, number // 1_000 + 1):
                    bar(f"{done},000 passages" if done % TOLD == 0 else "")
    _index_waiting()
    return not there


def _index_waiting() -> None:
    while postings.index_waiting(BULK):
        pass


def _threads(place: Place, passages: int) -> Iterator[tuple[int, dict[str, object], str]]:
    """Yield threads, one scope after another, as who moves in brings them."""
    threads = -(-passages // THREAD)
    for number in range(threads):
        count = min(THREAD, passages - number * THREAD)
        yield count, place.homes[number * SCOPES // threads], f"session:{number}/1"


def _at(number: int) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=20 * number)


def _lay_vectors(world: World, place: Place) -> bool:
    """Give every passage a vector, as its embedder would have, scope by scope.

    Returns:
        Whether none had one before.
    """
    left = MemoryScope.objects.filter(team_id=place.team_id, vectors=0).order_by("pk")
    is_all = not PassageVector.objects.exists()
    with report.bar("Vectors, in scopes", len(left)) as bar:
        for number, scope in enumerate(left, start=1):
            with transaction.atomic():
                _copy_vectors(world, scope, place.space)
                MemoryScope.objects.filter(pk=scope.pk).update(vectors=scope.passages)
            bar(f"{number} scopes" if number % 10 == 0 else "")
    IndexVersion.objects.filter(team_id=place.team_id).update(space=place.space)
    return is_all


def _copy_vectors(world: World, scope: MemoryScope, space: EmbeddingSpace) -> None:
    rows = np.dtype(
        [
            *(("n", ">i2"), ("l1", ">i4"), ("passage", ">i8"), ("l2", ">i4"), ("scope", ">i8")),
            *(("l3", ">i4"), ("space", ">i8"), ("l4", ">i4"), ("digest", "V16")),
            *(("l5", ">i4"), ("dim", ">i2"), ("unused", ">i2"), ("v", ">u2", world.dimensions)),
        ]
    )
    # Read first, as one connection cannot read and copy at once.
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, digest FROM memory_passage WHERE scope_id = %s ORDER BY id", [scope.pk]
        )
        known = cursor.fetchall()
        with cursor.cursor.copy(_COPY) as copy:
            copy.write(b"PGCOPY\n\xff\r\n\x00" + bytes(8))
            for start in range(0, len(known), 5_000):
                batch = known[start : start + 5_000]
                block = np.zeros(len(batch), dtype=rows)
                block["n"], block["space"], block["scope"] = 5, space.pk, scope.pk
                for name in ("l1", "l2", "l3"):
                    block[name] = 8
                block["l4"], block["l5"] = 16, 4 + 2 * world.dimensions
                block["passage"] = [row[0] for row in batch]
                block["digest"] = [row[1].bytes for row in batch]
                block["dim"] = world.dimensions
                halves = world.vectors(len(batch)).astype(np.float16)
                block["v"] = halves.view(np.uint16)
                copy.write(block.tobytes())
            copy.write(b"\xff\xff")


def _index_vectors(place: Place) -> bool:
    """Make the vectors' index on both cores; return whether there was none."""
    place.space.refresh_from_db()
    if place.space.index_state == EmbeddingSpace.IndexState.READY:
        return False
    # A run that was broken off may have left it half made.
    vectors.drop_index(place.space)
    return vectors.make_index(place.space, helpers=1)


def _settle(place: Place) -> bool:
    """Do what the server would have done by itself after an hour."""
    while postings.join_fresh() or postings.join_loose():
        pass
    with psycopg.connect(settings.DATABASE_OWNER_URL, autocommit=True) as owner:
        # Only who owns a table may.
        for model in (Passage, Posting, PassageVector, MemoryScope, MemoryThread):
            table = names.Identifier(model._meta.db_table)
            owner.execute(names.SQL("VACUUM (ANALYZE) {}").format(table))
    return True


def _search(world: World, place: Place) -> list[float]:
    """Search as a turn does; return how long each took, milliseconds."""
    timings = []
    for vector in world.vectors(QUERIES + WARM_UP):
        query = world.query()
        asking.keep(place.space.identity, query, vector.tolist())
        began = time.perf_counter()
        searching.search(place.viewer, query, now=timezone.now())
        timings.append(1_000 * (time.perf_counter() - began))
    return timings[WARM_UP:]


def _recall(world: World, place: Place) -> tuple[float, int]:
    """Return the share of the ten nearest that the index finds, and what a small scope gives."""
    visible = scopes.visible(place.viewer)
    found = 0
    least = 100
    small = scopes.narrowed(visible, visible.scope_ids[:1])
    for vector in world.vectors(COMPARED_QUERIES):
        exact = legs.nearest_of_all(visible, vector.tolist(), limit=10)
        near = list(legs.meaning(visible, vector.tolist(), limit=100))[:10]
        found += len(exact.keys() & set(near))
        least = min(least, len(legs.meaning(small, vector.tolist(), limit=100)))
    return found / (10 * COMPARED_QUERIES), least


def _identifier_place(place: Place) -> int:
    """Return at which place a search for the one identifier shows it, from 1 on."""
    found = searching.search(place.viewer, IDENTIFIER, now=timezone.now()).found
    for number, hit in enumerate(found, start=1):
        if IDENTIFIER in hit.content:
            return number
    return 0


def _one_by_one(world: World, place: Place) -> float:
    """Write and index texts as turns bring them; return how many a second."""
    said = [Text(world.text(), timezone.now()) for _ in range(ONE_BY_ONE)]
    # A kept home has those of earlier runs.
    there = Passage.objects.count()
    began = time.perf_counter()
    for number, text in enumerate(said, start=there):
        with transaction.atomic():
            writing.add(
                [text],
                home=place.homes[2],
                kind=Passage.Kind.EXCHANGE,
                source=f"turn:late {number}",
                thread="session:late/1",
            )
        postings.index_waiting(1)
        # As a worker does behind it.
        postings.join_fresh()
    return ONE_BY_ONE / (time.perf_counter() - began)


def _spread(timings: Sequence[float]) -> report.Figures:
    ordered = sorted(timings)
    return {
        "p50_ms": round(ordered[len(ordered) // 2], 1),
        "p95_ms": round(ordered[int(len(ordered) * 0.95)], 1),
    }


def _table(figures: report.Figures) -> Table:
    table = Table("figure", "value", title="Search")
    for name, value in figures.items():
        table.add_row(name, f"{value:,}" if isinstance(value, int) else str(value))
    return table
