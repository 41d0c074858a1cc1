"""The prompt of an agent for a viewer, from its rows."""

from dataclasses import replace

import pytest
from pytest_django import DjangoAssertNumQueries

from agents.core.prompt import INFO, MEMORY, STATE, STYLE, Prompt
from agents.core.viewer import Viewer
from agents.models import Agent, Person
from sessions import prompting
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db

DOCUMENTS = ["SOUL.md", "IDENTITY.md", "SKILL.md", "TOOLS.md", "AGENTS.md", "CRM_TOOLS.md"]


@pytest.fixture
def agent() -> Agent:
    return factories.agent(name="Bee", time_zone="Asia/Tashkent")


@pytest.fixture
def anna(agent: Agent) -> Person:
    return factories.person(team=agent.team, display_name="Anna", time_zone="Europe/Warsaw")


def viewer_of(agent: Agent, person: Person) -> Viewer:
    return Viewer(agent.team_id, agent.pk, person.pk, is_private=True)


def shown(prompt: Prompt) -> dict[str, str]:
    return {part.name: part.text for part in prompt.parts}


def cuts(prompt: Prompt) -> dict[str, int]:
    return {str(entry["part"]): int(str(entry["cut"])) for entry in prompt.manifest}


def test_case_prompt_budget_1_memory_of_25000_is_marked_where_it_is_cut(
    agent: Agent, anna: Person
) -> None:
    factories.memory_document(agent=agent, person=anna, text="m" * 25_000)
    prompt = prompting.assemble_for(agent, viewer_of(agent, anna), now=NOON, person=anna)
    assert "[… 7047 characters removed …]" in shown(prompt)[MEMORY]
    assert cuts(prompt)[MEMORY] == 7_047


def test_case_prompt_budget_3_seven_files_of_24000_leave_memory_its_20000(
    agent: Agent, anna: Person
) -> None:
    for name in DOCUMENTS:
        factories.agent_document(agent=agent, name=name, text="d" * 3_428)
    factories.agent_document(agent=agent, name="USER.md", person=anna, text="u" * 3_432)
    headings = len("# Your Long-Term Memory\n\n## About this person\n\n")
    factories.memory_document(agent=agent, person=anna, text="m" * (20_000 - headings))
    prompt = prompting.assemble_for(agent, viewer_of(agent, anna), now=NOON, person=anna)
    texts = shown(prompt)
    assert sum(len(texts[name]) for name in (*DOCUMENTS, "USER.md")) == 24_000
    assert len(texts[MEMORY]) == 20_000
    assert set(cuts(prompt).values()) == {0}


def test_private_prompt_tells_the_persons_name_and_time(agent: Agent, anna: Person) -> None:
    info = shown(
        prompting.assemble_for(
            agent, viewer_of(agent, anna), now=NOON, person=anna, window_tokens=1_000
        )
    )[INFO]
    assert "Monday, 2026-11-30 13:00 (Europe/Warsaw)" in info
    assert "(0 of 1000 tokens)" in info
    assert "You talk with: Anna" in info


def test_group_prompt_tells_neither_name_nor_user_md_and_uses_the_agents_time(
    agent: Agent, anna: Person
) -> None:
    factories.agent_document(agent=agent, name="USER.md", person=anna, text="Likes tea.")
    factories.memory_document(agent=agent, person=anna, text="- Likes coffee")
    group = replace(viewer_of(agent, anna), is_private=False, chat_id=1)
    text = str(prompting.assemble_for(agent, group, now=NOON, person=anna).parts)
    assert "17:00 (Asia/Tashkent)" in text
    assert not any(word in text for word in ("Anna", "tea", "coffee"))


def test_conversation_shows_what_was_noted_in_it(agent: Agent, anna: Person) -> None:
    session = factories.chat_session(agent=agent, person=anna)
    generation = session.generations.get()
    generation.context_tokens = 500
    factories.wal_entry(agent=agent, person=anna, thread=f"session:{session.pk}/1", text="Gate 7")
    prompt = prompting.assemble_for(
        agent,
        viewer_of(agent, anna),
        now=NOON,
        person=anna,
        generation=generation,
        window_tokens=1_000,
    )
    assert "Gate 7" in shown(prompt)[STATE]
    assert "50.0 % (500 of 1000 tokens)" in shown(prompt)[INFO]


def test_draft_stands_in_for_what_is_stored(agent: Agent, anna: Person) -> None:
    factories.agent_document(agent=agent, text="Old soul of {bot_name}.")
    drafts = {"SOUL.md": "New soul of {bot_name}.", "SKILL.md": "A skill."}
    prompt = prompting.assemble_for(
        agent, viewer_of(agent, anna), now=NOON, person=anna, drafts=drafts
    )
    assert shown(prompt)["SOUL.md"] == "New soul of Bee."
    assert shown(prompt)["SKILL.md"] == "A skill."


def test_ritual_is_shown_to_the_first_conversation_only(agent: Agent, anna: Person) -> None:
    factories.agent_document(agent=agent, name="BOOTSTRAP.md", text="Ask their name.")
    viewer = viewer_of(agent, anna)
    assert "BOOTSTRAP.md" not in shown(prompting.assemble_for(agent, viewer, now=NOON))
    first = prompting.assemble_for(agent, viewer, now=NOON, with_ritual=True)
    assert "BOOTSTRAP.md" in shown(first)


def test_minimal_prompt_asks_memory_nothing(
    agent: Agent, anna: Person, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for name in DOCUMENTS:
        factories.agent_document(agent=agent, name=name, text="text")
    factories.memory_document(agent=agent, person=anna, text="- Likes coffee")
    with django_assert_num_queries(1):
        prompt = prompting.assemble_for(
            agent,
            viewer_of(agent, anna),
            now=NOON,
            person=anna,
            window_tokens=1_000,
            mode="minimal",
        )
    assert list(shown(prompt)) == ["SOUL.md", "TOOLS.md", INFO]


def test_full_prompt_costs_three_statements(
    agent: Agent, anna: Person, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    factories.agent_document(agent=agent, text="Be kind.")
    with django_assert_num_queries(3):
        prompt = prompting.assemble_for(
            agent, viewer_of(agent, anna), now=NOON, person=anna, window_tokens=1_000
        )
    assert list(shown(prompt)) == ["SOUL.md", STYLE, INFO]


def test_window_is_the_smallest_of_the_chain(agent: Agent, anna: Person) -> None:
    account = factories.provider_account(team=agent.team)
    factories.chain_link(agent=agent, account=account, window_tokens=9_000)
    factories.chain_link(agent=agent, account=account, window_tokens=8_000, position=1)
    info = shown(prompting.assemble_for(agent, viewer_of(agent, anna), now=NOON))[INFO]
    assert "of 8000 tokens" in info
