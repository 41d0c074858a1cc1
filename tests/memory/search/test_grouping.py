"""Which passages say the same; plain, no database."""

import pytest

from memory.search.wording import contradict, identifiers, is_same_wording, tells_change


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("My flight is at 8:15", "My flight is at 9:30"),
        ("I like green tea", "I don't like green tea"),
        ("Я люблю чай", "Я не люблю чай"),
        ("Men go'sht yeyman", "Men go'sht yemayman"),
        ("Et yiyorum", "Et yemiyorum"),
        ("Lubię herbatę", "Nie lubię herbaty"),
        ("The boss is Lola", "The boss is Sanjar"),
    ],
)
def test_other_numbers_names_and_denials_are_never_one(one: str, other: str) -> None:
    assert contradict(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I live in Tashkent", "My home is in Tashkent"),
        ("Men Toshkentda yashayman", "Uyim Toshkentda"),
        ("I love green tea", "Green tea is my favourite drink"),
    ],
)
def test_paraphrases_do_not_contradict(one: str, other: str) -> None:
    assert not contradict(one, other)


def test_case_marks_and_signs_do_not_make_another_text() -> None:
    assert is_same_wording("Menga choy yoqadi!", "menga CHOY yoqadi")
    assert not is_same_wording("tea", "coffee")


def test_identifiers_are_told_from_years_times_and_amounts() -> None:
    asked = "Is INV-88123 of 2024 at 10:30 on 10.0.0.5:8080 over 500 or 1,200, and 9876543?"
    assert identifiers(asked) == ["INV-88123", "10.0.0.5:8080", "9876543"]


def test_change_is_told_in_five_languages() -> None:
    for text in ("I moved to Khiva", "Endi choy ichaman", "Теперь я пью чай", "Artık çay içiyorum",
                 "Teraz piję herbatę"):  # fmt: skip
        assert tells_change(text)
    assert not tells_change("I live in Khiva")
