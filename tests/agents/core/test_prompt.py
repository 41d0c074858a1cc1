"""Which parts, in which order, how long, and a manifest that says what was cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.core.prompt import (
    DOCUMENT_CHARACTERS,
    INFO,
    MEMORY,
    PROMPT_CHARACTERS,
    STATE,
    STYLE,
    Preset,
    Prompt,
    Source,
    assemble,
)
from agents.core.tokens import estimate
from tests.agents.core.transcripts import patient

PERSONA = ["SOUL.md", "IDENTITY.md", "SKILL.md", "TOOLS.md", "AGENTS.md", "USER.md", "BOOTSTRAP.md"]
EVERYTHING = [*PERSONA, "b_TOOLS.md", "a_TOOLS.md", STYLE, STATE, MEMORY, INFO]


def prompt_of(
    texts: dict[str, str], *, preset: Preset = "default", values: dict[str, str] | None = None
) -> Prompt:
    """Return the prompt of texts by name."""
    sources = [Source(name, text) for name, text in texts.items()]
    return assemble(sources, preset=preset, values=values or {})


def shown(prompt: Prompt) -> dict[str, str]:
    """Return the parts' texts by name, in their order."""
    return {part.name: part.text for part in prompt.parts}


# --- order ---


@pytest.mark.parametrize("given_order", [EVERYTHING, EVERYTHING[::-1]], ids=["as is", "reversed"])
def test_our_order_puts_what_stays_the_same_first(given_order: list[str]) -> None:
    prompt = prompt_of(dict.fromkeys(given_order, "text"))
    assert list(shown(prompt)) == [
        *("SOUL.md", "IDENTITY.md", "SKILL.md", "TOOLS.md", "a_TOOLS.md", "b_TOOLS.md"),
        *("AGENTS.md", STYLE, "USER.md", "BOOTSTRAP.md", MEMORY, STATE, INFO),
    ]
    stable = [part.is_stable for part in prompt.parts]
    assert stable == [True] * 8 + [False] * 5


def test_the_qanot_preset_keeps_the_order_of_qanot_ai() -> None:
    prompt = prompt_of(dict.fromkeys(EVERYTHING, "text"), preset="qanot")
    assert list(shown(prompt)) == [
        *("SOUL.md", "IDENTITY.md", "SKILL.md", "TOOLS.md", "a_TOOLS.md", "b_TOOLS.md"),
        *("AGENTS.md", STATE, "USER.md", "BOOTSTRAP.md", MEMORY, STYLE, INFO),
    ]


def test_blank_texts_and_documents_of_no_place_are_left_out() -> None:
    prompt = prompt_of({"SOUL.md": "Be kind.", "USER.md": " \n", "HEARTBEAT.md": "Check mails."})
    assert shown(prompt) == {"SOUL.md": "Be kind."}
    assert len(prompt.manifest) == 1


def test_without_sources_there_is_no_prompt() -> None:
    assert prompt_of({}) == Prompt((), ())


# --- length ---


def test_a_document_of_20000_characters_is_whole_and_a_longer_one_is_cut() -> None:
    prompt = prompt_of({"SOUL.md": "s" * 20_000, "SKILL.md": "a" * 14_000 + "b" * 33_000})
    texts = shown(prompt)
    assert texts["SOUL.md"] == "s" * 20_000
    assert texts["SKILL.md"].startswith("a" * 14_000 + "\n\n[… 29000 characters removed …]\n\n")
    assert texts["SKILL.md"].endswith("]\n\n" + "b" * 4_000)


def test_case_prompt_budget_1_a_memory_of_25000_is_cut_with_exact_figures() -> None:
    text = "m" * 25_000
    prompt = assemble([Source(MEMORY, text, version="12v3")], preset="default", values={})
    (part,), (entry,) = prompt.parts, prompt.manifest
    assert "[… 7000 characters removed …]" in part.text
    assert entry == {
        "part": MEMORY,
        "version": "12v3",
        "characters": len(part.text),
        "tokens": estimate(part.text),
        "cut": 7_000,
    }


@pytest.mark.parametrize("preset", ["default", "qanot"])
def test_case_prompt_budget_3_memory_is_whole_behind_24000_of_persona(preset: Preset) -> None:
    texts = {name: "p" * 3_428 for name in PERSONA} | {MEMORY: "m" * 20_000}
    assert sum(len(text) for name, text in texts.items() if name != MEMORY) == 23_996
    prompt = prompt_of(texts, preset=preset)
    assert shown(prompt)[MEMORY] == "m" * 20_000
    assert [entry["cut"] for entry in prompt.manifest] == [0] * 8


def test_all_parts_together_have_150000_characters_at_most() -> None:
    names = [*PERSONA, *(f"{n}_TOOLS.md" for n in range(5)), MEMORY]
    prompt = prompt_of({name: "x" * 19_000 for name in names})
    assert sum(len(part.text) for part in prompt.parts) <= PROMPT_CHARACTERS == 150_000
    assert [entry["cut"] for entry in prompt.manifest][:7] == [0] * 7


def test_what_found_no_room_at_all_is_still_in_the_manifest() -> None:
    names = ["SOUL.md", "IDENTITY.md", "SKILL.md", "TOOLS.md"]
    names += [f"{n}_TOOLS.md" for n in range(7)]
    prompt = prompt_of(dict.fromkeys(names, "x" * 20_000) | {MEMORY: "remember me"})
    assert MEMORY not in shown(prompt)
    assert prompt.manifest[-1] == {
        "part": MEMORY,
        "version": None,
        "characters": 0,
        "tokens": 0,
        "cut": 11,
    }


@patient
@given(
    st.dictionaries(
        st.sampled_from(EVERYTHING + [f"{n}_TOOLS.md" for n in range(9)]),
        st.integers(0, 40_000),
        max_size=20,
    ),
    st.sampled_from(["default", "qanot"]),
)
def test_no_document_and_no_prompt_is_ever_too_long(
    lengths: dict[str, int], preset: Preset
) -> None:
    prompt = prompt_of({name: "x" * length for name, length in lengths.items()}, preset=preset)
    assert all(len(part.text) <= DOCUMENT_CHARACTERS for part in prompt.parts)
    assert sum(len(part.text) for part in prompt.parts) <= PROMPT_CHARACTERS
    counted = {entry["part"]: entry["characters"] for entry in prompt.manifest}
    assert counted == {name: 0 for name in counted} | {
        part.name: len(part.text) for part in prompt.parts
    }
    assert set(counted) == {name for name, length in lengths.items() if length}


# --- placeholders ---


def test_placeholders_are_replaced_in_every_part() -> None:
    values = {"bot_name": "Qanot", "date": "2026-11-30", "owner_name": "Ali", "timezone": "UTC"}
    prompt = prompt_of(
        {"SOUL.md": "I am {bot_name} of {owner_name}.", INFO: "{date}, {timezone}, {date}"},
        values=values,
    )
    assert shown(prompt) == {
        "SOUL.md": "I am Qanot of Ali.",
        INFO: "2026-11-30, UTC, 2026-11-30",
    }


def test_unknown_placeholders_and_other_braces_stay() -> None:
    text = "{unknown} {} {{date}} { date } {dat} {date"
    prompt = prompt_of({"SOUL.md": text}, values={"date": "today"})
    assert shown(prompt)["SOUL.md"] == "{unknown} {} {today} { date } {dat} {date"


def test_a_value_that_looks_like_a_placeholder_is_not_replaced_again() -> None:
    values = {"owner_name": "{date}", "date": "{bot_name}", "bot_name": "Qanot"}
    prompt = prompt_of({"SOUL.md": "{owner_name} {date} {bot_name}"}, values=values)
    assert shown(prompt)["SOUL.md"] == "{date} {bot_name} Qanot"


def test_a_value_is_taken_as_it_is() -> None:
    prompt = prompt_of({"SOUL.md": "{owner_name}"}, values={"owner_name": r"\1 \g<0> $1"})
    assert shown(prompt)["SOUL.md"] == r"\1 \g<0> $1"


def test_limits_count_what_the_model_reads_not_the_placeholders() -> None:
    values = {"bot_name": "Qanot" * 10}
    prompt = prompt_of({"SOUL.md": "{bot_name}" + "x" * 19_990}, values=values)
    assert len(shown(prompt)["SOUL.md"]) <= DOCUMENT_CHARACTERS
    assert prompt.manifest[0]["cut"] != 0
    short = prompt_of({"SOUL.md": "{bot_name}" + "x" * 19_995}, values={"bot_name": "Q"})
    assert short.manifest[0]["cut"] == 0


def test_a_text_that_its_values_leave_blank_is_no_part() -> None:
    assert prompt_of({"USER.md": "{owner_name}"}, values={"owner_name": ""}) == Prompt((), ())


# --- minimal mode ---


@pytest.mark.parametrize("preset", ["default", "qanot"])
def test_minimal_mode_has_soul_tools_and_the_session_only(preset: Preset) -> None:
    sources = [Source(name, "text") for name in EVERYTHING]
    prompt = assemble(sources, preset=preset, values={}, mode="minimal")
    assert list(shown(prompt)) == ["SOUL.md", "TOOLS.md", INFO]
    assert [entry["part"] for entry in prompt.manifest] == ["SOUL.md", "TOOLS.md", INFO]
