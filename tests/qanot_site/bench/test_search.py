"""`bench search`, small: filled once, measured, and gone on from."""

import pytest

from memory.index import vectors
from memory.models import EmbeddingSpace, Passage, PassageVector
from qanot_site.bench import search


@pytest.mark.django_db(transaction=True)
def test_kept_index_is_measured_again_and_not_filled_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(search, "THREAD", 20)
    monkeypatch.setattr(search, "QUERIES", 10)
    monkeypatch.setattr(search, "COMPARED_QUERIES", 10)
    monkeypatch.setattr(search, "ONE_BY_ONE", 20)
    try:
        first, _ = search.measure(passages=1_000)
        assert first["ann_recall@10"] == 1
        assert first["identifier_place"] == 1
        # All that the scope has.
        assert first["two_percent_scope_found"] == 20
        assert PassageVector.objects.count() == 1_000
        again, _ = search.measure(passages=1_000)
        assert again["identifier_place"] == 1
        assert Passage.objects.count() == 1_000 + 2 * 20
        # Nothing was loaded, so nothing is said of how long that takes.
        assert again["index_per_s"] is again["load_s"] is again["load_vectors_s"] is None
    finally:
        vectors.drop_index(EmbeddingSpace.objects.get())
