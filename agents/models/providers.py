"""Model providers: the accounts of a team, and the order in which an agent asks them."""

from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.models.agents import Agent
from agents.models.people import Team, User


class ProviderAccount(models.Model):
    """An account at a model provider, and how it stands right now for all workers."""

    class Kind(models.TextChoices):
        """Which wire the account speaks; its adapter is named in ``settings.QANOT_PROVIDERS``."""

        ANTHROPIC = "anthropic", "Anthropic"
        OPENAI = "openai", _("OpenAI or compatible")

    class PromptCache(models.TextChoices):
        """How long a provider with a prompt cache of its own choosing keeps what we mark."""

        OFF = "off", _("off")
        FIVE_MINUTES = "5m", _("5 minutes")
        ONE_HOUR = "1h", _("1 hour")

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
    preset = models.CharField(
        _("preset"),
        max_length=32,
        blank=True,
        editable=False,
        help_text=_("Which of the known providers it was made from."),
    )
    # Sealed by agents/services/secrets.py; in clear only inside an adapter's client.
    sealed_key = models.TextField(blank=True, editable=False)
    key_reference = models.CharField(
        _("key reference"),
        max_length=200,
        blank=True,
        validators=[
            RegexValidator(
                r"^(env:[A-Za-z_][A-Za-z0-9_]*|file:/.+)$",
                _("Write env:NAME, the variable with the key, or file:/path, a file with it."),
            )
        ],
        help_text=_(
            "env:NAME or file:/path — where the key stands, never the key. NAME_FILE is looked at "
            "too."
        ),
    )
    may_reach_private = models.BooleanField(
        _("may reach private addresses"),
        default=False,
        editable=False,
        help_text=_("Its address was given by a superuser."),
    )
    is_free = models.BooleanField(
        _("costs nothing"),
        default=False,
        help_text=_("A model on your own machine: its price is zero, not unknown."),
    )
    first_event_s = models.PositiveSmallIntegerField(
        _("seconds to the first word"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(3_600)],
        help_text=_("Empty for the platform's limit. A local model may need minutes to load."),
    )
    prompt_cache = models.CharField(
        _("prompt cache"),
        max_length=8,
        choices=PromptCache,
        default=PromptCache.FIVE_MINUTES,
        help_text=_("Anthropic's cache control; others decide for themselves."),
    )
    managed_by = models.CharField(
        _("managed by"),
        max_length=200,
        blank=True,
        editable=False,
        help_text=_("The file that owns it (`manage.py apply`); it is changed there, not here."),
    )
    # agents.services.managed.Mark
    managed_mark = models.JSONField(
        _("as the file was applied"), null=True, blank=True, editable=False
    )
    tested_at = models.DateTimeField(_("tested at"), null=True, blank=True, editable=False)
    failures = models.PositiveIntegerField(_("failures in a row"), default=0, editable=False)
    cool_until = models.DateTimeField(
        _("cooling down until"), null=True, blank=True, editable=False
    )
    switched_off_at = models.DateTimeField(_("switched off at"), null=True, blank=True)
    switched_off_by = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        verbose_name=_("switched off by"),
        help_text=_("Empty where the platform did it, for the last error."),
    )
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

    class Effort(models.TextChoices):
        """How much a model may think before it answers."""

        OFF = "", _("off")
        LOW = "low", _("low")
        MEDIUM = "medium", _("medium")
        HIGH = "high", _("high")

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
    effort = models.CharField(
        _("thinking"),
        max_length=8,
        choices=Effort,
        blank=True,
        default=Effort.OFF,
        help_text=_("Only for models that can; thinking is paid as output."),
    )
    supports_tools = models.BooleanField(
        _("can use tools"),
        default=True,
        help_text=_("Off for models that cannot: they are asked without any."),
    )
    supports_images = models.BooleanField(
        _("can see pictures"),
        default=True,
        help_text=_("Off for models that cannot: they are told that a picture was sent."),
    )
    input_usd_mtok = models.DecimalField(
        _("input, $ a million tokens"),
        max_digits=10,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text=_("Empty for the known list price."),
    )
    output_usd_mtok = models.DecimalField(
        _("output, $ a million tokens"),
        max_digits=10,
        decimal_places=4,
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text=_("Empty for the known list price."),
    )

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
            models.CheckConstraint(
                condition=models.Q(input_usd_mtok__isnull=True, output_usd_mtok__isnull=True)
                | models.Q(input_usd_mtok__gte=0, output_usd_mtok__gte=0),
                name="chain_price_is_whole",
                violation_error_message=_("Give both prices, or neither."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.account} · {self.model}"
