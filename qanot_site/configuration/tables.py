"""What a file may say: each table as a pydantic model that knows no other keys."""

import re
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from difflib import get_close_matches
from typing import Annotated, Any, Final, Self
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    model_validator,
)

from agents.models import Agent, ChainLink, ProviderAccount
from agents.models.agents import AgentDocument
from agents.models.people import LANGUAGE_CHOICES
from agents.providers.presets import PRESETS
from agents.services import accounts
from agents.tools import registry
from sessions.models import ChannelAccount

# Beyond it pydantic counts no places: 1e-999999999 would be shown with a billion zeros.
MOST_PLACES: Final = 20
# TOML has no word for what a column leaves empty.
NONE: Final = "none"
OFF: Final = "off"


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a question about the likeliest of the known names; empty where none is like it."""
    by_lower = {other.lower(): other for other in known}
    found = get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return f"; did you mean “{by_lower[found[0]]}”?" if found else ""


def one_of(what: str, known: Callable[[], Sequence[str]]) -> AfterValidator:
    """Return a check that a name is known; ``known`` is asked when a file is read."""

    def check(name: str) -> str:
        names = known()
        if name in names:
            return name
        offered = nearest(name, names)
        if not offered and len(names) <= 12:
            offered = f"; there are {', '.join(names)}"
        raise ValueError(f"there is no {what} “{name}”{offered}")

    return AfterValidator(check)


def _storable(text: str) -> str:
    if "\x00" in text:
        raise ValueError("a text cannot have the character U+0000")
    return text


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("this may not be empty")
    return text


def _exact(value: object) -> object:
    """Return a price or a cap as the decimal it was written as."""
    if value == NONE:
        return None
    if isinstance(value, Decimal) and value.is_finite() and value.adjusted() < -MOST_PLACES:
        raise ValueError(f"a number has {MOST_PLACES} decimal places at most")
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return Decimal(str(value)) if is_whole else value


def _address(text: str) -> str:
    try:
        return accounts.clean_address(text)
    except ValidationError as exc:
        raise ValueError(" ".join(exc.messages)) from exc


def _column(model: type[Agent] | type[ProviderAccount], name: str) -> AfterValidator:
    """Return the checks that a column has itself."""
    column = next(field for field in model._meta.concrete_fields if field.name == name)

    def check(value: Any) -> Any:  # of whichever type the column has
        try:
            column.run_validators(value)
        except ValidationError as exc:
            raise ValueError(" ".join(exc.messages)) from exc
        return value

    return AfterValidator(check)


def _document_name(name: str) -> str:
    if name == "USER.md":
        raise ValueError("USER.md belongs to a person: no file has it")
    try:
        # The pattern's end would let one line break pass.
        AgentDocument._meta.get_field("name").run_validators(name.replace("\n", " "))
    except ValidationError as exc:
        known = ("SOUL.md", "IDENTITY.md", "SKILL.md", "TOOLS.md", "AGENTS.md", "BOOTSTRAP.md")
        offered = nearest(name, (*known, "HEARTBEAT.md"))
        raise ValueError(f"there is no document “{name}”{offered}") from exc
    return name


def _slug(slug: str) -> str:
    if not re.fullmatch(r"[-a-zA-Z0-9_]{1,50}", slug):
        raise ValueError("an agent is named by up to 50 letters, digits, hyphens and underscores")
    return slug


def _once(names: list[str]) -> list[str]:
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ValueError(f"“{name}” is named twice")
    return names


def _none(value: object) -> object:
    return None if value == NONE else value


def _float(value: object) -> object:
    """Return seconds as a column has them; TOML's numbers are read as decimals."""
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return float(value)
    return value


Text = Annotated[str, AfterValidator(_storable)]
Usd = Annotated[
    Annotated[Decimal, Field(ge=0, max_digits=10, decimal_places=4)] | None, BeforeValidator(_exact)
]
Cap = Annotated[
    Annotated[Decimal, Field(ge=0, max_digits=8, decimal_places=2)] | None, BeforeValidator(_exact)
]
Slug = Annotated[str, AfterValidator(_slug)]
AccountName = Annotated[Text, Field(max_length=100), AfterValidator(_filled)]
DocumentName = Annotated[str, AfterValidator(_document_name)]
Tool = Annotated[str, one_of("tool", registry.names)]
Language = Annotated[str, one_of("language", lambda: [code for code, _ in LANGUAGE_CHOICES])]
TimeZone = Annotated[str, one_of("time zone", lambda: sorted(available_timezones()))]
DetectorPack = Annotated[str, one_of("pack of rules", lambda: Agent.DetectorPack.values)]
PrivateFacts = Annotated[str, one_of("audience", lambda: Agent.PrivateFacts.values)]
NotesDays = Annotated[
    Annotated[int, Field(ge=1), _column(Agent, "notes_days")] | None, BeforeValidator(_none)
]
PromptOrder = Annotated[str, one_of("prompt order", lambda: Agent.PromptPreset.values)]
Effort = Annotated[
    str, one_of("effort", lambda: [OFF, *(name for name in ChainLink.Effort.values if name)])
]
PresetName = Annotated[str, one_of("preset", lambda: [known.name for known in PRESETS])]
Kind = Annotated[str, one_of("kind", lambda: ProviderAccount.Kind.values)]
Cache = Annotated[str, one_of("prompt cache", lambda: ProviderAccount.PromptCache.values)]
Address = Annotated[Text, AfterValidator(_address)]
KeyReference = Annotated[Text, Field(max_length=200), _column(ProviderAccount, "key_reference")]
Seconds = Annotated[
    Annotated[int, _column(ProviderAccount, "first_event_s")] | None, BeforeValidator(_none)
]
Receives = Annotated[str, one_of("way", lambda: ChannelAccount.Receives.values)]
AnswerMode = Annotated[str, one_of("answer mode", lambda: ChannelAccount.AnswerMode.values)]
UnknownPolicy = Annotated[str, one_of("policy", lambda: ChannelAccount.UnknownPolicy.values)]
ChatAccess = Annotated[str, one_of("access", lambda: ChannelAccount.Access.values)]
Groups = Annotated[str, one_of("way", lambda: ChannelAccount.Groups.values)]
ChannelId = Annotated[Text, Field(max_length=64), AfterValidator(_filled)]


class Table(BaseModel):
    """A table of the file: what it does not know, it refuses."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class DocumentTable(Table):
    """A document's text: here, or in a file beside this one.

    The context of the validation is what reads such a file: it takes its name, and raises
    ValueError where it may not or cannot be read.
    """

    text: Text
    file: Text | None = None

    @model_validator(mode="before")
    @classmethod
    def _with_text(cls, value: object, info: ValidationInfo) -> object:
        if isinstance(value, str):
            return {"text": value}
        if not isinstance(value, dict) or set(value) != {"file"}:
            raise ValueError('write the text in quotes, or { file = "persona/SOUL.md" }')
        if not isinstance(value["file"], str):
            raise ValueError("file wants a text in quotes")
        if info.context is None:
            raise ValueError("no other file can be read here")
        return {**value, "text": info.context(value["file"])}


class LinkTable(Table):
    """One place of an agent's chain."""

    account: AccountName
    model: Annotated[Text, Field(max_length=200), AfterValidator(_filled)]
    window_tokens: Annotated[int, Field(ge=2, le=100_000_000)] = 200_000
    max_output_tokens: Annotated[int, Field(ge=1, le=100_000_000)] = 4_096
    effort: Effort = OFF
    supports_tools: bool = True
    supports_images: bool = True
    input_usd_mtok: Usd = None
    output_usd_mtok: Usd = None

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.max_output_tokens >= self.window_tokens:
            raise ValueError("max_output_tokens has to be smaller than window_tokens")
        if (self.input_usd_mtok is None) != (self.output_usd_mtok is None):
            raise ValueError("give both prices, or neither")
        return self


class AgentTable(Table):
    """One agent, whole: what is not said is as it is in a new one."""

    name: Annotated[Text, Field(max_length=100), AfterValidator(_filled)]
    description: Annotated[Text, Field(max_length=300)] = ""
    language: Language = "en"
    time_zone: TimeZone = "UTC"
    prompt_preset: PromptOrder = Agent.PromptPreset.DEFAULT.value
    max_iterations: Annotated[int, _column(Agent, "max_iterations")] = 25
    daily_cap_usd: Cap = Decimal("5.00")
    keeps_memory: bool = True
    detector_pack: DetectorPack = Agent.DetectorPack.STANDARD.value
    private_facts: PrivateFacts = Agent.PrivateFacts.PRIVATE.value
    auto_recall: bool = True
    extracts_facts: bool = True
    notes_days: NotesDays = None
    hears_groups: bool = False
    speech_account: AccountName | None = None
    speech_model: Annotated[Text, Field(max_length=200)] = "whisper-1"
    tools: Annotated[list[Tool], AfterValidator(_once)] = []
    chain: list[LinkTable] = []
    documents: dict[DocumentName, DocumentTable] = {}


class AccountTable(Table):
    """One account at a provider; of its key, at most where it stands.

    What is not said is as the preset has it.
    """

    preset: PresetName | None = None
    kind: Kind | None = None
    base_url: Address = ""
    key_reference: KeyReference = ""
    may_reach_private: bool = False
    is_free: bool = False
    first_event_s: Seconds = None
    prompt_cache: Cache = ProviderAccount.PromptCache.FIVE_MINUTES.value

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.preset is None and self.kind is None:
            raise ValueError("an account needs a preset or a kind")
        return self


class ChannelTable(Table):
    """One Telegram bot; of its token, at most where it stands."""

    agent: Slug
    token_reference: KeyReference = ""
    base_url: Address = ""
    may_reach_private: bool = False
    receives: Receives = ChannelAccount.Receives.POLLING.value
    answer_mode: AnswerMode = ChannelAccount.AnswerMode.AUTO.value
    unknown_policy: UnknownPolicy = ChannelAccount.UnknownPolicy.RESEND.value
    access: ChatAccess = ChannelAccount.Access.PAIRING.value
    groups: Groups = ChannelAccount.Groups.MENTION.value
    bound_channels: Annotated[list[ChannelId], AfterValidator(_once)] = []
    shows_receipts: bool = False
    pause_s: Annotated[float, BeforeValidator(_float), Field(ge=0, le=30)] = 1.0
    messages_per_minute: Annotated[int, Field(ge=1, le=32_767)] = 15
