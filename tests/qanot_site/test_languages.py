"""In which language a page comes, and how it is chosen."""

import pytest
from django.conf import settings
from django.test import AsyncClient, Client
from pytest_django.fixtures import DjangoAssertNumQueries

from agents.models import Person, User
from agents.services import people
from tests import factories

pytestmark = pytest.mark.django_db

HOST = "http://testserver"


@pytest.fixture
def user() -> User:
    return factories.membership().user


@pytest.fixture
def inside(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def language_of(client: Client, address: str = "/chat/", **headers: str) -> str:
    return client.get(address, headers=headers)["Content-Language"]


def speaks(user: User) -> str:
    return User.objects.get(pk=user.pk).language


def choose(client: Client, language: str, **headers: str) -> str:
    answer = client.post("/language/", {"language": language}, headers=headers)
    assert answer.status_code == 302
    return answer["Location"]


@pytest.mark.parametrize(
    ("accepted", "language"),
    [
        ("uz-UZ,uz;q=0.9,ru;q=0.8,en;q=0.7", "uz"),
        ("uz-Latn-UZ", "uz"),
        ("de-AT,pl;q=0.4", "pl"),
        ("de-AT", "en"),
    ],
)
def test_browser_decides_before_anybody_has_logged_in(
    client: Client, accepted: str, language: str
) -> None:
    assert language_of(client, "/login/", **{"Accept-Language": accepted}) == language


def test_cookie_goes_before_the_browsers_languages(client: Client) -> None:
    choose(client, "tr")
    assert language_of(client, "/login/", **{"Accept-Language": "ru"}) == "tr"


def test_users_own_language_goes_before_cookie_and_browser(inside: Client, user: User) -> None:
    inside.cookies[settings.LANGUAGE_COOKIE_NAME] = "tr"
    User.objects.update(language="pl")
    assert language_of(inside, **{"Accept-Language": "ru"}) == "pl"
    assert speaks(user) == "pl"


def test_first_page_makes_the_browsers_language_the_users_and_their_peoples(
    inside: Client, user: User
) -> None:
    silent = factories.person(user=user)
    decided = factories.person(user=user, language="ru")
    assert language_of(inside, **{"Accept-Language": "uz-UZ,uz;q=0.9"}) == "uz"
    assert speaks(user) == "uz"
    spoken = dict(Person.objects.values_list("pk", "language"))
    assert (spoken[silent.pk], spoken[decided.pk]) == ("uz", "ru")
    # Another browser's languages do not matter any more.
    assert language_of(inside, **{"Accept-Language": "tr"}) == "uz"


def test_program_without_languages_settles_nothing(inside: Client, user: User) -> None:
    assert language_of(inside) == "en"
    assert speaks(user) == ""


def test_person_made_later_speaks_as_the_user_does() -> None:
    user = factories.user(language="uz")
    assert people.person_of(user, factories.team()).language == "uz"


def test_choice_is_kept_with_the_user_and_in_every_team(inside: Client, user: User) -> None:
    mine = [factories.person(user=user, language="en"), factories.person(user=user)]
    other = factories.person(user=factories.user(), language="ru")
    choose(inside, "uz")
    assert speaks(user) == "uz"
    assert set(Person.objects.filter(pk__in=[row.pk for row in mine]).values_list("language")) == {
        ("uz",)
    }
    assert Person.objects.get(pk=other.pk).language == "ru"
    assert language_of(inside, **{"Accept-Language": "ru"}) == "uz"


def test_choice_outlasts_the_login(inside: Client) -> None:
    choose(inside, "pl")
    inside.post("/logout/")
    assert language_of(inside, "/login/", **{"Accept-Language": "ru"}) == "pl"


def test_language_that_we_do_not_speak_changes_nothing(inside: Client, user: User) -> None:
    choose(inside, "de")
    choose(inside, "../../uz")
    assert speaks(user) == ""
    assert settings.LANGUAGE_COOKIE_NAME not in inside.cookies


def test_reading_an_address_chooses_nothing(client: Client) -> None:
    assert client.get("/language/?language=uz").status_code == 405


def test_other_site_cannot_choose(user: User) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(user)
    assert strict.post("/language/", {"language": "uz"}).status_code == 403
    assert speaks(user) == ""


def test_choice_leads_back_to_the_page(client: Client) -> None:
    page = f"{HOST}/admin/agents/agent/?q=one&p=2"
    assert choose(client, "uz", Referer=page) == page


def test_form_that_names_its_page_goes_before_the_browsers_word(client: Client) -> None:
    answer = client.post(
        "/language/", {"language": "uz", "next": "/admin/"}, headers={"Referer": f"{HOST}/chat/"}
    )
    assert answer["Location"] == "/admin/"


@pytest.mark.parametrize(
    "elsewhere", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", ""]
)
def test_choice_leads_nowhere_else(client: Client, elsewhere: str) -> None:
    answer = client.post(
        "/language/", {"language": "uz", "next": elsewhere}, headers={"Referer": elsewhere}
    )
    assert answer["Location"] == "/"


@pytest.mark.parametrize("address", ["/login/", "/login/used-up/", "/admin/"])
def test_page_offers_every_language_by_its_own_name(address: str) -> None:
    client = Client()
    if address == "/admin/":
        client.force_login(factories.user(is_superuser=True, language="uz"))
    answer = client.get(address)
    page = answer.content.decode()
    assert 'action="/language/"' in page
    for name in ("English", "Oʻzbekcha", "Русский", "Türkçe", "Polski"):
        assert name in page


def test_health_page_asks_for_no_user(
    inside: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(0):
        inside.get("/healthz", headers={"Accept-Language": "uz"})


def test_page_costs_no_further_query(
    inside: Client, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    User.objects.update(language="uz")
    # The session and the user, which the page reads anyway.
    with django_assert_num_queries(2):
        inside.get("/nothing-here/")


@pytest.mark.django_db(transaction=True)
async def test_decides_in_the_asynchronous_server_too() -> None:
    user = await User.objects.acreate(username="async", language="tr")
    client = AsyncClient()
    await client.aforce_login(user)
    answer = await client.get("/nothing-here/", headers={"Accept-Language": "ru"})
    assert answer["Content-Language"] == "tr"
