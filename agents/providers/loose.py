"""Reading JSON of servers that keep to no schema: what has another type than expected is empty."""

from agents.core.messages import JsonObject


def mapping(value: object) -> JsonObject:
    """Return a JSON object, or an empty one in place of anything else a server may send."""
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> list[JsonObject]:
    """Return the objects of a JSON array; none in place of anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def string(value: object) -> str:
    """Return a JSON string; an empty one in place of anything else."""
    return value if isinstance(value, str) else ""


def positive(value: object) -> int | None:
    """Return a whole number above zero; None in place of anything else."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if value > 0 else None
