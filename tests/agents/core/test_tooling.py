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


def test_the_schema_is_built_once_for_all_specs() -> None:
    calls = []

    class Counted(BaseModel):
        """Counts how often its schema is built."""

        @classmethod
        def model_json_schema(cls, *args: object, **kwargs: object) -> dict[str, object]:
            """Count, and give a schema."""
            calls.append(1)
            return {"title": "Counted", "type": "object"}

    tool = Tool("count", "Counts.", Counted, find)
    tool.spec().parameters["changed"] = True
    assert tool.spec().parameters == {"type": "object"}
    assert len(calls) == 1


def test_a_tool_is_neither_repeated_nor_run_beside_others_unless_it_says_so() -> None:
    tool = Tool("find", "Finds things.", Query, find)
    assert not tool.safe_to_repeat
    assert not tool.may_run_in_parallel
    assert not tool.needs_approval
