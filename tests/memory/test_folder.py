"""``/memories``: the six commands with the answers of Anthropic's tool, on a person's documents."""

from collections.abc import Mapping

import pytest

from agents.core.viewer import Viewer
from memory import documents, folder
from memory.errors import FolderRefused
from memory.models import MemoryDocument, scope_of

from .conftest import Scene

Home = Mapping[str, object]


@pytest.fixture
def home(scene: Scene) -> Home:
    documents.save(scope_of(scene.anna), "MEMORY.md", "# MEMORY\n", source="x")
    return scope_of(scene.anna)


def create(home: Home, path: str, text: str = "one\ntwo\n") -> str:
    return folder.create(home, path, text, source="turn:1 a")


def refusal(act, *args: object, **given: object) -> str:  # type: ignore[no-untyped-def]
    with pytest.raises(FolderRefused) as caught:
        act(*args, **given)
    return str(caught.value)


def test_folder_lists_two_levels_with_sizes(home: Home) -> None:
    create(home, "/memories/a.md", "x" * 1536)
    create(home, "/memories/work/plan.md")
    create(home, "/memories/work/deep/far.md")
    create(home, "/memories/.hidden.md")
    assert folder.view(home, "/memories").split("\n") == [
        "Here're the files and directories up to 2 levels deep in /memories, excluding hidden "
        "items and node_modules:",
        "1.5K\t/memories",
        "9B\t/memories/MEMORY.md",
        "1.5K\t/memories/a.md",
        "16B\t/memories/work/",
        "8B\t/memories/work/deep/",
        "8B\t/memories/work/plan.md",
    ]


def test_empty_folder_is_there(scene: Scene) -> None:
    assert folder.view(scope_of(scene.anna), "/memories").endswith("\n0B\t/memories")


def test_file_is_shown_with_its_lines(home: Home) -> None:
    assert create(home, "/memories/a.md") == "File created successfully at: /memories/a.md"
    assert folder.view(home, "/memories/a.md") == (
        "Here's the content of /memories/a.md with line numbers:\n     1\tone\n     2\ttwo\n"
        "     3\t"
    )
    assert folder.view(home, "/memories/a.md", (2, 2)).endswith("numbers:\n     2\ttwo")
    assert folder.view(home, "/memories/a.md", (2, -1)).endswith("\n     2\ttwo\n     3\t")


def test_text_is_exchanged_where_it_stands_once(home: Home) -> None:
    create(home, "/memories/a.md", "one\ntwo\nthree\ntwo\n")
    said = folder.str_replace(home, "/memories/a.md", "three", "drei", source="x")
    assert said == (
        "The memory file has been edited.\n     1\tone\n     2\ttwo\n     3\tdrei\n     4\ttwo\n"
        "     5\t"
    )
    assert refusal(folder.str_replace, home, "/memories/a.md", "two", "x", source="x") == (
        "No replacement was performed. Multiple occurrences of old_str `two` in lines: 2, 4. "
        "Please ensure it is unique"
    )
    assert refusal(folder.str_replace, home, "/memories/a.md", "six", "x", source="x") == (
        "No replacement was performed, old_str `six` did not appear verbatim in /memories/a.md."
    )


def test_lines_are_put_behind_a_line(home: Home) -> None:
    create(home, "/memories/a.md")
    said = folder.insert(home, "/memories/a.md", 1, "and a half\n", source="x")
    assert said == "The file /memories/a.md has been edited."
    assert MemoryDocument.objects.get(name="memory/a.md").text == "one\nand a half\ntwo\n"
    assert refusal(folder.insert, home, "/memories/a.md", 4, "x", source="x") == (
        "Error: Invalid `insert_line` parameter: 4. It should be within the range of lines of the "
        "file: [0, 3]"
    )


def test_deleted_file_is_gone_and_its_versions_stay(home: Home) -> None:
    create(home, "/memories/a.md", "secret plan")
    assert folder.delete(home, "/memories/a.md", source="x") == (
        "Successfully deleted /memories/a.md"
    )
    row = MemoryDocument.objects.get(name="memory/a.md")
    assert (row.text, row.versions.get(number=1).text) == ("", "secret plan")
    assert "a.md" not in folder.view(home, "/memories")
    create(home, "/memories/a.md", "new")
    row.refresh_from_db()
    assert (row.text, row.deleted_at, row.version_number) == ("new", None, 3)


def test_folder_is_deleted_with_all_in_it(home: Home) -> None:
    create(home, "/memories/work/a.md")
    create(home, "/memories/work/b/c.md")
    folder.delete(home, "/memories/work", source="x")
    assert folder.view(home, "/memories").endswith("\n9B\t/memories/MEMORY.md")


def test_file_and_folder_get_another_path(home: Home) -> None:
    create(home, "/memories/work/a.md", "text")
    assert folder.rename(home, "/memories/work", "/memories/past/work", source="x") == (
        "Successfully renamed /memories/work to /memories/past/work"
    )
    folder.rename(home, "/memories/past/work/a.md", "/memories/b.md", source="x")
    assert MemoryDocument.objects.get(name="memory/b.md").text == "text"
    assert [row.name for row in documents.of_scope(home)] == ["MEMORY.md", "memory/b.md"]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("view", "/memories/x.md"), "The path /memories/x.md does not exist. Please provide a valid path."),  # noqa: E501
        (("create", "/memories/MEMORY.md", "x"), "Error: File /memories/MEMORY.md already exists"),
        (("insert", "/memories/x.md", 0, "x"), "Error: The path /memories/x.md does not exist"),
        (("str_replace", "/memories/x.md", "a", "b"), "Error: The path /memories/x.md does not exist. Please provide a valid path."),  # noqa: E501
        (("delete", "/memories/x.md"), "Error: The path /memories/x.md does not exist"),
        (("delete", "/memories"), "Error: Cannot delete the /memories directory itself"),
        (("rename", "/memories/x.md", "/memories/y.md"), "Error: The path /memories/x.md does not exist"),  # noqa: E501
        (("rename", "/memories/MEMORY.md", "/memories"), "Error: The destination /memories already exists"),  # noqa: E501
        (("create", "/memories/2025-01-15.md", "x"), "Error: The file /memories/2025-01-15.md is kept by the platform: a day's notes"),  # noqa: E501
    ],
)  # fmt: skip
def test_refusals_say_what_the_tool_says(home: Home, call: tuple[object, ...], said: str) -> None:
    act = getattr(folder, str(call[0]))
    given = {} if call[0] == "view" else {"source": "x"}
    assert refusal(act, home, *call[1:], **given) == said


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd", "memories/a.md", "/memoriesx/a.md", "/memories/../a.md",
        "/memories/a/../../b",
        "/memories/%2e%2e/a", "/memories/..\\a", "/memories/a\nb", "",
    ],
)  # fmt: skip
def test_no_path_leads_out(home: Home, path: str) -> None:
    for act in (folder.view, create):
        assert "Error:" in refusal(act, home, path)


def test_secret_reaches_no_file(home: Home) -> None:
    create(home, "/memories/a.md", "the password is hunter2secret\n")
    assert "hunter2secret" not in MemoryDocument.objects.get(name="memory/a.md").text


def test_folder_is_one_scopes_alone(scene: Scene, home: Home) -> None:
    create(home, "/memories/a.md")
    others = [v for v in (scene.bobur, scene.group, scene.other_agent) if isinstance(v, Viewer)]
    assert all("a.md" not in folder.view(scope_of(viewer), "/memories") for viewer in others)
