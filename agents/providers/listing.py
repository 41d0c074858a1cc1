"""Reading lists of models, as each server writes them."""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from agents.core.messages import JsonObject
from agents.core.protocols import ModelCall, ModelInfo
from agents.providers.loose import mapping, mappings, positive, string

LIST_S: Final = 20.0
# What a refusal of a list is checked against: nothing was said that it could repeat.
NOTHING_ASKED: Final = ModelCall("", (), (), (), 1)

# Servers list all they have; these do not chat. OpenAI's and Groq's lists say nothing but names.
_OTHER_KINDS: Final = re.compile(
    r"embed|whisper|\btts\b|-tts|dall-?e|moderation|transcribe|realtime|gpt-image|gpt-audio"
    r"|chatgpt-image|\bimagen|\bveo-|\bsora|\baqa\b|rerank|orpheus|playai|prompt-guard"
    r"|\bbge-|text-similarity|^(babbage|davinci)-|-instruct-0914|gpt-3\.5-turbo-instruct"
    r"|native-audio|image-generation|-live-|lyria|computer-use|deep-research|robotics",
    re.I,
)
# vLLM; Groq; OpenRouter and Together; LM Studio and Mistral.
_WINDOW_FIELDS: Final = (
    "max_model_len",
    "context_window",
    "context_length",
    "loaded_context_length",
    "max_context_length",
)


def chats(name: str) -> bool:
    """Return whether a model of that name is likely to be one that one talks to."""
    return bool(name) and not _OTHER_KINDS.search(name)


def openai_models(body: object) -> tuple[ModelInfo, ...]:
    """Return the chat models of an answer to ``GET /models``."""
    items = mappings(body) or mappings(mapping(body).get("data"))
    named = [(string(item.get("id")) or string(item.get("name")), item) for item in items]
    return tuple(
        _openai_model(name, item)
        for name, item in named
        if chats(name) and item.get("active") is not False
    )


def _openai_model(name: str, item: JsonObject) -> ModelInfo:
    best = mapping(item.get("top_provider"))
    most = (item.get("max_completion_tokens"), best.get("max_completion_tokens"))
    return ModelInfo(
        name=name,
        window_tokens=_first(item.get(field) for field in _WINDOW_FIELDS),
        max_output_tokens=_first(most),
        supports_tools=_supports_tools(item),
        supports_images=_supports_images(item),
    )


def _supports_tools(item: JsonObject) -> bool | None:
    """Return what OpenRouter's and Mistral's lists say about tools."""
    parameters = item.get("supported_parameters")
    if isinstance(parameters, list):
        return "tools" in parameters
    said = mapping(item.get("capabilities")).get("function_calling")
    return said if isinstance(said, bool) else None


def _supports_images(item: JsonObject) -> bool | None:
    """Return what OpenRouter's and Mistral's lists say about pictures."""
    modalities = mapping(item.get("architecture")).get("input_modalities")
    if isinstance(modalities, list):
        return "image" in modalities
    said = mapping(item.get("capabilities")).get("vision")
    return said if isinstance(said, bool) else None


def owners(body: object) -> frozenset[str]:
    """Return who a list says that its models belong to, which tells one server from another."""
    items = mappings(mapping(body).get("data"))
    return frozenset(string(item.get("owned_by")) for item in items)


def as_run_by_llama_cpp(info: ModelInfo, props: object) -> ModelInfo:
    """Return a model as llama.cpp runs it, by its ``GET /props``.

    Its list says only what the model was trained with; and a chat template without tools lets
    it drop them in silence.
    """
    settings = mapping(mapping(props).get("default_generation_settings"))
    said = mapping(mapping(props).get("chat_template_caps"))
    modalities = mapping(mapping(props).get("modalities")).get("vision")
    known = [said[name] for name in ("supports_tools", "supports_tool_calls") if name in said]
    return replace(
        info,
        window_tokens=positive(settings.get("n_ctx")),
        supports_tools=any(known) if known else None,
        supports_images=modalities if isinstance(modalities, bool) else info.supports_images,
    )


def anthropic_models(page: object) -> tuple[ModelInfo, ...]:
    """Return the models of one page of ``GET /v1/models``."""
    return tuple(
        ModelInfo(
            name=string(item.get("id")),
            window_tokens=positive(item.get("max_input_tokens")),
            max_output_tokens=positive(item.get("max_tokens")),
        )
        for item in mappings(mapping(page).get("data"))
        if string(item.get("id"))
    )


def _first(values: Iterable[object]) -> int | None:
    return next((found for value in values if (found := positive(value))), None)
