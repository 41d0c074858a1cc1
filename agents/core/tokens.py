"""Estimating tokens before a provider has counted them.

Providers count after the call; before it a rough figure has to do. Measured on English prose a
token has about 4 characters; other scripts have fewer, since byte-pair vocabularies cut them
finer: about 2.2 in Cyrillic, close to 1 in Chinese.
"""

import re
from collections.abc import Iterable
from typing import Final

from agents.core.messages import (
    AssistantMessage,
    Block,
    Image,
    Message,
    OpaqueBlock,
    TextBlock,
    UserMessage,
)

ASCII_CHARACTERS: Final = 4.0
OTHER_CHARACTERS: Final = 2.0
# Chinese, Japanese and Korean characters have a token of their own.
_WHOLE_TOKENS: Final = re.compile("[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
# Role, separators and ids around each message.
MESSAGE_TOKENS: Final = 4
# https://docs.claude.com/en/docs/build-with-claude/vision; others count in the same order.
PIXELS_A_TOKEN: Final = 750


def estimate(text: str) -> int:
    """Return about how many tokens a text has; 0 for an empty one."""
    if not text:
        return 0
    if text.isascii():
        return int(len(text) / ASCII_CHARACTERS) + 1
    ascii_count = len(text.encode("ascii", "ignore"))
    whole_count = len(_WHOLE_TOKENS.findall(text))
    other_count = len(text) - ascii_count - whole_count
    parts = (ascii_count / ASCII_CHARACTERS, other_count / OTHER_CHARACTERS, whole_count)
    return int(sum(parts)) + 1


def estimate_message(message: Message) -> int:
    """Return about how many tokens a message has in a request."""
    if isinstance(message, UserMessage):
        pictures = sum(map(estimate_image, message.images)) if message.images else 0
        return MESSAGE_TOKENS + estimate(message.text) + pictures
    if not isinstance(message, AssistantMessage):
        return MESSAGE_TOKENS + estimate(message.text)
    tokens = MESSAGE_TOKENS
    for block in message.blocks:
        tokens += _estimate_block(block)
    return tokens


def estimate_image(image: Image) -> int:
    """Return about how many tokens a picture has in a request."""
    return image.width * image.height // PIXELS_A_TOKEN + 1


def estimate_messages(messages: Iterable[Message]) -> int:
    """Return about how many tokens messages have together."""
    # A long conversation is counted several times in a turn: a plain loop takes half the time.
    tokens = 0
    for message in messages:
        tokens += estimate_message(message)
    return tokens


def _estimate_block(block: Block) -> int:
    if isinstance(block, TextBlock):
        return estimate(block.text)
    if isinstance(block, OpaqueBlock):
        # Sent back within one turn only, and counted by its provider from the next call on.
        return 0
    return estimate(block.name) + estimate(block.malformed or str(block.arguments))
