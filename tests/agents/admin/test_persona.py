"""An agent's persona: one page, an editor that warns, versions, proposals."""

import re
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape

from agents.models import (
    Agent,
    AgentDocument,
    AgentDocumentVersion,
    BootstrapRitual,
    DocumentProposal,
    User,
)
from agents.services import documents, personas, proposals
from tests import factories
from tests.qanot_site.admin_scene import EVIL, PRIVATE, SHARED, Side, build_side

pytestmark = pytest.mark.django_db

PERSONA_PAGES = ("persona", "use_again", "template", "measure", "preview", "tryout")


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def address(row: Model, page: str = "change") -> str:
    name = f"admin:{row._meta.app_label}_{row._meta.model_name}_{page}"
    return reverse(name, args=[row.pk])


def page_of(agent: Agent, name: str = "persona") -> str:
    return reverse(f"admin:agents_agent_{name}", args=[agent.pk])


def body(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.fixture
def ours() -> Side:
    return build_side("ours")


@pytest.fixture
def theirs() -> Side:
    return build_side("theirs")


@pytest.fixture
def agent(ours: Side) -> Agent:
    made: Agent = ours.one(Agent)
    return made


@pytest.fixture
def soul(agent: Agent) -> AgentDocument:
    return AgentDocument.objects.get(agent=agent, name="SOUL.md")


@pytest.fixture
def editor(ours: Side) -> Client:
    return client_of(ours.users["editor"])


# Who may open what.


@pytest.mark.parametrize("name", PERSONA_PAGES)
def test_another_teams_agent_does_not_exist(name: str, editor: Client, theirs: Side) -> None:
    path = page_of(theirs.one(Agent), name)
    assert editor.get(path).status_code == 404
    assert editor.post(path, {"text": "x", "question": "x"}).status_code == 404


@pytest.mark.parametrize("name", ["use_again", "template", "measure", "tryout"])
def test_operators_look_and_do_not_touch(name: str, ours: Side, agent: Agent) -> None:
    client = client_of(ours.users["operator"])
    page = body(client, page_of(agent))
    assert "Write it" not in page
    assert "Use it" not in page
    assert client.post(page_of(agent, name), {"text": "x"}).status_code == 403


@pytest.mark.parametrize("name", PERSONA_PAGES)
def test_members_are_sent_away(name: str, ours: Side, agent: Agent) -> None:
    client = client_of(ours.users["member"])
    assert client.post(page_of(agent, name)).status_code == 302
    assert client.get(page_of(agent, name))["Location"].startswith(reverse("admin:login"))


@pytest.mark.parametrize("name", ["use_again", "template", "measure", "tryout"])
def test_looking_changes_nothing(name: str, editor: Client, agent: Agent) -> None:
    assert editor.get(page_of(agent, name)).status_code == 405


# The overview.


def test_the_overview_lists_documents_in_the_prompts_order(editor: Client, agent: Agent) -> None:
    for name in ("WEB_TOOLS.md", "TOOLS.md", "AGENTS.md"):
        documents.save(AgentDocument(agent=agent, name=name), text="x", author=None, reason="")
    page = body(editor, page_of(agent))
    shown = re.findall(r'class="qp-name"[^>]*>([A-Z_]+\.md)<', page)
    assert shown == [
        "IDENTITY.md",  # the proposal
        *("SOUL.md", "IDENTITY.md", "SKILL.md", "TOOLS.md", "WEB_TOOLS.md", "AGENTS.md"),
    ]
    assert f"?agent={agent.pk}&amp;name=SKILL.md" in page
    assert EVIL not in page


def test_the_overview_warns_of_what_every_prompt_cuts(editor: Client, soul: AgentDocument) -> None:
    assert "is too long" not in body(editor, page_of(soul.agent))
    documents.save(soul, text="x" * 33_000, author=None, reason="")
    page = body(editor, page_of(soul.agent))
    assert "SOUL.md is too long: every prompt leaves out 15000 characters in its middle." in page


def test_a_persons_document_is_on_their_page_alone(ours: Side, agent: Agent) -> None:
    assert "USER.md</a>" in body(client_of(ours.users["person"]), page_of(agent))
    page = body(client_of(ours.users["owner"]), page_of(agent))
    assert "USER.md</a>" not in page
    assert "1 person has a USER.md of their own." in page


def test_a_document_that_was_put_away_is_used_again(editor: Client, agent: Agent) -> None:
    document = AgentDocument(agent=agent, name="BOOTSTRAP.md")
    documents.save(document, text="Say hello.", author=None, reason="")
    AgentDocument.objects.filter(pk=document.pk).update(archived_at=timezone.now())
    factories.bootstrap_ritual(agent=agent)
    assert "put away" in body(editor, page_of(agent))
    answer = editor.post(page_of(agent, "use_again"), {"name": "BOOTSTRAP.md"})
    assert answer.status_code == 302
    document.refresh_from_db()
    assert document.archived_at is None
    assert not BootstrapRitual.objects.exists()
    assert editor.post(page_of(agent, "use_again"), {"name": "AGENTS.md"}).status_code == 404


# Templates.


def test_a_template_is_used_in_a_chosen_language(ours: Side) -> None:
    fresh = factories.agent(team=ours.team)
    user = ours.users["editor"]
    chosen = {"template": "secretary", "language": "uz"}
    assert client_of(user).post(page_of(fresh, "template"), chosen).status_code == 302
    soul = AgentDocument.objects.get(agent=fresh, name="SOUL.md")
    assert soul.text == personas.texts("secretary", "uz")["SOUL.md"]
    assert soul.versions.get().author == user


def test_a_template_asks_before_it_replaces_what_somebody_wrote(
    editor: Client, soul: AgentDocument
) -> None:
    chosen = {"template": "triage", "language": "en"}
    path = page_of(soul.agent, "template")
    asked = editor.post(path, chosen)
    assert asked.status_code == 200
    assert "in the place of your own texts?" in asked.content.decode()
    soul.refresh_from_db()
    assert soul.text == SHARED
    assert editor.post(path, {**chosen, "confirmed": "1"}).status_code == 302
    # From one template to the next nothing is lost, so nobody is asked.
    assert editor.post(path, {"template": "faq", "language": "ru"}).status_code == 302
    assert soul.versions.get(number=1).text == SHARED
    assert soul.versions.count() == 3


@pytest.mark.parametrize("chosen", [{"template": "x", "language": "en"}, {"template": "faq"}])
def test_there_is_no_such_template(chosen: dict[str, str], editor: Client, agent: Agent) -> None:
    assert editor.post(page_of(agent, "template"), chosen).status_code == 404


# The editor.


def long_soul() -> str:
    """Return 33,000 characters with a rule in the middle."""
    return "a" * 16_000 + "\nNever share prices.\n" + "b" * 16_979


def test_a_text_that_would_be_cut_is_not_saved_before_somebody_agrees(
    editor: Client, soul: AgentDocument
) -> None:
    """Row prompt-budget-2: the save is stopped, and the cut is shown in its place."""
    values = {"text": long_soul(), "base_version": 1}
    answer = editor.post(address(soul), values)
    assert answer.status_code == 200
    page = answer.content.decode()
    soul.refresh_from_db()
    assert (soul.text, soul.version_number) == (SHARED, 1)
    assert escape("This text has 33\u202f000 characters and a prompt takes 20\u202f000") in page
    assert "it would leave out 15\u202f000 characters in the middle." in page
    gone = re.search(r"<del[^>]*>(.*?)</del>", page, re.DOTALL)
    assert gone is not None
    assert "Never share prices." in gone[1]
    assert len(gone[1]) == 15_000
    assert 'name="save_anyway"' in page
    answer = editor.post(address(soul), {**values, "save_anyway": "on"})
    assert answer.status_code == 302
    soul.refresh_from_db()
    assert soul.text == long_soul()
    # Who comes back later is told, too.
    page = editor.get(address(soul)).content.decode()
    assert "it would leave out 15\u202f000 characters in the middle." in page


def test_a_new_document_is_measured_too(editor: Client, agent: Agent) -> None:
    path = reverse("admin:agents_agentdocument_add")
    values = {"agent": agent.pk, "name": "AGENTS.md", "text": "x" * 20_001}
    answer = editor.post(path, values)
    assert answer.status_code == 200
    assert "in the middle." in answer.content.decode()
    assert not AgentDocument.objects.filter(name="AGENTS.md").exists()
    assert editor.post(path, {**values, "save_anyway": "on"}).status_code == 302


def test_a_version_that_nobody_saw_is_not_written_over(editor: Client, soul: AgentDocument) -> None:
    documents.save(soul, text="By a colleague", author=None, reason="")
    answer = editor.post(address(soul), {"text": "Mine", "base_version": 1})
    assert answer.status_code == 200
    page = answer.content.decode()
    assert "Version 2 was saved while you were writing." in page
    assert "By a colleague" in page
    soul.refresh_from_db()
    assert soul.text == "By a colleague"
    assert 'name="base_version" value="2"' in page
    assert editor.post(address(soul), {"text": "Mine", "base_version": 2}).status_code == 302


def test_the_count_while_typing_is_the_prompts(editor: Client, agent: Agent) -> None:
    path = page_of(agent, "measure")
    told: dict[str, Any] = editor.post(path, {"text": "one\r\ntwo"}).json()
    assert told == {
        "said": "7 characters · about 2 tokens · 1 % of 20\u202f000",
        "percent": 1,
        "removed": 0,
    }
    assert editor.post(path, {"text": long_soul()}).json()["removed"] == 15_000


def test_a_version_is_as_long_as_the_editor_says(editor: Client, soul: AgentDocument) -> None:
    text = "I am {bot_name}, and this is long.\n" * 40 + "\n"
    documents.save(soul, text=text, author=None, reason="")
    page = editor.get(address(soul)).content.decode()
    assert len(text) == 1_401
    assert page.count("1\u202f401 characters") == 2


def test_saving_leads_back_to_the_persona(editor: Client, soul: AgentDocument) -> None:
    answer = editor.post(address(soul), {"text": "New", "base_version": 1})
    assert answer["Location"] == page_of(soul.agent)
    answer = editor.post(address(soul), {"text": "Newer", "base_version": 2, "_continue": "1"})
    assert answer["Location"] == address(soul)


def test_the_editor_is_no_place_for_somebody_elses_words(ours: Side, agent: Agent) -> None:
    private = AgentDocument.objects.get(agent=agent, name="USER.md")
    for role in ("owner", "editor", "operator"):
        page = body(client_of(ours.users[role]), address(private))
        assert PRIVATE not in page
        assert "qanot-editor" not in page
        version = private.versions.get()
        for against in ("previous", "current"):
            assert PRIVATE not in body(
                client_of(ours.users[role]), f"{address(version)}?against={against}"
            )
    # The person is an operator, who reads but does not write.
    assert PRIVATE in body(client_of(ours.users["person"]), address(private))


@pytest.mark.django_db(transaction=True)
def test_of_two_who_save_at_once_one_is_told(ours: Side, soul: AgentDocument) -> None:
    together = Barrier(2, timeout=10)

    def save(role: str) -> int:
        try:
            client = client_of(ours.users[role])
            together.wait()
            values = {"text": f"By the {role}", "base_version": 1}
            return client.post(address(soul), values).status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(save, ["owner", "editor"])) == [200, 302]
    assert soul.versions.count() == 2


# Versions.


def test_a_version_is_compared_and_restored(ours: Side, soul: AgentDocument) -> None:
    client = client_of(ours.users["editor"])
    documents.save(soul, text=f"Answer in English. {EVIL}", author=None, reason="")
    documents.save(soul, text="Answer in Uzbek.", author=None, reason="")
    first, second, third = soul.versions.order_by("number")
    page = body(client, address(third))
    assert "<mark>Uzbek</mark>" in page
    assert "added: </span>" in page
    assert EVIL not in page
    page = body(client, f"{address(first)}?against=current")
    assert "1 line added" in page
    answer = client.post(address(second, "restore"))
    assert answer["Location"] == address(soul)
    soul.refresh_from_db()
    newest = soul.versions.get(number=4)
    assert (soul.text, newest.author) == (second.text, ours.users["editor"])
    assert newest.reason == "Restored version 2"


def test_only_editors_of_the_team_restore(ours: Side, theirs: Side, soul: AgentDocument) -> None:
    documents.save(soul, text="New", author=None, reason="")
    path = address(soul.versions.get(number=1), "restore")
    assert client_of(ours.users["operator"]).post(path).status_code == 403
    assert client_of(theirs.users["owner"]).post(path).status_code == 404
    assert client_of(ours.users["owner"]).get(path).status_code == 405
    # Nobody restores what they may not read.
    private = AgentDocumentVersion.objects.get(
        document__name="USER.md", document__agent__team=ours.team
    )
    path = address(private, "restore")
    assert client_of(ours.users["owner"]).post(path).status_code == 403
    assert soul.versions.count() == 2


# Proposals.


@pytest.fixture
def proposal(agent: Agent) -> DocumentProposal:
    return DocumentProposal.objects.get(agent=agent)


def decide(client: Client, proposal: DocumentProposal, **values: object) -> str:
    """Decide, and return what the page said of it."""
    answer = client.post(address(proposal, "decide"), values, follow=True)
    assert answer.status_code == 200
    return " ".join(str(message) for message in answer.context["messages"])


def test_a_proposal_is_shown_as_a_difference_and_never_run(
    editor: Client, proposal: DocumentProposal
) -> None:
    documents.save(
        AgentDocument(agent=proposal.agent, name="IDENTITY.md"),
        text="Name: Ant",
        author=None,
        reason="",
    )
    page = body(editor, address(proposal))
    assert "removed: </span>Name: Ant" in page
    assert EVIL not in page
    assert escape(EVIL) in page
    assert "The agent started from version 0; the document is at version 1 by now." in page


def test_accepting_makes_a_version(ours: Side, proposal: DocumentProposal) -> None:
    client = client_of(ours.users["editor"])
    assert "1 proposal" in body(client, page_of(proposal.agent))
    assert decide(client, proposal, accept="1", seen_version=0).startswith("Accepted")
    document = AgentDocument.objects.get(agent=proposal.agent, name="IDENTITY.md")
    assert document.text == proposal.text
    assert document.versions.get().author == ours.users["editor"]
    assert "1 proposal" not in body(client, page_of(proposal.agent))


def test_the_second_editor_is_told(ours: Side, proposal: DocumentProposal) -> None:
    assert decide(client_of(ours.users["editor"]), proposal, refuse="1").startswith("Refused")
    said = decide(client_of(ours.users["owner"]), proposal, accept="1", seen_version=0)
    assert said == "Somebody has decided this one before you."
    assert not AgentDocument.objects.filter(agent=proposal.agent, name="IDENTITY.md").exists()


@pytest.mark.parametrize("seen", ["0", "", "x", "-1"])
def test_what_was_not_compared_is_not_accepted(
    seen: str, editor: Client, proposal: DocumentProposal
) -> None:
    document = AgentDocument(agent=proposal.agent, name="IDENTITY.md")
    documents.save(document, text="Name: Ant", author=None, reason="")
    said = decide(editor, proposal, accept="1", seen_version=seen)
    assert said.startswith("The document has changed meanwhile.")
    proposal.refresh_from_db()
    assert proposal.state == DocumentProposal.State.OPEN


def test_only_editors_of_the_team_decide(
    ours: Side, theirs: Side, proposal: DocumentProposal
) -> None:
    path = address(proposal, "decide")
    operator = client_of(ours.users["operator"])
    assert "Accept" not in body(operator, address(proposal))
    assert operator.post(path, {"accept": "1", "seen_version": 0}).status_code == 403
    assert client_of(theirs.users["owner"]).post(path, {"accept": "1"}).status_code == 404
    owner = client_of(ours.users["owner"])
    assert owner.post(path, {"seen_version": 0}).status_code == 400
    assert owner.post(path, {"accept": "1", "refuse": "1"}).status_code == 400
    proposal.refresh_from_db()
    assert proposal.state == DocumentProposal.State.OPEN


def test_the_sidebar_counts_what_waits_for_oneself(
    ours: Side, theirs: Side, proposal: DocumentProposal
) -> None:
    def badge(role: str) -> str | None:
        page = body(client_of(ours.users[role]), reverse("admin:index"))
        entry = re.search(r"Proposals\s*</span>\s*(.*?)</a>", page, re.DOTALL)
        assert entry is not None
        count = re.search(r">\s*(\d+)\s*</span>", entry[1])
        return count[1] if count else None

    assert badge("editor") == "1"
    assert badge("operator") is None
    proposals.refuse(proposal, user=ours.users["owner"])
    assert badge("editor") is None
