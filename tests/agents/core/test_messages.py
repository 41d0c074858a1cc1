"""A reply's stored form."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError

from agents.core.messages import (
    AssistantMessage,
    JsonObject,
    OpaqueBlock,
    Reply,
    TextBlock,
    ToolCall,
    Usage,
    dump_reply,
    load_reply,
)
from agents.core.tokens import estimate_message
from tests.agents.core.transcripts import patient

# As the first release wrote it; rows like this one must stay readable.
STORED_V1 = (
    '{"v":1,"reply":{"message":{"blocks":[{"text":"Let me look.","type":"text"},'
    '{"id":"call_1","name":"memory_search","arguments":{"query":"tea"},"malformed":null,'
    '"type":"tool_call"}],"role":"assistant"},"stop_reason":"tool_calls",'
    '"usage":{"input_tokens":3,"cache_read_tokens":73030,"cache_write_tokens":2124,'
    '"output_tokens":1059,"reasoning_tokens":0,"is_estimate":false},"model":"m-1"}}'
)
REPLY_V1 = Reply(
    AssistantMessage(
        (TextBlock("Let me look."), ToolCall("call_1", "memory_search", {"query": "tea"}))
    ),
    "tool_calls",
    Usage(3, 73_030, 2_124, 1_059),
    "m-1",
)

# With a block that only its provider can read; the second form.
STORED_V2 = (
    '{"v":2,"reply":{"message":{"blocks":[{"origin":"anthropic api.anthropic.com m-1",'
    '"data":{"type":"redacted_thinking","data":"c2VjcmV0"},"type":"opaque"},'
    '{"id":"call_1","name":"memory_search","arguments":{"query":"tea"},"malformed":null,'
    '"type":"tool_call"}],"role":"assistant"},"stop_reason":"tool_calls","usage":null,'
    '"model":"m-1"}}'
)
REPLY_V2 = Reply(
    AssistantMessage(
        (
            OpaqueBlock(
                "anthropic api.anthropic.com m-1", {"type": "redacted_thinking", "data": "c2VjcmV0"}
            ),
            ToolCall("call_1", "memory_search", {"query": "tea"}),
        )
    ),
    "tool_calls",
    None,
    "m-1",
)

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_scalar: st.SearchStrategy[JsonValue] = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), _text
)
_json: st.SearchStrategy[JsonValue] = st.recursive(
    _scalar,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(_text, inner, max_size=3)),
    max_leaves=8,
)
_arguments: st.SearchStrategy[JsonObject] = st.dictionaries(_text, _json, max_size=3)
_blocks = st.one_of(
    st.builds(TextBlock, _text),
    st.builds(ToolCall, _text, _text, _arguments, st.none() | _text),
    st.builds(OpaqueBlock, _text, _arguments),
)
_replies = st.builds(
    Reply,
    st.builds(AssistantMessage, st.lists(_blocks, max_size=4).map(tuple)),
    st.sampled_from(["end", "tool_calls", "max_tokens", "refusal", "other"]),
    st.none() | st.builds(Usage, st.integers(0, 10**6), is_estimate=st.booleans()),
    _text,
)


@patient
@given(_replies)
def test_a_stored_reply_is_read_as_it_was(reply: Reply) -> None:
    assert load_reply(dump_reply(reply)) == reply


def test_a_reply_stored_by_the_first_release_is_still_read() -> None:
    assert load_reply(STORED_V1) == REPLY_V1


def test_the_stored_form_names_its_version() -> None:
    assert json.loads(dump_reply(REPLY_V1))["v"] == 2


def test_a_reply_with_an_opaque_block_is_read() -> None:
    assert load_reply(STORED_V2) == REPLY_V2
    assert dump_reply(REPLY_V2) == STORED_V2


def test_opaque_blocks_are_no_text() -> None:
    assert REPLY_V2.message.text == ""
    assert estimate_message(REPLY_V2.message) == estimate_message(
        AssistantMessage(REPLY_V2.message.tool_calls)
    )


def test_a_reply_of_an_unknown_version_is_not_guessed_at() -> None:
    with pytest.raises(ValidationError):
        load_reply(STORED_V1.replace('"v":1', '"v":3'))


def test_the_window_is_filled_by_everything_sent_and_said() -> None:
    assert Usage(3, 73_030, 2_124, 1_059, reasoning_tokens=59).context_tokens == 76_216


def test_a_message_gives_its_text_and_its_calls_in_order() -> None:
    first, second = ToolCall("1", "a"), ToolCall("2", "b")
    message = AssistantMessage((TextBlock("one "), first, TextBlock("two"), second))
    assert message.text == "one two"
    assert message.tool_calls == (first, second)
