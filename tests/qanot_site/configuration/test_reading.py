"""What a file may not say, and on which line it says so."""

from pathlib import Path

import pytest

from qanot_site.configuration.errors import FileRefused
from qanot_site.configuration.reading import ConfigurationFile, read


def mistakes(folder: Path, text: str) -> list[str]:
    """Return what is wrong with a file, a line each."""
    with pytest.raises(FileRefused) as refusal:
        reading(folder, text)
    return refusal.value.lines()


def reading(folder: Path, text: str) -> ConfigurationFile:
    path = folder / "q.toml"
    path.write_text(text, encoding="utf-8", newline="")
    return read(path, name="q.toml")


def agent(*lines: str) -> str:
    return "\n".join(["[agents.one]", 'name = "One"', *lines]) + "\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[agent.one]\nname = "x"', "q.toml:1: there is no “agent” here; did you mean “agents”?"),
        (agent("max_iteration = 3"), "q.toml:3: there is no “max_iteration” here; did you mean"),
        (agent("max_iterations = 0"), "q.toml:3: "),
        (agent('max_iterations = "3"'), "q.toml:3: “max_iterations” wants a whole number"),
        (agent("max_iterations = true"), "q.toml:3: “max_iterations” wants a whole number"),
        (agent("description = 3"), "q.toml:3: “description” wants a text in quotes"),
        (agent('daily_cap_usd = "5"'), "q.toml:3: “daily_cap_usd” wants a number"),
        (agent("daily_cap_usd = nan"), "q.toml:3: “daily_cap_usd”"),
        (agent("daily_cap_usd = -1"), "q.toml:3: “daily_cap_usd”"),
        (agent("daily_cap_usd = 1e-999999999"), "q.toml:3: a number has 20 decimal places at"),
        (agent("daily_cap_usd = 0e-999999999"), "q.toml:3: a number has 20 decimal places at"),
        (agent(f"max_iterations = {'9' * 5000}"), "q.toml: this has a number or a nesting"),
        (agent(f"tools = {'[' * 5000}{']' * 5000}"), "q.toml: this has a number or a nesting"),
        (agent('language = "englsh"'), "q.toml:3: there is no language “englsh”"),
        (agent('time_zone = "Asia/Tashkend"'), "did you mean “Asia/Tashkent”?"),
        (agent("tools = [", '"current_tim"]'), "q.toml:4: there is no tool “current_tim”; did you"),
        (
            agent('tools = ["current_time", "current_time"]'),
            "q.toml:3: “current_time” is named twi",
        ),
        (agent('description = "a\\u0000b"'), "q.toml:3: a text cannot have the character U+0000"),
        ('[agents.one]\ndescription = "x"', "q.toml:1: “name” is missing"),
        ('[agents.one]\nname = " "', "q.toml:2: this may not be empty"),
        ('[agents."a b"]\nname = "x"', "q.toml:1: an agent is named by up to 50 letters"),
        (agent("[agents.one]"), "q.toml:3: this is no TOML: Cannot declare"),
        (agent('name = "Two"'), "q.toml:3: this is no TOML: Cannot overwrite a value"),
        (agent("[[agents.one.chain]]", 'account = "A"'), "q.toml:3: “model” is missing"),
        (
            agent("[[agents.one.chain]]", 'account = "A"', 'model = "m"', "input_usd_mtok = 1"),
            "q.toml:3: give both prices, or neither",
        ),
        (
            agent("[[agents.one.chain]]", 'account = "A"', 'model = "m"', "window_tokens = 100"),
            "q.toml:3: max_output_tokens has to be smaller than window_tokens",
        ),
        (agent("[agents.one.documents]", '"USER.md" = "x"'), "q.toml:4: USER.md belongs to a pers"),
        (agent("[agents.one.documents]", '"SOUL.txt" = "x"'), "did you mean “SOUL.md”?"),
        (agent("[agents.one.documents]", '"SOUL.md" = 3'), "q.toml:4: write the text in quotes"),
        ("[accounts.A]", "q.toml:1: an account needs a preset or a kind"),
        (
            '[accounts.A]\npreset = "olama"',
            "q.toml:2: there is no preset “olama”; did you mean “oll",
        ),
        ('[accounts.A]\nkind = "openai"\nkey_reference = "sk-123"', "q.toml:3: Write env:NAME"),
        ('[accounts.A]\nkind = "openai"\nbase_url = "ftp://x"', "q.toml:3: This is no address"),
        ('[accounts.A]\nkind = "openai"\nkey = "sk-1"', "q.toml:3: there is no “key” here"),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    found = mistakes(tmp_path, text)
    assert len(found) == 1
    assert said in found[0]


def test_all_mistakes_are_told_at_once_in_their_order(tmp_path: Path) -> None:
    found = mistakes(
        tmp_path, agent("max_iterations = 0", "nmae = 1") + '[accounts.A]\npreset = "x"'
    )
    assert [line.split(":")[1] for line in found] == ["3", "4", "6"]


def test_keys_are_never_repeated_in_a_mistake(tmp_path: Path) -> None:
    found = mistakes(
        tmp_path, '[accounts.A]\nkind = "openai"\nkey_reference = "sk-secret-1"\nnew_key = "sk-2"'
    )
    assert "sk-" not in "\n".join(found)


def test_windows_line_ends_count_as_lines(tmp_path: Path) -> None:
    found = mistakes(tmp_path, agent("nmae = 1").replace("\n", "\r\n"))
    assert found[0].startswith("q.toml:3: there is no “nmae”")


def test_a_text_may_stand_in_a_file_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "SOUL.md").write_bytes(b"Warm.\r\n")
    file = reading(
        tmp_path, agent("[agents.one.documents]", '"SOUL.md" = { file = "texts/SOUL.md" }')
    )
    table = file.tables["agents"]["one"]
    assert table.model_dump()["documents"]["SOUL.md"]["text"] == "Warm.\n"
    assert set(file.files) == {
        str((tmp_path / "q.toml").resolve()),
        str((tmp_path / "texts" / "SOUL.md").resolve()),
    }


@pytest.mark.parametrize("named", ["../secret.md", "/etc/hostname", "link.md", "texts/../../x"])
def test_no_file_outside_of_the_folder_is_read(tmp_path: Path, named: str) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    found = mistakes(folder, agent("[agents.one.documents]", f'"SOUL.md" = {{ file = "{named}" }}'))
    assert found[0].startswith("q.toml:4: ")
    assert "folder of this file" in found[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [(None, "cannot be read: No such file"), (b"\xff\xfe", "not written in UTF")],
)
def test_a_text_that_cannot_be_read_is_told(
    tmp_path: Path, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / "x.md").write_bytes(content)
    found = mistakes(tmp_path, agent("[agents.one.documents]", '"SOUL.md" = { file = "x.md" }'))
    assert said in found[0]


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileRefused, match=r"q.toml: No such file"):
        read(tmp_path / "q.toml", name="q.toml")
