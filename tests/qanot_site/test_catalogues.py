"""The catalogues of texts: complete where they must be, compiled, and with the same values."""

import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable
from fnmatch import fnmatch
from pathlib import Path
from typing import Final

import polib
import pytest
from django.core.management import call_command
from django.test import override_settings
from django.utils import translation

from agents.models import Membership
from qanot_site.env import PROJECT
from sessions import notices

TRANSLATED: Final = ("uz", "ru", "tr", "pl")
LANGUAGES: Final = ("en", *TRANSLATED)
ADMINISTRATED: Final = ("uz", "ru")
# Values by name, HTML tags, code and addresses: what a translation must leave as it is.
FIXED: Final = re.compile(r"%%|%\(\w+\)[sd]|%[sd]|\{\w*\}|</?\w[^>]*>|`[^`]*`|https?://\w\S*")
# Whose texts only the administration shows: in English, Uzbek and Russian.
ADMINISTRATION: Final = (
    "*/admin/*",
    "*/admin.py",
    "*/models.py",
    "*/models/*",
    "qanot_site/admin_site.py",
    "qanot_site/board.py",
    "qanot_site/doctor_page.py",
    "qanot_site/findings/*",
)
# Steps of the first hour, which everybody walks in their own language.
FIRST_HOUR: Final = (
    "agents/admin/connect*.py",
    "agents/admin/documents.py",
    "agents/admin/invitations.py",
    "agents/admin/persona*.py",
    "agents/admin/proposals.py",
    "agents/admin/purposes.py",
    "sessions/admin/preview.py",
    "sessions/admin/tryout.py",
    "templates/admin/models/connect.html",
    "templates/admin/people/*",
    "templates/admin/persona/*",
)
# What Django says in a language is told by its own catalogues, too.
BORROWED: Final = "qanot_site/borrowed_words.py"
# Of the models' words, those that other pages show, too.
SHOWN_TO_ALL: Final = {
    "owner": Membership.Role.OWNER,
    "editor": Membership.Role.EDITOR,
    "operator": Membership.Role.OPERATOR,
    "member": Membership.Role.MEMBER,
}
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


def fits(place: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch(place, pattern) for pattern in patterns)


def is_borrowed(entry: polib.POEntry) -> bool:
    return all(place == BORROWED for place, _ in entry.occurrences)


def is_for_everybody(entry: polib.POEntry) -> bool:
    """Return whether a text has a place that is not only the administration's."""
    return any(
        place != BORROWED and (fits(place, FIRST_HOUR) or not fits(place, ADMINISTRATION))
        for place, _ in entry.occurrences
    )


def named(entries: Iterable[polib.POEntry]) -> dict[tuple[str, str, str], polib.POEntry]:
    """Return entries by what makes each one unique."""
    return {
        (entry.msgctxt or "", entry.msgid, entry.msgid_plural or ""): entry for entry in entries
    }


def english(entry: polib.POEntry) -> tuple[str, ...]:
    return (entry.msgid, entry.msgid_plural) if entry.msgid_plural else (entry.msgid,)


def shown(entry: polib.POEntry) -> str:
    """Return a text in the active language, whosever catalogue has it."""
    if entry.msgid_plural:
        return translation.ngettext(entry.msgid, entry.msgid_plural, 5)
    return translation.gettext(entry.msgid)


def translated(language: str) -> list[tuple[polib.POEntry, list[str]]]:
    return [(entry, forms(entry)) for entry in catalogue(language) if entry.translated()]


@pytest.fixture(scope="module")
def gathered(tmp_path_factory: pytest.TempPathFactory) -> polib.POFile:
    """Return the texts that are in the code now, with where they are."""
    if shutil.which("xgettext") is None:
        if os.environ.get("CI"):
            pytest.fail("xgettext is missing: apt install gettext")
        pytest.skip("xgettext is not installed, which gathers the texts: apt install gettext")
    project = tmp_path_factory.mktemp("texts")
    for folder in ("agents", "memory", "qanot_site", "sessions", "templates"):
        shutil.copytree(
            PROJECT / folder, project / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    (project / "locale").mkdir()
    with (
        pytest.MonkeyPatch.context() as patch,
        override_settings(LOCALE_PATHS=[project / "locale"]),
    ):
        patch.chdir(project)
        call_command("makemessages", locale=["en"], verbosity=0)
    return polib.pofile(str(project / Path("locale/en/LC_MESSAGES/django.po")))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_of_the_code_is_in_the_catalogue(gathered: polib.POFile, language: str) -> None:
    assert named(catalogue(language)).keys() == named(gathered).keys(), "run makemessages"


@pytest.mark.parametrize("language", TRANSLATED)
def test_what_everybody_sees_is_translated(gathered: polib.POFile, language: str) -> None:
    written = named(catalogue(language))
    assert [
        entry.msgid
        for key, entry in named(gathered).items()
        if is_for_everybody(entry) and not written[key].translated()
    ] == []
    with translation.override(language):
        assert [
            english for english, role in SHOWN_TO_ALL.items() if str(role.label) == english
        ] == (
            # An operator is an operator there, too.
            ["operator"] if language in ("uz", "pl") else []
        )


@pytest.mark.parametrize("language", ADMINISTRATED)
def test_the_administration_is_translated(gathered: polib.POFile, language: str) -> None:
    written = named(catalogue(language))
    assert [
        entry.msgid
        for key, entry in named(gathered).items()
        if not is_borrowed(entry) and not written[key].translated()
    ] == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_borrowed_words_are_translated_here_or_by_django(
    gathered: polib.POFile, language: str
) -> None:
    borrowed = [entry for entry in gathered if is_borrowed(entry)]
    assert borrowed
    with translation.override(language):
        assert [entry.msgid for entry in borrowed if shown(entry) in english(entry)] == []


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
