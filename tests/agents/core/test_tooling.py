"""What a provider is told of a tool."""

from pydantic import BaseModel

from agents.core.tooling import Tool, ToolContext, ToolSpec


class Query(BaseModel):
    """What to look for."""

    text: str
    limit: int = 5


async def find(query: Query, context: ToolContext) -> str:
    """Find nothing."""
    return ""


def test_a_spec_has_the_arguments_schema_without_the_classs_name() -> None:
    spec = Tool("find", "Finds things.", Query, find).spec()
    assert isinstance(spec, ToolSpec)
    assert (spec.name, spec.description) == ("find", "Finds things.")
    assert spec.parameters["type"] == "object"
    assert spec.parameters["required"] == ["text"]
    assert "title" not in spec.parameters


def test_a_tool_is_neither_repeated_nor_run_beside_others_unless_it_says_so() -> None:
    tool = Tool("find", "Finds things.", Query, find)
    assert not tool.safe_to_repeat
    assert not tool.may_run_in_parallel
    assert not tool.needs_approval
