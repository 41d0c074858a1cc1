"""A conversation that every provider takes: each call has its result, right behind it."""

from hypothesis import given

from agents.core.messages import (
    AssistantMessage,
    Image,
    Message,
    OpaqueBlock,
    TextBlock,
    ToolCall,
    ToolResult,
    UserMessage,
)
from agents.core.repair import (
    INTERRUPTED,
    repair_history,
    repair_reply,
    without_images,
    without_tools,
)
from tests.agents.core.transcripts import assert_whole, broken, patient, whole
from tests.fakes.scripted import reply

ONE, TWO = ToolCall("1", "find"), ToolCall("2", "save")
HELLO = UserMessage("Hello")


def result(call: ToolCall, text: str = "found") -> ToolResult:
    """Return what a call gave."""
    return ToolResult(call.id, call.name, text)


def unknown(call: ToolCall) -> ToolResult:
    """Return the result of a call that nobody knows the end of."""
    return ToolResult(call.id, call.name, INTERRUPTED, is_error=True)


def test_a_call_without_result_gets_one_that_says_so_right_behind_it() -> None:
    asked = AssistantMessage((TextBlock("Look."), ONE))
    assert repair_history([HELLO, asked, HELLO]) == (HELLO, asked, unknown(ONE), HELLO)


def test_a_missing_result_among_others_is_filled_in_at_its_place() -> None:
    asked = AssistantMessage((ONE, TWO))
    assert repair_history([asked, result(TWO)]) == (asked, unknown(ONE), result(TWO))


def test_results_stand_in_the_order_of_their_calls() -> None:
    asked = AssistantMessage((ONE, TWO))
    assert repair_history([asked, result(TWO), result(ONE)]) == (asked, result(ONE), result(TWO))


def test_a_result_without_a_call_and_a_second_result_are_left_out() -> None:
    asked = AssistantMessage((ONE,))
    messages: list[Message] = [result(TWO), asked, result(ONE, "first"), result(ONE, "second")]
    assert repair_history(messages) == (asked, result(ONE, "first"))


def test_an_empty_reply_is_left_out_with_its_results() -> None:
    messages: list[Message] = [HELLO, AssistantMessage(), result(ONE), HELLO]
    assert repair_history(messages) == (HELLO, HELLO)


def test_ids_that_an_earlier_reply_used_are_numbered_and_keep_their_own_results() -> None:
    asked = AssistantMessage((ONE, TWO))
    once: list[Message] = [asked, result(ONE, "first"), result(TWO)]
    again: list[Message] = [asked, result(TWO), result(ONE, "second")]
    one, two = ToolCall("1_2", "find"), ToolCall("2_2", "save")
    repaired = repair_history([*once, *again, asked])
    assert repaired[:6] == (
        *once,
        AssistantMessage((one, two)),
        result(one, "second"),
        result(two),
    )
    assert repaired[7:] == (unknown(ToolCall("1_3", "find")), unknown(ToolCall("2_3", "save")))


@patient
@given(whole())
def test_a_whole_conversation_loses_nothing(messages: list[Message]) -> None:
    repaired = repair_history(messages)
    assert_whole(repaired)
    assert sorted(map(repr, repaired)) == sorted(map(repr, messages))


@patient
@given(broken())
def test_a_broken_conversation_becomes_whole_and_stays_so(messages: list[Message]) -> None:
    repaired = repair_history(messages)
    assert_whole(repaired)
    assert repair_history(repaired) == repaired
    said = [message for message in messages if isinstance(message, UserMessage)]
    assert [message for message in repaired if isinstance(message, UserMessage)] == said
    replies = [message for message in repaired if isinstance(message, AssistantMessage)]
    ids = [call.id for message in replies for call in message.tool_calls]
    assert len(set(ids)) == len(ids)


def test_a_replys_calls_get_ids_that_differ() -> None:
    repaired = repair_reply(
        reply("Look.", ToolCall("", "a"), ToolCall("x", "b"), ToolCall("x", "c"))
    )
    calls = repaired.message.tool_calls
    assert len({call.id for call in calls}) == 3
    assert calls[1].id == "x"
    assert [call.name for call in calls] == ["a", "b", "c"]
    assert repaired.message.text == "Look."


def test_a_good_reply_stays_as_it_is() -> None:
    good = reply("Look.", ONE, TWO)
    assert repair_reply(good) == good


def test_for_a_model_without_tools_calls_and_results_become_text() -> None:
    asked = AssistantMessage((TextBlock("I look."), ONE, TWO))
    told = without_tools([HELLO, asked, result(ONE, "a"), result(TWO, "b"), HELLO])
    said = AssistantMessage((TextBlock("I look.\n\n[find: a]\n\n[save: b]"),))
    assert told == (HELLO, said, HELLO)


def test_for_a_model_without_tools_a_silent_call_leaves_its_results() -> None:
    told = without_tools([HELLO, AssistantMessage((ONE,)), result(ONE, "a")])
    assert told == (HELLO, AssistantMessage((TextBlock("[find: a]"),)))


def test_ids_are_made_unique_around_blocks_that_only_their_provider_reads() -> None:
    kept = OpaqueBlock("anthropic", {"type": "thinking"})
    asked = AssistantMessage((kept, ONE))
    again = repair_history([asked, result(ONE), asked, result(ONE)])[2]
    assert isinstance(again, AssistantMessage)
    assert again.blocks[0] == kept


@patient
@given(whole())
def test_without_tools_no_call_and_no_result_is_left(messages: list[Message]) -> None:
    for message in without_tools(messages):
        assert not isinstance(message, ToolResult)
        assert not (isinstance(message, AssistantMessage) and message.tool_calls)


def test_a_model_that_cannot_see_is_told_which_pictures_were_sent() -> None:
    picture = Image("cat.jpg", "image/jpeg", b"...", 640, 480)
    history = (UserMessage("Look", (picture,)), UserMessage("", (picture,)), UserMessage("So?"))
    note = "[a picture was sent, cat.jpg, which this model cannot see]"
    assert without_images(history) == (
        UserMessage(f"Look\n{note}"),
        UserMessage(note),
        UserMessage("So?"),
    )
