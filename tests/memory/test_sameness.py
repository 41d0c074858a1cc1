"""Which facts are one, and which one makes another untrue."""

import pytest

from memory.detector import scan
from memory.sameness import Said, fingerprint, is_named, is_replaced, is_vague, may_be_replaced


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


def facts_of(text: str) -> list[Said]:
    return [
        Said(hit.category, hit.text, hit.value, hit.is_negated, hit.language) for hit in scan(text)
    ]


def is_forgotten(fact: str, wish: str) -> bool:
    (asked,) = (hit for hit in scan(wish) if hit.category == "forget")
    named = {
        is_named(said, forgotten=asked.value, language=asked.language) for said in facts_of(fact)
    }
    assert len(named) == 1
    return named.pop()


@pytest.mark.parametrize(
    ("fact", "wish"),
    [
        ("Telefon raqamim +998 90 123 45 67", "telefon raqamimni unut"),
        ("Mening ismim Sardor", "ismimni unut"),
        ("Men choyni yoqtiraman", "choyni yoqtirishimni unut"),
        ("Telefon numaram 0532 123 45 67", "telefon numaramı unut"),
        ("Adım Mehmet", "adımı unut"),
        ("Doğum günüm 5 Mayıs 1990", "doğum günümü unut"),
        ("Eşimin adı Ayşe", "eşimin adını unut"),
        ("Kahve severim", "kahve sevdiğimi unut"),
        ("Меня зовут Саша", "забудь моё имя"),
        ("Меня зовут Саша", "забудь, как меня зовут"),
        ("Мою жену зовут Анна", "забудь имя моей жены"),
        ("Запомни: моя жена Анна", "забудь про мою жену"),
        ("Moja żona ma na imię Anna", "zapomnij o mojej żonie"),
        ("Moje urodziny są 5 maja 1990", "zapomnij o moich urodzinach"),
        ("I'm Bobur", "forget my name"),
        ("My phone is +998 90 123 45 67", "forget my phone number"),
        ("My dog's name is Rex", "forget my dog"),
        ("I love sushi", "forget that I like sushi"),
    ],
)
def test_wish_names_a_fact_with_other_endings_and_words(fact: str, wish: str) -> None:
    assert is_forgotten(fact, wish)


@pytest.mark.parametrize(
    ("fact", "wish"),
    [
        ("My career goal deadline is 5 May 2027", "forget my car"),
        ("Remember that my cards are in the drawer", "forget my car"),
        ("Remember that my boss bought tea for 5 people", "forget that I like tea"),
        ("My dog's name is Rex", "forget my name"),
        ("My wife's phone is +998 90 123 45 67", "forget my phone number"),
        ("Запомни: картошка лежит в подвале", "забудь мою карту"),
    ],
)
def test_wish_names_no_word_that_only_begins_alike(fact: str, wish: str) -> None:
    assert not is_forgotten(fact, wish)


@pytest.mark.parametrize(("wish", "is_so"), [("my number", True), ("my phone number", False)])
def test_wish_for_a_number_is_vague_until_it_is_said_of_what(wish: str, is_so: bool) -> None:
    assert is_vague(wish) is is_so


def corrected(old: str, new: str) -> tuple[bool, bool]:
    """Return whether the old fact is replaced for sure, and whether it may be."""
    told = facts_of(old)[0]
    fixes = [hit for hit in scan(new) if hit.category == "correction" or hit.replaces]
    fix = fixes[0]
    by = Said(fix.category, fix.text, fix.value, fix.is_negated, fix.language)
    return (
        is_replaced(told, by=by, replaces=fix.replaces),
        may_be_replaced(told, by=by, replaces=fix.replaces),
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The meeting is at 15:00", "Correction: the meeting is at 16:00"),
        ("Remember that my flight is on 5 May", "Actually my flight is on 6 May"),
        ("Мой номер +998 90 123 45 67", "Вообще-то мой номер +998 91 111 22 33"),
        ("Mam na imię Ala", "Nie Ala, tylko Ola"),
        ("Spotkanie jest o 15:00", "Nie, spotkanie jest o 16:00"),
        ("Mening ismim Sarvar", "Aslida ismim Sardor"),
        ("Uchrashuv soat 15:00 da", "Yo'q, uchrashuv 16:00 da"),
        ("Toplantı saat 15:00'te", "Hayır, toplantı 16:00'da"),
    ],
)
def test_correction_says_the_same_in_its_own_lead_and_units(old: str, new: str) -> None:
    assert corrected(old, new)[0]


def test_correction_may_say_less_of_what_it_corrects() -> None:
    assert corrected("The meeting with Anna is at 15:00", "Actually the meeting is at 16:00") == (
        False,
        True,
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My name is Alina", "Actually my name is Sardor, not Ali"),
        ("My dog's name is Ali", "Actually my name is Sardor, not Ali"),
        ("My wife's name is Nilufar", "Actually, my name is Sardor"),
        ("My wife's phone is +998 90 123 45 67", "Actually my phone is +998 91 111 22 33"),
        ("My phone is +998 90 123 45 67", "Actually my work phone is +998 91 111 22 33"),
        ("My flight is on 5 May 2027", "Actually my return flight is on 6 May 2027"),
    ],
)
def test_correction_leaves_what_is_about_something_else(old: str, new: str) -> None:
    assert corrected(old, new) == (False, False)


def marks(text: str) -> set[str]:
    return {fingerprint(said, author_id=None) for said in facts_of(text)}


@pytest.mark.parametrize(
    ("one", "other", "is_one"),
    [
        ("My phone number is +998 90 123 45 67", "My phone: +998901234567", True),
        ("My email is a@b.uz", "You can reach me at a@b.uz", True),
        ("I don't like onions", "I hate onions", True),
        ("I like onions", "I hate onions", False),
        ("My phone is +998 90 123 45 67", "My wife's phone is +998 90 123 45 67", False),
    ],
)
def test_fact_in_other_words_is_one(one: str, other: str, is_one: bool) -> None:
    assert (marks(one) == marks(other)) is is_one
