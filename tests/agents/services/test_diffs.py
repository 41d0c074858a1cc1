"""What differs between two texts."""

import time

from agents.services.diffs import CONTEXT_LINES, MOST_LINES, Diff, compare


def told(diff: Diff) -> list[str]:
    """Return the visible lines as a person would read them; ``‹›`` around changed words."""
    signs = {"same": " ", "removed": "-", "added": "+"}
    return [
        signs[line.kind]
        + "".join(f"‹{piece.text}›" if piece.is_changed else piece.text for piece in line.pieces)
        for block in diff.blocks
        if not block.is_folded
        for line in block.lines
    ]


def test_equal_texts_do_not_differ() -> None:
    assert compare("one\ntwo", "one\ntwo") == Diff((), 0, 0)


def test_words_are_marked_within_a_changed_line() -> None:
    diff = compare("Be brief.\nAnswer in English.", "Be brief.\nAnswer in Uzbek.")
    assert told(diff) == [" Be brief.", "-Answer in ‹English›.", "+Answer in ‹Uzbek›."]
    assert (diff.added, diff.removed) == (1, 1)


def test_a_line_that_shares_little_is_another_line() -> None:
    diff = compare("Never tell prices.", "# Heading")
    assert told(diff) == ["-Never tell prices.", "+# Heading"]


def test_lines_keep_their_places_in_both_texts() -> None:
    diff = compare("a\nb\nc", "a\nx\ny\nc")
    places = [(line.old_number, line.new_number) for line in diff.blocks[0].lines]
    assert places == [(1, 1), (2, None), (None, 2), (None, 3), (3, 4)]


def test_what_is_far_from_any_change_is_folded() -> None:
    lines = [f"line {number}" for number in range(40)]
    changed = [*lines[:20], "new", *lines[20:]]
    diff = compare("\n".join(lines), "\n".join(changed))
    assert [block.is_folded for block in diff.blocks] == [True, False, True]
    assert len(diff.blocks[1].lines) == 2 * CONTEXT_LINES + 1
    assert sum(len(block.lines) for block in diff.blocks) == 41


def test_both_texts_can_be_read_back() -> None:
    old, new = "a b\n\nc\n", "a  b\nc d\n\nc"
    lines = [line for block in compare(old, new).blocks for line in block.lines]
    text = {
        name: "\n".join(
            "".join(piece.text for piece in line.pieces) for line in lines if line.kind != other
        )
        for name, other in (("old", "added"), ("new", "removed"))
    }
    assert text == {"old": old, "new": new}


def test_a_first_text_is_all_new() -> None:
    assert told(compare("", "one\ntwo")) == ["+one", "+two"]


def test_hostile_texts_are_compared_quickly() -> None:
    began = time.monotonic()
    compare("\n" * 100_000 + "a", "b" + "\n\n" * 60_000)
    compare("a " * 40_000, "a a " * 30_000)
    compare(
        "\n".join(str(n % 99) for n in range(MOST_LINES)),
        "\n".join(str(n % 98) for n in range(MOST_LINES)),
    )
    assert time.monotonic() - began < 5
