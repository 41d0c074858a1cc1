"""The first texts: complete in every language, and given to an agent without losing anything."""

import re
from pathlib import Path

import pytest

from agents.core.tokens import estimate
from agents.models import Agent, AgentDocument
from agents.models.people import LANGUAGE_CHOICES
from agents.services import documents, personas
from agents.tools import registry
from tests import factories

NAMES = [template.name for template in personas.templates()]
PLACEHOLDERS = {"{bot_name}", "{date}", "{owner_name}", "{timezone}"}
FILES = sorted(personas.FOLDER.glob("*/*/*.md"))


def placeholders(text: str) -> set[str]:
    return set(re.findall(r"\{[^{}]*\}", text))


def tools_named(text: str) -> set[str]:
    return set(re.findall(r"`([a-z_]+)`", text))


def of_language(language: str) -> list[Path]:
    return [file for file in FILES if file.parent.name == language]


# --- the files ---


def test_five_templates_in_the_languages_that_people_may_choose() -> None:
    assert NAMES == ["assistant", "secretary", "faq", "standup", "triage"]
    assert list(personas.LANGUAGES) == [code for code, _ in LANGUAGE_CHOICES]
    folders = {path.name for path in personas.FOLDER.iterdir()}
    assert folders == {*NAMES, personas.SHARED}


@pytest.mark.parametrize("template", NAMES)
@pytest.mark.parametrize("language", personas.LANGUAGES)
def test_template_has_the_same_documents_placeholders_and_tools_in_every_language(
    template: str, language: str
) -> None:
    english, spoken = personas.texts(template, "en"), personas.texts(template, language)
    assert set(spoken) == set(english) >= {"SOUL.md", "IDENTITY.md", "TOOLS.md", "BOOTSTRAP.md"}
    for name, text in spoken.items():
        assert placeholders(text) == placeholders(english[name]) <= PLACEHOLDERS, name
        assert sorted(re.findall(r"`[a-z_]+`", text)) == sorted(
            re.findall(r"`[a-z_]+`", english[name])
        ), name
        assert text.count("\n## ") == english[name].count("\n## "), name
        assert text.count("\n- ") == english[name].count("\n- "), name
    if language != "en":
        assert not {name for name in spoken if spoken[name] == english[name]}


@pytest.mark.parametrize("file", FILES, ids=lambda file: "/".join(file.parts[-3:]))
def test_text_is_short_and_names_only_tools_that_exist(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert len(text) <= 2_500
    assert tools_named(text) <= set(registry.names())
    assert text == text.strip() + "\n"


@pytest.mark.parametrize("template", NAMES)
@pytest.mark.parametrize("language", personas.LANGUAGES)
def test_whole_persona_is_cheap(template: str, language: str) -> None:
    together = sum(estimate(text) for text in personas.texts(template, language).values())
    assert together < 3_500


def test_uzbek_is_written_with_its_own_letters() -> None:
    for file in of_language("uz"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"[oOgG]['’‘`´]|\w['’‘´]\w", text), file


# --- giving them to an agent ---


@pytest.fixture
def agent(db: None) -> Agent:
    return factories.agent()


def texts_of(agent: Agent) -> dict[str, str]:
    rows = AgentDocument.objects.filter(agent=agent, person=None)
    return dict(rows.values_list("name", "text"))


def test_template_is_given_in_a_language_and_the_versions_say_which(agent: Agent) -> None:
    author = factories.user()
    changed = personas.apply_template(agent, "secretary", "uz", author)
    assert texts_of(agent) == dict(personas.texts("secretary", "uz"))
    assert set(changed) == set(texts_of(agent))
    version = AgentDocument.objects.get(agent=agent, name="SOUL.md").versions.get()
    assert (version.author, version.reason) == (author, "Template: Secretary")


def test_what_the_template_does_not_have_stays_and_what_was_written_is_a_version(
    agent: Agent,
) -> None:
    for name in ("AGENTS.md", "SOUL.md"):
        documents.save(
            AgentDocument(agent=agent, name=name), text="Ours.", author=None, reason="By hand"
        )
    changed = personas.apply_template(agent, "faq", "en", None)
    assert "AGENTS.md" not in changed
    assert texts_of(agent)["AGENTS.md"] == "Ours."
    soul = AgentDocument.objects.get(agent=agent, name="SOUL.md")
    assert [v.text for v in soul.versions.order_by("number")] == ["Ours.", soul.text]
    assert personas.apply_template(agent, "faq", "en", None) == ()


def test_agent_that_has_a_persona_is_not_introduced_again(agent: Agent) -> None:
    documents.save(AgentDocument(agent=agent, name="SOUL.md"), text="Ours.", author=None, reason="")
    personas.apply_template(agent, "assistant", "en", None)
    assert "BOOTSTRAP.md" not in texts_of(agent)


def test_ritual_that_has_not_been_held_speaks_the_new_language(agent: Agent) -> None:
    personas.apply_template(agent, "assistant", "en", None)
    personas.apply_template(agent, "triage", "ru", None)
    assert texts_of(agent)["BOOTSTRAP.md"] == personas.texts("triage", "ru")["BOOTSTRAP.md"]


def test_person_s_own_document_is_never_touched(agent: Agent) -> None:
    person = factories.person(team=agent.team)
    factories.agent_document(agent=agent, name="USER.md", person=person, text="# Anna")
    personas.apply_template(agent, "assistant", "pl", None)
    assert AgentDocument.objects.get(agent=agent, name="USER.md").text == "# Anna"


def test_unknown_language_gives_english_and_an_unknown_template_is_refused(agent: Agent) -> None:
    assert personas.texts("faq", "de") == personas.texts("faq", "en")
    with pytest.raises(ValueError, match="no template"):
        personas.apply_template(agent, "../secrets", "en", None)
