"""Which facts are one, and which one makes another untrue."""

import pytest

from memory.sameness import Said, fingerprint, is_named, is_replaced


def mark(category: str, text: str, value: str = "", *, negated: bool = False) -> str:
    return fingerprint(Said(category, text, value, negated), author_id=None)


@pytest.mark.parametrize(
    ("category", "one", "other"),
    [
        ("proper_noun", "My name is Anna", "i'm ANNA!"),
        ("proper_noun", "Mening ismim Gʻulom", "Менинг исмим Ғулом"),
        ("proper_noun", "Меня зовут Анна", "меня зовут  анна."),
        ("preference", "I like green tea", "I really do like green tea, please remember"),
        ("preference", "Ben çayı çok severim", "ben ÇAYI severim"),
        ("remember", "Don't forget that the door is green", "Remember: the door is green"),
    ],
)
def test_trivial_rewordings_are_one_fact(category: str, one: str, other: str) -> None:
    assert mark(category, one) == mark(category, other)


@pytest.mark.parametrize(
    ("category", "one", "other"),
    [
        ("proper_noun", "My name is Anna", "My sister's name is Anna"),
        ("preference", "I prefer tea to coffee", "I prefer coffee to tea"),
        ("preference", "I like tea", "I hate tea"),
        ("specific_value", "The deadline is 2025-06-15", "The deadline is 2025-06-16"),
    ],
)
def test_different_facts_stay_apart(category: str, one: str, other: str) -> None:
    assert mark(category, one) != mark(category, other)


def test_denial_is_not_the_same_but_about_the_same() -> None:
    said, denied = Said("preference", "I like tea"), Said("preference", "I don't like tea")
    assert fingerprint(denied, author_id=None, is_negated=False) == fingerprint(
        said, author_id=None
    )


SARVAR = Said("proper_noun", "My name is Sarvar", "Sarvar")
SARDOR = Said("correction", "Actually, my name is Sardor, not Sarvar", "Sardor")


@pytest.mark.parametrize(
    ("old", "new", "replaces", "is_so"),
    [
        (SARVAR, SARDOR, "Sarvar", True),
        (Said("proper_noun", "I'm Sarvar", "Sarvar"), SARDOR, "Sarvar", True),
        (Said("proper_noun", "Men Sarvarman", "Sarvar"), SARDOR, "Sarvar", True),
        (SARVAR, Said("correction", "Actually, my name is Sardor", "Sardor"), "", True),
        (
            Said("proper_noun", "My name is Sarvar and I live in Samarkand", "Sarvar"),
            SARDOR,
            "Sarvar",
            True,
        ),
        (Said("proper_noun", "My brother's name is Sarvar", "Sarvar"), SARDOR, "Sarvar", False),
        (Said("remember", "My friend Sarvar lives in Tashkent"), SARDOR, "Sarvar", False),
        (Said("preference", "I like Sardor's tea", "tea"), SARDOR, "Sarvar", False),
        (
            Said("specific_value", "The meeting is at 14:00", "14:00"),
            Said("correction", "Actually the meeting is at 15:00", "15:00"),
            "",
            True,
        ),
        (
            Said("specific_value", "The flight is at 14:00", "14:00"),
            Said("correction", "Actually the meeting is at 15:00", "15:00"),
            "",
            False,
        ),
        (
            Said("specific_value", "The meeting is on Thursday", "Thursday"),
            Said("correction", "No, the meeting is on Friday, not Thursday", "Friday"),
            "Thursday",
            True,
        ),
    ],
)
def test_correction_replaces_what_is_about_the_same(
    old: Said, new: Said, replaces: str, is_so: bool
) -> None:
    assert is_replaced(old, by=new, replaces=replaces) is is_so


@pytest.mark.parametrize(
    ("forgotten", "is_so"),
    [
        ("my phone number", True),
        ("what I told you about my phone number", True),
        ("everything", True),
        ("my address", False),
        ("", False),
    ],
)
def test_wish_to_forget_names_what_has_its_words(forgotten: str, is_so: bool) -> None:
    fact = Said("remember", "My phone number is +998 90 123 45 67")
    assert is_named(fact, forgotten=forgotten) is is_so
