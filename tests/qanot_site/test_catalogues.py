"""The catalogues of texts: complete where they must be, compiled, and with the same values."""

import re
from collections import Counter
from typing import Final

import polib
import pytest
from django.utils import translation

from qanot_site.env import PROJECT
from sessions import notices

TRANSLATED: Final = ("uz", "ru", "tr", "pl")
LANGUAGES: Final = ("en", *TRANSLATED)
# Values by name, HTML tags, code and addresses: what a translation must leave as it is.
FIXED: Final = re.compile(r"%%|%\(\w+\)[sd]|%[sd]|\{\w*\}|</?\w[^>]*>|`[^`]*`|https?://\S+")
# As the seed project says them, straight apostrophes included.
SEEDS_WORDS: Final = {
    "rate_limit": "Limitga yetdik, biroz kutib qaytadan urinib ko'ring.",
    "auth": "API kalitda xatolik. Administrator bilan bog'laning.",
    "not a code of ours": "Xatolik yuz berdi, qaytadan urinib ko'ring.",
}


def catalogue(language: str) -> polib.POFile:
    return polib.pofile(str(PROJECT / "locale" / language / "LC_MESSAGES" / "django.po"))


def forms(entry: polib.POEntry | polib.MOEntry) -> list[str]:
    """Return a text's translations: one, or one for each plural form."""
    if entry.msgid_plural:
        return [entry.msgstr_plural[number] for number in sorted(entry.msgstr_plural)]
    return [entry.msgstr]


def translated(language: str) -> list[tuple[polib.POEntry, list[str]]]:
    return [(entry, forms(entry)) for entry in catalogue(language) if entry.translated()]


@pytest.mark.parametrize("language", TRANSLATED)
def test_translations_keep_values_tags_and_code(language: str) -> None:
    wrong = [
        (entry.msgid, form)
        for entry, said in translated(language)
        for form in said
        if Counter(FIXED.findall(form)) != Counter(FIXED.findall(entry.msgid_plural or entry.msgid))
    ]
    assert wrong == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_plurals_have_every_form(language: str) -> None:
    header = catalogue(language).metadata["Plural-Forms"]
    wanted = int(header.removeprefix("nplurals=").partition(";")[0])
    assert [
        entry.msgid
        for entry, said in translated(language)
        if entry.msgid_plural and (len(said) != wanted or not all(said))
    ] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_is_guessed_or_left_over(language: str) -> None:
    written = catalogue(language)
    assert [entry.msgid for entry in written if entry.fuzzy or entry.obsolete] == []
    assert "PO-Revision-Date" not in written.metadata
    assert "POT-Creation-Date" not in written.metadata


@pytest.mark.parametrize("language", LANGUAGES)
def test_compiled_catalogue_is_the_written_one(language: str) -> None:
    compiled = polib.mofile(str(PROJECT / "locale" / language / "LC_MESSAGES" / "django.mo"))
    assert {(entry.msgctxt, entry.msgid): forms(entry) for entry in compiled} == {
        (entry.msgctxt, entry.msgid): said for entry, said in translated(language)
    }


def test_uzbek_is_written_with_its_own_letters() -> None:
    """The letters oʻ and gʻ and the tutuq belgisi have characters of their own."""
    strays = [
        form
        for _, said in translated("uz")
        for form in said
        if re.search(r"\w['‘’`´]\w", form) and form not in SEEDS_WORDS.values()
    ]
    assert strays == []


@pytest.mark.parametrize("code", SEEDS_WORDS)
def test_uzbek_errors_are_the_seeds(code: str) -> None:
    with translation.override("uz"):
        assert notices.text_of({"v": 1, "code": code}) == SEEDS_WORDS[code]


def test_uzbek_billing_error_begins_as_the_seeds() -> None:
    with translation.override("uz"):
        assert notices.text_of({"v": 1, "code": "billing"}).startswith("API hisob muammosi. ")
