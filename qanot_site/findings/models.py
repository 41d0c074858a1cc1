"""Agents that cannot answer, and models that answer worse than they could."""

from collections.abc import Iterable, Iterator
from typing import Final

from django.utils.translation import gettext as _

from agents.core.errors import AuthenticationFailed
from agents.models import Agent, ChainLink, ProviderAccount
from agents.providers.presets import preset
from agents.services import catalogue, keys
from qanot_site.findings.registry import Finding, check, figures

# Persona, memory and one long question need about as much.
LEAST_WINDOW: Final = 8_000


@check
def agents_without_a_model() -> Iterator[Finding]:
    """Yield agents whose chain has nobody to ask."""
    on = ChainLink.objects.filter(account__switched_off_at=None).values("agent_id")
    for agent in Agent.objects.filter(archived_at=None).exclude(pk__in=on).order_by("pk"):
        has_links = agent.chain_links.exists()
        yield Finding(
            code="agents.no_model",
            level="warning",
            subject=str(agent),
            text=(
                _("All accounts of its chain are switched off, so it cannot answer.")
                if has_links
                else _("It has no model, so it only says that it has none.")
            ),
            fix=(
                _("Switch an account of its chain on again.")
                if has_links
                else _("Connect a model under Models, or add one to the agent's chain.")
            ),
        )


@check
def accounts() -> Iterator[Finding]:
    """Yield accounts that cannot be asked."""
    for account in ProviderAccount.objects.order_by("pk"):
        if account.switched_off_at is not None:
            yield _switched_off(account)
        try:
            if not keys.key_of(account) and _wants_key(account):
                yield _without_key(account)
        except AuthenticationFailed as error:
            yield Finding(
                code="accounts.key_unreadable",
                level="warning",
                subject=str(account),
                text=_("Its key cannot be had: %(reason)s.") % {"reason": error.detail},
                fix=_(
                    "Set the variable or the file, or enter the key again on the account's page."
                ),
            )


def _wants_key(account: ProviderAccount) -> bool:
    chosen = preset(account.preset)
    return chosen is not None and chosen.wants_key


def _without_key(account: ProviderAccount) -> Finding:
    return Finding(
        code="accounts.no_key",
        level="warning",
        subject=str(account),
        text=_("It has no key, and its provider wants one."),
        fix=_("Enter a key on the account's page."),
    )


def _switched_off(account: ProviderAccount) -> Finding:
    if account.switched_off_by_id is not None:
        # Somebody meant it.
        return Finding(
            code="accounts.switched_off",
            level="note",
            subject=str(account),
            text=_("A person switched it off."),
            fix=_("Switch it on again on the account's page when it is needed."),
        )
    return Finding(
        code="accounts.switched_off",
        level="warning",
        subject=str(account),
        text=_("It is switched off after the error “%(code)s”.")
        % {"code": account.last_error_code or _("unknown")},
        fix=_("Look at the error on the account's page, mend it, and switch the account on."),
    )


@check
def windows() -> Iterator[Finding]:
    """Yield links whose window is too small, larger than the model's, or a guess."""
    links = ChainLink.objects.filter(agent__archived_at=None).select_related("agent", "account")
    for link in links.order_by("agent_id", "position", "id"):
        yield from _window(link)


def _window(link: ChainLink) -> Iterable[Finding]:
    subject = _("%(model)s of %(agent)s") % {"model": link.model, "agent": link.agent}
    account = link.account
    known = catalogue.facts(link.model, preset=account.preset, base_url=account.base_url)
    if link.window_tokens < LEAST_WINDOW:
        yield Finding(
            code="models.window_too_small",
            level="warning",
            subject=subject,
            text=_(
                "Its window of %(window)s tokens has no room for persona, memory and a "
                "conversation; at least %(least)s are needed."
            )
            % figures(window=link.window_tokens, least=LEAST_WINDOW),
            fix=_("Give a local model a larger context, or take another model."),
        )
    if not known.is_window_known:
        yield Finding(
            code="models.window_unknown",
            level="note",
            subject=subject,
            text=_("Its window is not listed anywhere; %(window)s tokens are taken for true.")
            % figures(window=link.window_tokens),
            fix=_("Compare the window with what the provider says, in the agent's chain."),
        )
    elif link.window_tokens > known.window_tokens:
        yield Finding(
            code="models.window_too_large",
            level="warning",
            subject=subject,
            text=_("Its window is set to %(window)s tokens, but the model has %(known)s.")
            % figures(window=link.window_tokens, known=known.window_tokens),
            fix=_("Set the window in the agent's chain to what the model has."),
        )
