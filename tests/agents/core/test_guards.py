"""Three signs of running in circles, and what is none."""

from agents.core.guards import Circle, LoopGuard
from agents.core.messages import ToolCall


def circles(*calls: tuple[str, str]) -> list[Circle | None]:
    """Return what a guard says to each call of a name with a result."""
    guard = LoopGuard()
    return [guard.saw(ToolCall(str(n), name), result) for n, (name, result) in enumerate(calls)]


def test_different_calls_are_no_circle() -> None:
    assert circles(("a", "same"), ("b", "same"), ("c", "same"), ("a", "other")) == [None] * 4


def test_the_same_call_three_times_is_a_circle_even_if_its_results_differ() -> None:
    assert circles(("a", "1"), ("a", "2"), ("a", "3")) == [None, None, "repeated_call"]


def test_three_times_counts_only_in_a_row() -> None:
    assert circles(("a", "1"), ("a", "2"), ("b", "1"), ("a", "3")) == [None] * 4


def test_two_calls_by_turns_are_a_circle_at_the_fourth() -> None:
    said = circles(("a", "1"), ("b", "1"), ("a", "2"), ("b", "2"))
    assert said == [None, None, None, "alternating_calls"]


def test_the_same_call_with_the_same_result_is_a_circle_at_once() -> None:
    assert circles(("a", "1"), ("a", "1")) == [None, "repeated_result"]


def test_the_same_result_is_seen_past_other_calls() -> None:
    assert circles(("a", "1"), ("b", "2"), ("a", "1"))[-1] == "repeated_result"


def test_a_result_that_changed_in_between_is_new() -> None:
    assert circles(("a", "1"), ("b", "1"), ("a", "2"), ("c", "1"), ("a", "1")) == [None] * 5


def test_arguments_in_another_order_are_the_same_call() -> None:
    guard = LoopGuard()
    guard.saw(ToolCall("1", "a", {"x": 1, "y": 2}), "same")
    assert guard.saw(ToolCall("2", "a", {"y": 2, "x": 1}), "same") == "repeated_result"


def test_other_arguments_are_another_call() -> None:
    guard = LoopGuard()
    guard.saw(ToolCall("1", "a", {"x": 1}), "same")
    assert guard.saw(ToolCall("2", "a", {"x": 2}), "same") is None


def test_malformed_arguments_are_compared_as_they_came() -> None:
    guard = LoopGuard()
    guard.saw(ToolCall("1", "a", malformed="{"), "not JSON")
    assert guard.saw(ToolCall("2", "a", malformed="[1,"), "not JSON") is None
    assert guard.saw(ToolCall("3", "a", malformed="{"), "not JSON") == "repeated_result"
