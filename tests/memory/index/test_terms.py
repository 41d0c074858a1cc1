"""What a text is found by: folding, stems, letter groups, and how a long one is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.index import terms, texts
from memory.index.folding import fold
from memory.index.languages import language_of


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("Oʻzbekiston", "ozbekiston"),
        ("Ўзбекистон", "ozbekiston"),
        ("o'zbek o‘zbek o`zbek", "ozbek ozbek ozbek"),
        ("İSTANBUL ıssız", "istanbul issiz"),
        ("Łódź, Kraków", "lodz, krakow"),
        ("Сардор живёт", "sardor jivyot"),
        ("ﬁne\u00a0and\tNUL\x00", "fine and nul"),
        ("half \ud800 a pair", "half  a pair"),
    ],
)
def test_what_is_typed_differently_folds_alike(written: str, folded: str) -> None:
    assert fold(written) == folded


@given(st.text(), st.text(), st.text())
def test_folding_looks_at_no_neighbour(before: str, sought: str, after: str) -> None:
    assert fold(before + sought + after) == fold(before) + fold(sought) + fold(after)


@given(st.text(), st.text(min_size=1), st.text())
def test_whatever_contains_a_query_has_its_inner_letter_groups(
    before: str, sought: str, after: str
) -> None:
    query = terms.of_query(sought[: terms.QUERY_CHARACTERS])
    assert set(query.inner) <= set(terms.of_text(before + query.text + after).grams)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("My cats are sleeping on the sofa", "where does the cat sleep"),
        ("Я купил две книги в Ташкенте", "какую книгу я купил"),
        ("Kitaplarımı İstanbul'da aldım", "kitap"),
        ("Piję dużo kawy", "kawę"),
        ("Мен Тошкентда яшайман", "Men Toshkentda yashayman"),
        ("Oʻgʻlim maktabda", "ogʻlim qayerda"),
    ],
)
def test_forms_of_a_word_meet(said: str, asked: str) -> None:
    assert set(terms.of_query(asked).stems) & set(terms.of_text(said).stems)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Where is my phone?", "en"),
        ("Mening ismim Bobur va men Toshkentda yashayman", "uz"),
        ("Менинг исмим Бобур", "uz"),
        ("Меня зовут Бобур", "ru"),
        ("Benim adım Bobur", "tr"),
        ("Mam na imię Bobur i jestem z Łodzi", "pl"),
    ],
)
def test_language_is_guessed_from_letters_and_common_words(text: str, language: str) -> None:
    assert language_of(text) == language


def test_words_that_say_nothing_are_no_stems() -> None:
    assert terms.of_text("what is it that you have been doing").words == 0


@given(st.text(max_size=2_000), st.integers(20, 200))
def test_pieces_without_overlap_are_the_text_again(text: str, characters: int) -> None:
    assert "".join(texts.pieces(text, characters=characters)) == text


def test_pieces_of_a_document_tell_their_line() -> None:
    text = "# Menu\n\n" + "\n\n".join(
        f"Dish {number} costs {number} euros." for number in range(40)
    )
    placed = list(texts.placed_pieces(text, characters=200, overlap=40))
    lines = text.splitlines()
    assert len(placed) > 3
    for line, piece in placed:
        assert len(piece) <= 200
        assert piece.splitlines()[0] in lines[line - 1]


def test_mark_of_a_fact_is_no_part_of_its_meaning() -> None:
    assert texts.meant("- [2026-01-05] I like tea", author_name="") == "I like tea"
