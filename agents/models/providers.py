"""Model providers: the accounts of a team, and the order in which an agent asks them."""

from typing import ClassVar

from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.models.agents import Agent
from agents.models.people import Team


class ProviderAccount(models.Model):
    """An account at a model provider, and how it stands right now for all workers."""

    class Kind(models.TextChoices):
        """Which wire the account speaks; its adapter is named in ``settings.QANOT_PROVIDERS``."""

        ANTHROPIC = "anthropic", "Anthropic"
        OPENAI = "openai", _("OpenAI or compatible")

    team = models.ForeignKey(
        Team, on_delete=models.PROTECT, related_name="provider_accounts", verbose_name=_("team")
    )
    name = models.CharField(_("name"), max_length=100)
    kind = models.CharField(_("kind"), max_length=16, choices=Kind)
    base_url = models.URLField(
        _("address"),
        blank=True,
        help_text=_("Empty for the provider's own address."),
    )
    key_reference = models.CharField(
        _("key"),
        max_length=200,
        blank=True,
        validators=[
            RegexValidator(
                r"^env:[A-Za-z_][A-Za-z0-9_]*$", _("Write env:NAME, the variable with the key.")
            )
        ],
        help_text=_("env:NAME — the environment variable that holds the key, never the key."),
    )
    failures = models.PositiveIntegerField(_("failures in a row"), default=0, editable=False)
    cool_until = models.DateTimeField(
        _("cooling down until"), null=True, blank=True, editable=False
    )
    switched_off_at = models.DateTimeField(_("switched off at"), null=True, blank=True)
    last_error_code = models.CharField(_("last error"), max_length=32, blank=True, editable=False)
    last_error = models.CharField(_("last error text"), max_length=500, blank=True, editable=False)
    last_error_at = models.DateTimeField(_("last error at"), null=True, blank=True, editable=False)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated at"), auto_now=True)

    class Meta:
        verbose_name = _("provider account")
        verbose_name_plural = _("provider accounts")
        ordering = ("team", "name")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["team", "name"], name="provider_account_name_once"),
        ]

    def __str__(self) -> str:
        return self.name


class ChainLink(models.Model):
    """One place of an agent's chain: which account with which model, and its limits."""

    agent = models.ForeignKey(
        Agent, on_delete=models.PROTECT, related_name="chain_links", verbose_name=_("agent")
    )
    account = models.ForeignKey(
        ProviderAccount,
        on_delete=models.PROTECT,
        related_name="chain_links",
        verbose_name=_("account"),
    )
    position = models.PositiveSmallIntegerField(_("position"), default=0)
    model = models.CharField(_("model"), max_length=200)
    window_tokens = models.PositiveIntegerField(_("window (tokens)"), default=200_000)
    max_output_tokens = models.PositiveIntegerField(_("longest answer (tokens)"), default=4_096)

    class Meta:
        verbose_name = _("model in the chain")
        verbose_name_plural = _("models in the chain")
        ordering = ("agent", "position", "id")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(max_output_tokens__gte=1)
                & models.Q(window_tokens__gt=models.F("max_output_tokens")),
                name="chain_answer_fits_window",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.account} · {self.model}"
