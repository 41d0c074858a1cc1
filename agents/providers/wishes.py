"""What a server turned out not to know: tools, or how much to think.

People choose a model by its name; whether its server can do what we ask of it shows only in its
refusal. It is then asked once more without, and no longer asked for that while the adapter lives,
so that the person gets an answer instead of an error.
"""

import re
from dataclasses import replace
from typing import Final

from agents.core.errors import Overloaded, ProviderError, RequestRefused
from agents.core.protocols import ModelCall
from agents.core.repair import without_tools

# Ollama: "… does not support tools"; llama.cpp: "tools param requires --jinja flag", before that
# "Unsupported param: tools" (both with status 500); vLLM: "\"auto\" tool choice requires
# --enable-auto-tool-choice and --tool-call-parser to be set"; OpenRouter: "No endpoints found
# that support tool use"; others in their own words.
_NO_TOOLS: Final = re.compile(
    r"(does|do) not support (tools?|functions?)\b|unsupported param: tools|requires --jinja"
    r"|--enable-auto-tool-choice|support tool use"
    r"|(tools?|tool[ _]calling|function[ _]calling|functions?)[`'\"]? (is|are) not supported",
    re.I,
)
# OpenAI names the field; Ollama: "… does not support thinking".
_NO_EFFORT: Final = re.compile(
    r"reasoning[ _.]?effort|(does|do) not support (thinking|reasoning)", re.I
)


def refuses_tools(error: ProviderError) -> bool:
    """Return whether an error says that the model, or its server, knows no tools."""
    # Their status is 400, 404 or, at llama.cpp, 500; any other is about something else.
    return isinstance(error, RequestRefused | Overloaded) and bool(_NO_TOOLS.search(error.detail))


def refuses_effort(error: ProviderError) -> bool:
    """Return whether an error says that the model cannot be told how much to think."""
    return isinstance(error, RequestRefused) and bool(_NO_EFFORT.search(error.detail))


class Wishes:
    """What may still be asked of each model of one server."""

    def __init__(self) -> None:
        self._without_tools: set[str] = set()
        self._without_effort: set[str] = set()

    def fit(self, call: ModelCall) -> ModelCall:
        """Return a call without what its model has refused before."""
        if call.effort and call.model in self._without_effort:
            call = replace(call, effort="")
        if call.tools and call.model in self._without_tools:
            call = replace(call, tools=(), messages=without_tools(call.messages))
        return call

    def learn(self, call: ModelCall, error: ProviderError) -> bool:
        """Take an error for a call as it was sent; return whether another try may fare better."""
        # First the effort: OpenAI refuses it *with* tools, in words that name both.
        if call.effort and refuses_effort(error):
            self._without_effort.add(call.model)
            return True
        if call.tools and refuses_tools(error):
            self._without_tools.add(call.model)
            return True
        return False
