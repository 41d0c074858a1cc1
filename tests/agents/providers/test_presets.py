"""The providers that people choose from."""

from django.conf import settings

from agents.providers.presets import PRESETS, preset


def test_presets_come_in_the_agreed_order() -> None:
    names = [known.name for known in PRESETS]
    assert names == ["anthropic", "openai", "gemini", "groq", "ollama", "local", "compatible"]


def test_each_preset_has_an_adapter() -> None:
    assert {known.kind for known in PRESETS} <= set(settings.QANOT_PROVIDERS)


def test_whoever_wants_a_key_says_where_one_gets_it() -> None:
    for known in PRESETS:
        assert known.key_page.startswith("https://") == known.wants_key


def test_local_models_are_free_and_have_time_to_load() -> None:
    local = [known for known in PRESETS if known.is_local]
    assert [known.name for known in local] == ["ollama", "local"]
    for known in local:
        assert known.is_free
        assert known.first_event_s == 300
        assert known.base_url.startswith("http://127.0.0.1:")


def test_a_preset_is_found_by_its_name() -> None:
    found = preset("groq")
    assert found is not None
    assert found.title == "Groq"
    assert preset("gone") is None
