"""The pages by which a colleague joins, and by which a forgotten password is replaced."""

import re

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.urls import reverse

from agents.models import AuditEvent, Invitation, LoginLink, LoginRecord, Membership, Team, User
from agents.services import invitations, login_links
from tests import factories

pytestmark = pytest.mark.django_db

Role = Membership.Role
PASSWORD = "a long enough one 7"


@pytest.fixture
def team() -> Team:
    return factories.team(name="Bakers <b>&</b>")


@pytest.fixture
def owner(team: Team) -> User:
    user = factories.user(username="olga", first_name="Olga")
    user.set_password(PASSWORD)
    user.save()
    return factories.membership(team=team, role=Role.OWNER, user=user).user


def link_of(team: Team, owner: User, role: Role = Role.MEMBER) -> str:
    _made, secret = invitations.invite(team=team, role=role, by=owner)
    return f"/join/{secret}/"


def answers(**changed: str) -> dict[str, str]:
    return {
        "display_name": "Anna",
        "username": "anna",
        "password1": PASSWORD,
        "password2": PASSWORD,
        **changed,
    }


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_a_colleague_joins_and_lands_in_the_chat(client: Client, team: Team, owner: User) -> None:
    page = client.get(link_of(team, owner), follow=True)
    body = page.content.decode()
    assert "Olga" in body
    assert "Bakers &lt;b&gt;" in body
    assert "sees their own" in body or "see their own" in body or "their own conversations" in body
    answer = client.post("/join/", answers())
    assert (answer.status_code, answer["Location"]) == (302, "/chat/")
    assert client.get("/chat/").status_code == 200
    assert client.get("/admin/").status_code == 302


def test_the_secret_leaves_the_address_at_once_and_is_kept_nowhere(
    client: Client, team: Team, owner: User
) -> None:
    link = link_of(team, owner)
    answer = client.get(link)
    assert (answer.status_code, answer["Location"]) == (302, "/join/")
    secret = link.split("/")[2]
    session = Session.objects.get(pk=client.cookies[settings.SESSION_COOKIE_NAME].value)
    assert secret not in str(session.get_decoded())
    assert secret not in client.get("/join/").content.decode()


def test_looking_ahead_opens_nothing(client: Client, team: Team, owner: User) -> None:
    link = link_of(team, owner)
    assert client.head(link).status_code == 503
    assert client.get(link, headers={"Sec-Purpose": "prefetch"}).status_code == 503
    assert client.get("/join/").status_code == 410
    client.get(link)
    assert client.post("/join/", answers()).status_code == 302


def test_wrong_answers_are_said_beside_their_fields(
    client: Client, team: Team, owner: User
) -> None:
    client.get(link_of(team, owner))
    for wrong in (
        {"username": "OLGA"},
        {"password2": "other"},
        {"password1": "x", "password2": "x"},
    ):
        answer = client.post("/join/", answers(**wrong))
        assert answer.status_code == 200
        assert b'aria-invalid="true"' in answer.content
    assert not User.objects.filter(username="anna").exists()


@pytest.mark.parametrize(
    ("state", "words"),
    [("accepted", "used already"), ("revoked", "taken back"), ("expired", "too old")],
)
def test_a_link_that_is_over_says_so(
    client: Client, team: Team, owner: User, state: str, words: str
) -> None:
    link = link_of(team, owner)
    row = Invitation.objects.get()
    if state == "accepted":
        digest = row.digest
        invitations.accept(digest, user=factories.user())
    elif state == "revoked":
        invitations.revoke(row, by=owner)
    else:
        Invitation.objects.update(expires_at=row.created_at)
    answer = client.get(link, follow=True)
    assert answer.status_code == 410
    assert words in answer.content.decode()
    assert client.post("/join/", answers()).status_code == 410


def test_unknown_links_are_all_alike(client: Client) -> None:
    for secret in ("x", "a" * 32, "%00", "ü"):
        answer = client.get(f"/join/{secret}/", follow=True)
        assert answer.status_code == 410
        assert "does not work" in answer.content.decode()
        assert client.get(f"/password/{secret}/", follow=True).status_code == 410
    # Nor does anybody fill the table of sessions with them.
    assert not Session.objects.exists()


def test_who_has_a_login_joins_with_it(team: Team, owner: User) -> None:
    stranger = factories.user(username="sam")
    client = client_of(stranger)
    body = client.get(link_of(team, owner, Role.OPERATOR), follow=True).content.decode()
    assert "Join as sam" in body
    assert client.post("/join/").status_code == 302
    assert stranger.memberships.get().role == Role.OPERATOR
    assert client.get("/admin/").status_code == 200


def test_the_second_of_two_clicks_gets_in_as_the_first_does(
    team: Team, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    stranger = factories.user(username="sam")
    client, accept = client_of(stranger), invitations.accept
    client.get(link_of(team, owner))

    def overtaken(digest: str, *, user: User) -> None:
        accept(digest, user=user)
        raise invitations.InvitationOver

    monkeypatch.setattr(invitations, "accept", overtaken)
    answer = client.post("/join/")
    assert (answer.status_code, answer["Location"]) == (302, "/chat/")


def test_the_login_leads_back_to_the_invitation(client: Client, team: Team, owner: User) -> None:
    other = factories.user(username="sam")
    other.set_password(PASSWORD)
    other.save()
    client.get(link_of(team, owner))
    answer = client.post("/login/?next=/join/", {"username": "sam", "password": PASSWORD})
    assert answer["Location"] == "/join/"
    assert b"Join as sam" in client.get("/join/").content


def test_another_login_can_be_taken_instead(team: Team, owner: User) -> None:
    client = client_of(factories.user(username="sam"))
    client.get(link_of(team, owner))
    client.post("/join/other/")
    assert client.post("/join/", answers())["Location"] == "/chat/"
    assert User.objects.get(username="anna").memberships.get().team == team


def test_who_is_in_already_goes_on(team: Team, owner: User) -> None:
    client = client_of(factories.membership(team=team).user)
    assert client.get(link_of(team, owner), follow=True).status_code == 200
    assert Invitation.objects.get().accepted_at is None


# --- in the admin ------------------------------------------------------------------------------


def test_an_owner_makes_a_link_that_is_shown_once(team: Team, owner: User) -> None:
    client = client_of(owner)
    values = {"team": team.pk, "role": "editor", "note": "For Anna", "lifetime": "1d"}
    answer = client.post(reverse("admin:agents_invitation_add"), values)
    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    [link] = set(re.findall(r"http://testserver(/join/[\w-]+/)", answer.content.decode()))
    row = Invitation.objects.get()
    for page in ("change", "history"):
        shown = client.get(reverse(f"admin:agents_invitation_{page}", args=[row.pk]))
        assert link.split("/")[2] not in shown.content.decode()
    assert Client().get(link)["Location"] == "/join/"
    action = {"action": "revoke_selected", "_selected_action": [row.pk]}
    client.post(reverse("admin:agents_invitation_changelist"), action)
    row.refresh_from_db()
    assert row.revoked_at is not None


def test_nobody_invites_into_another_team(team: Team, owner: User) -> None:
    theirs = factories.team()
    values = {"team": theirs.pk, "role": "owner", "note": "", "lifetime": "1d"}
    client_of(owner).post(reverse("admin:agents_invitation_add"), values)
    editor = factories.membership(team=team, role=Role.EDITOR).user
    add = reverse("admin:agents_invitation_add")
    assert client_of(editor).get(add).status_code == 403
    assert client_of(editor).post(add, {**values, "team": team.pk}).status_code == 403
    assert not Invitation.objects.exists()


def test_a_foreign_invitation_is_not_taken_back(team: Team, owner: User) -> None:
    row = factories.invitation()
    action = {"action": "revoke_selected", "_selected_action": [row.pk]}
    client_of(owner).post(reverse("admin:agents_invitation_changelist"), action)
    row.refresh_from_db()
    assert row.revoked_at is None


# --- a new password ----------------------------------------------------------------------------


def test_a_new_password_by_link_ends_all_other_logins(team: Team, owner: User) -> None:
    anna = factories.membership(team=team).user
    anna.set_password("old one 12345")
    anna.save()
    elsewhere = Client()
    elsewhere.post("/login/", {"username": anna.username, "password": "old one 12345"})
    page = reverse("admin:agents_user_password_link", args=[anna.pk])
    assert b"one-time-link" not in client_of(owner).get(page).content
    shown = client_of(owner).post(page).content.decode()
    [link] = set(re.findall(r"http://testserver(/password/[\w-]+/)", shown))
    client = Client()
    assert client.get(link, follow=True).status_code == 200
    given = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    assert client.post("/password/new/", given)["Location"] == "/chat/"
    assert client.get("/chat/").status_code == 200
    assert elsewhere.get("/chat/").status_code == 302
    assert [row.ended_at is None for row in LoginRecord.objects.order_by("id")] == [False, True]
    assert Client().get(link, follow=True).status_code == 410
    actions = AuditEvent.objects.filter(team_id=team.pk).values_list("action", flat=True)
    assert {"password.link", "password.changed", "login.ended"} <= set(actions)


def test_a_weak_password_leaves_the_link_as_it_was(team: Team, owner: User) -> None:
    anna = factories.membership(team=team).user
    client = Client()
    client.get(f"/password/{login_links.issue_password(anna, by=owner)}/")
    weak = client.post("/password/new/", {"new_password1": "12345678", "new_password2": "12345678"})
    assert weak.status_code == 200
    given = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    assert client.post("/password/new/", given).status_code == 302


def test_a_login_link_is_no_password_link_and_the_other_way_round(
    team: Team, owner: User, client: Client
) -> None:
    anna = factories.membership(team=team).user
    assert client.get(f"/password/{login_links.issue(anna)}/", follow=True).status_code == 410
    secret = login_links.issue_password(anna, by=owner)
    assert Client().get(f"/login/{secret}/").status_code == 410


def test_nobody_takes_over_a_login_that_is_also_somebody_elses(team: Team, owner: User) -> None:
    root = User.objects.create_superuser("root")
    factories.membership(team=team, user=root)
    member = factories.membership(team=team).user
    elsewhere = factories.membership(user=factories.membership(team=team).user).user
    stranger = factories.membership().user
    editor = factories.membership(team=team, role=Role.EDITOR).user
    assert login_links.may_give_password(owner, member)
    for user in (root, elsewhere, stranger, owner):
        assert not login_links.may_give_password(owner, user)
        page = reverse("admin:agents_user_password_link", args=[user.pk])
        assert client_of(owner).post(page).status_code in (302, 403, 404)
    assert not login_links.may_give_password(editor, member)
    assert login_links.may_give_password(root, elsewhere)
    assert not LoginLink.objects.exists()


@pytest.mark.parametrize("change", ["the maker is demoted", "the user joins another team"])
def test_a_link_holds_only_while_its_maker_may(team: Team, owner: User, change: str) -> None:
    anna = factories.membership(team=team).user
    secret = login_links.issue_password(anna, by=owner)
    client = Client()
    client.get(f"/password/{secret}/")
    assert client.get("/password/new/").status_code == 200
    if change == "the maker is demoted":
        Membership.objects.filter(user=owner).update(role=Role.EDITOR)
    else:
        factories.membership(user=anna)
    given = {"new_password1": PASSWORD, "new_password2": PASSWORD}
    assert client.post("/password/new/", given).status_code == 410
    anna.refresh_from_db()
    assert not anna.check_password(PASSWORD)


def test_ones_own_password_is_changed_and_ends_the_others(owner: User) -> None:
    here, there = Client(), Client()
    for client in (here, there):
        client.post("/login/", {"username": "olga", "password": PASSWORD})
    given = {
        "old_password": PASSWORD,
        "new_password1": "another long 9",
        "new_password2": "another long 9",
    }
    wrong = {**given, "old_password": "wrong"}
    assert here.post("/account/password/", wrong).status_code == 200
    assert here.post("/account/password/", given).status_code == 302
    page = here.get("/account/logins/").content.decode()
    assert page.count("<li>") == 1
    assert there.get("/chat/").status_code == 302
    owner.refresh_from_db()
    assert client_of(owner).get("/admin/password_change/")["Location"] == "/account/password/"
