"""The table of configuration variables."""

from pathlib import Path

import pytest

from qanot_site import env


def test_defaults_without_any_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in env.variable_names():
        monkeypatch.delenv(name, raising=False)

    environment = env.read_environment()

    assert environment.qanot_port == 8000
    assert environment.qanot_lease_s == 10.0
    assert environment.qanot_allowed_hosts == ()
    assert environment.anthropic_api_key is False


def test_an_empty_value_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QANOT_PORT", " ")

    assert env.read_environment().qanot_port == 8000


def test_an_unknown_name_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QANOT_LEESE_S", "3")

    with pytest.raises(env.BadEnvironment, match="QANOT_LEESE_S is not a setting"):
        env.read_environment()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("QANOT_PORT", "http"),
        ("QANOT_PORT", "65536"),
        ("QANOT_WORKERS", "0"),
        ("QANOT_DEBUG", "maybe"),
        ("QANOT_LOG_FORMAT", "xml"),
        ("QANOT_LEASE_S", "soon"),
        ("QANOT_LEASE_S", "-1"),
        ("DATABASE_URL", "mysql://user:hunter2@host/name"),
        ("REDIS_URL", "http://user:hunter2@host"),
        ("QANOT_PUBLIC_URL", "bots.example.org"),
    ],
)
def test_a_bad_value_is_named_and_never_shown(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)

    with pytest.raises(env.BadEnvironment, match=f"^{name} has a bad value") as caught:
        env.read_environment()

    assert "hunter2" not in str(caught.value)


def test_the_presence_of_a_key_is_all_that_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-something-secret")

    assert env.read_environment().openai_api_key is True


def test_hosts_are_separated_by_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QANOT_ALLOWED_HOSTS", "a.example, b.example,")

    assert env.read_environment().qanot_allowed_hosts == ("a.example", "b.example")


def test_the_environment_wins_over_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / ".env"
    file.write_text("QANOT_PORT=9000\nQANOT_WORKERS=3\n# a comment\nANY_KEY=x\n")
    monkeypatch.setenv("QANOT_PORT", "9001")
    for name in ("QANOT_WORKERS", "ANY_KEY"):
        # Registered, so that what the file adds is taken away again after the test.
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)

    env.load_dotenv(file)

    environment = env.read_environment()
    assert (environment.qanot_port, environment.qanot_workers) == (9001, 3)


def test_an_unknown_name_in_the_file_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / ".env"
    file.write_text("QANOT_COLOUR=blue\n")
    monkeypatch.setenv("QANOT_COLOUR", "")
    monkeypatch.delenv("QANOT_COLOUR")

    env.load_dotenv(file)

    with pytest.raises(env.BadEnvironment, match="QANOT_COLOUR"):
        env.read_environment()


def test_every_variable_stands_in_the_table() -> None:
    table = env.markdown_table()

    assert all(f"| `{name}` |" in table for name in env.variable_names())


def test_the_documentation_has_the_table_as_it_is() -> None:
    page = (env.PROJECT / "docs/environment.md").read_text()

    assert f"<!-- variables -->\n{env.markdown_table()}<!-- /variables -->" in page
