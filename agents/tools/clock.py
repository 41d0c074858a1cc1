"""What time it is."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, field_validator

from agents.core.tooling import Tool, ToolContext
from agents.tools.registry import register


class CurrentTime(BaseModel):
    """Arguments of ``current_time``."""

    model_config = ConfigDict(extra="forbid")

    time_zone: str | None = Field(
        default=None,
        max_length=64,
        description="IANA name such as Asia/Tashkent; without it the person's own time zone.",
    )

    @field_validator("time_zone")
    @classmethod
    def _is_known(cls, name: str | None) -> str | None:
        if name is not None:
            _zone(name)
        return name


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as exc:
        # OSError: a name such as "Asia" is a folder of the time zone database.
        raise ValueError(f"{name!r} is no IANA time zone; an example is Asia/Tashkent") from exc


async def _current_time(arguments: CurrentTime, context: ToolContext) -> str:
    name = arguments.time_zone or context.time_zone
    local = datetime.now(UTC).astimezone(_zone(name))
    return f"{local.isoformat(timespec='seconds')} ({local:%A}, {name})"


register(
    Tool(
        name="current_time",
        description="Tells the current date, weekday and time, here or in another time zone.",
        arguments=CurrentTime,
        run=_current_time,
        safe_to_repeat=True,
        may_run_in_parallel=True,
    )
)
