"""The tools that the installed apps offer, by name."""

from agents.core.tooling import Tool

_tools: dict[str, Tool] = {}


def register(tool: Tool) -> None:
    """Offer a tool.

    Raises:
        ValueError: Another tool has the name.
    """
    if tool.name in _tools:
        raise ValueError(f"a tool named {tool.name!r} is registered already")
    _tools[tool.name] = tool


def get(name: str) -> Tool | None:
    """Return a tool by its name; None where no app offers it."""
    return _tools.get(name)


def names() -> list[str]:
    """Return the names of all tools, sorted."""
    return sorted(_tools)
