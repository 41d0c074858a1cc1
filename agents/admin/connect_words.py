"""What the page for connecting a model says: about providers, models and what went wrong."""

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import assert_never

from django.utils import timezone
from django.utils.formats import date_format, number_format
from django.utils.translation import gettext as _

from agents.core.errors import (
    AddressNotAllowed,
    AuthenticationFailed,
    BillingRefused,
    Overloaded,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    Redirected,
    RequestRefused,
    StreamBroken,
)
from agents.models import ChainLink, ProviderAccount
from agents.providers.presets import Hint, Preset, preset
from agents.services import catalogue, chain
from agents.services.caps import Allowance
from agents.services.catalogue import ModelFacts
from agents.services.connecting import Draft
from agents.services.keys import KeyMissing


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a test failed, for a person.

    Args:
        title: What happened.
        advice: What to do about it.
        said: The provider's own words, which nobody vouches for; may be empty.
    """

    title: str
    advice: str
    said: str = ""


def trouble(error: ProviderError, draft: Draft) -> Trouble:
    """Return an error in words."""
    title, advice = _words(error, draft)
    # Of these the words say all that is known.
    is_said = isinstance(error, KeyMissing | AddressNotAllowed | Redirected)
    return Trouble(title, advice, "" if is_said else error.detail)


def _words(error: ProviderError, draft: Draft) -> tuple[str, str]:
    match error:
        case KeyMissing():
            return _("The key cannot be used."), missing_key(error)
        case AuthenticationFailed() if draft.account.key_reference:
            return _("The key cannot be used."), _("Look at the variable or file that holds it.")
        case AuthenticationFailed():
            return _("The key was not accepted."), _(
                "Copy it again, whole and without blanks. It may also have been revoked."
            )
        case AddressNotAllowed(is_closed_to_all=True):
            return _("This address may not be asked."), _(
                "Machines find their own secrets there, so it is closed to everybody, unless "
                "QANOT_PRIVATE_HOSTS lists it."
            )
        case AddressNotAllowed():
            return _("This address may not be asked."), _(
                "It is private. A superuser may connect it, or list it in QANOT_PRIVATE_HOSTS."
            )
        case BillingRefused():
            return _("The account has no credit or quota left."), _(
                "Top it up with the provider, or choose another one."
            )
        case RateLimited():
            return _("Too many requests right now."), _(
                "Wait a minute and test again. Free plans allow only a few."
            )
        case ProviderTimeout():
            return _("No answer came in time."), _slow(draft)
        case Overloaded():
            return _("The provider cannot be reached, or is busy."), _unreachable(draft)
        case StreamBroken():
            return _("Something answered, but not the way a model does."), _(
                "Check the address, or test again."
            )
        case Redirected(address=""):
            return _("The server sends on to another address."), _(
                "Find out which one, and write it above."
            )
        case Redirected():
            return _("The server sends on to another address. Use that one."), error.address
        case RequestRefused():
            return _("The provider refused the request."), _(
                "Choose another model, or check the address."
            )
        case _:
            return _("The test failed."), _("Test again, or choose another provider.")


def missing_key(error: KeyMissing) -> str:
    """Return why a key cannot be had, and what to do about it."""
    named = {"where": error.where, "why": error.why}
    match error.reason:
        case "bad_reference":
            return _("Write env:NAME or file:/path to say where it is.")
        case "other_secret":
            return _(
                "It was stored under another secret key. Enter it again, or add the old secret "
                "key to QANOT_SECRET_KEY_FALLBACKS."
            )
        case "own":
            return _("%(where)s belongs to the platform itself. Keep the key elsewhere.") % named
        case "variable_unset":
            return _("The environment variable %(where)s is not set.") % named
        case "unreadable":
            return _("The file %(where)s cannot be read: %(why)s.") % named
        case "no_text_file":
            return _("The file %(where)s is no small text file.") % named
        case "empty":
            return _("The file %(where)s has no key in its first line.") % named
    assert_never(error.reason)


def _slow(draft: Draft) -> str:
    if _is_local(draft):
        return _("A large model can take minutes to load. Test again: it may be loaded by now.")
    return _("Test again in a minute.")


def _unreachable(draft: Draft) -> str:
    if draft.is_ollama:
        return _("Does Ollama run there? Start it with “ollama serve”, then test again.")
    if _is_local(draft) or draft.account.base_url:
        return _("Does the server run, and is the address right?")
    return _("Test again in a minute.")


def _is_local(draft: Draft) -> bool:
    known = preset(draft.account.preset)
    return known is not None and known.is_local


def title(known: Preset) -> str:
    """Return what a provider is called: its name, except where it stands for many."""
    return _("OpenAI-compatible") if known.name == "compatible" else known.title


def hint(code: Hint) -> str:
    """Return what to tell people who choose a provider."""
    match code:
        case "key":
            return _("Paste a key, pay for what is used.")
        case "free_key":
            return _("Paste a key. There is a free plan with low limits.")
        case "ollama":
            return _("Runs on your own machine. Free and private.")
        case "local":
            return _("Your own server. Free and private.")
        case "compatible":
            return _("Any server that speaks OpenAI's language.")
    assert_never(code)


def price(facts: ModelFacts) -> str:
    """Return what a model costs."""
    if facts.input_usd_mtok is None or facts.output_usd_mtok is None:
        return _("price not known")
    if facts.input_usd_mtok == facts.output_usd_mtok == 0:
        return _("free")
    return _("$%(in)s in · $%(out)s out") % {
        "in": dollars(facts.input_usd_mtok),
        "out": dollars(facts.output_usd_mtok),
    }


def dollars(amount: Decimal) -> str:
    """Return an amount without trailing zeros, but whole cents."""
    plain = amount.normalize()
    places = max(2, -int(plain.as_tuple().exponent)) if plain % 1 else 0
    return number_format(amount, decimal_pos=places)


def window(facts: ModelFacts) -> str:
    """Return how much a model can read at once."""
    if not facts.is_window_known:
        return _("window not known, taken as %(n)s") % {"n": tokens(facts.window_tokens)}
    return _("window %(n)s") % {"n": tokens(facts.window_tokens)}


def tokens(count: int) -> str:
    """Return a count of tokens, short: 200k, 1M."""
    if count >= 1_000_000:
        return (
            f"{number_format(Decimal(count) / 1_000_000, decimal_pos=2).rstrip('0').rstrip('.,')}M"
        )
    if count >= 1_000:
        return f"{count // 1000}k"
    return str(count)


def warning(facts: ModelFacts, draft: Draft) -> str:
    """Return what to know before a model is chosen; empty where there is nothing."""
    said = []
    if facts.is_window_small and draft.is_ollama:
        said.append(
            _(
                "Its window is small, so it will soon forget what was said. Start Ollama with "
                "OLLAMA_CONTEXT_LENGTH=32768, or set num_ctx in the Modelfile."
            )
        )
    elif facts.is_window_small:
        said.append(_("Its window is small, so it will soon forget what was said."))
    if not facts.supports_tools:
        said.append(_("It cannot use tools: it talks, but looks nothing up."))
    return " ".join(said)


def cap(cap_usd: Decimal | None) -> str:
    """Return what an agent may spend a day, in a sentence."""
    if cap_usd is None:
        return _("The agent may spend without a daily cap.")
    return _("The agent may spend $%(cap)s a day, then it stops until the next day.") % {
        "cap": number_format(cap_usd, decimal_pos=2)
    }


def spent(allowance: Allowance) -> str:
    """Return what an agent spent today of what it may spend."""
    if allowance.cap_usd is None:
        return _("No cap: nothing limits what the agent spends.")
    said = _("Daily cap $%(cap)s · spent today $%(spent)s · starts anew %(resets)s")
    return said % {
        "cap": number_format(allowance.cap_usd, decimal_pos=2),
        "spent": number_format(allowance.spent_usd, decimal_pos=2),
        "resets": allowance.resets,
    }


def link_title(link: ChainLink) -> str:
    """Return a place of the chain at a glance: who, how it stands, what it costs."""
    account = link.account
    facts = catalogue.facts(link.model, preset=account.preset, base_url=account.base_url)
    own = chain.price_of(link)
    if own is not None:
        facts = replace(
            facts, input_usd_mtok=own.input_usd_mtok, output_usd_mtok=own.output_usd_mtok
        )
    state = state_of(account, now=timezone.now())[1]
    return " · ".join((account.name, link.model, state, price(facts)))


def state_of(account: ProviderAccount, *, now: datetime) -> tuple[str, str]:
    """Return an account's state, ready, cooling or off, and how it reads in a word or two."""
    if account.switched_off_at is not None:
        return "off", _("switched off")
    if account.cool_until is not None and account.cool_until > now:
        until = date_format(timezone.localtime(account.cool_until), "TIME_FORMAT")
        return "cooling", _("cooling down until %(time)s") % {"time": until}
    return "ready", _("ready")


def standing(account: ProviderAccount, *, now: datetime) -> str:
    """Return how an account stands: in use, resting, or off, by whom and why."""
    if account.switched_off_at is not None:
        when = _moment(account.switched_off_at)
        if account.switched_off_by is not None:
            said = _("Switched off by %(who)s, %(when)s.")
            return said % {"who": account.switched_off_by, "when": when}
        if account.last_error_code:
            said = _("Switched off by the platform, %(when)s: %(why)s")
            return said % {"when": when, "why": error_code(account.last_error_code)}
        return _("Switched off, %(when)s.") % {"when": when}
    if account.cool_until is not None and account.cool_until > now:
        said = _("Cooling down until %(when)s after %(n)s failures in a row; others are asked.")
        return said % {"when": _moment(account.cool_until), "n": account.failures}
    return _("Ready.")


def error_code(code: str) -> str:
    """Return an error's code in words; an unknown one as it is."""
    known = {
        "auth": _("The key was not accepted."),
        "address": _("Its address may not be asked: it is private."),
        "billing": _("The account has no credit or quota left."),
        "rate_limit": _("Too many requests."),
        "overloaded": _("The provider was busy or out of reach."),
        "timeout": _("No answer came in time."),
        "stream_broken": _("The answer broke off."),
        "request_refused": _("The provider refused the request."),
        "context_overflow": _("The conversation was too long for the model."),
    }
    return known.get(code, code)


def _moment(at: datetime) -> str:
    return date_format(timezone.localtime(at), "SHORT_DATETIME_FORMAT")
