"""An agent, its persona documents and the tools it was granted."""

from decimal import Decimal
from typing import ClassVar

from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.models.base import AppendOnlyModel, ArchivableModel, PublicIdModel
from agents.models.people import LANGUAGE_CHOICES, Person, Team, User


class Agent(PublicIdModel, ArchivableModel):
    """A bot that a team runs."""

    class PromptPreset(models.TextChoices):
        """In which order the system prompt's parts stand."""

        DEFAULT = "default", _("stable parts first (cheaper)")
        QANOT = "qanot", _("as Qanot AI orders them")

    class DetectorPack(models.TextChoices):
        """Which rules notice facts."""

        STANDARD = "standard", _("five languages, strict")
        SEED = "seed", _("as Qanot AI does, by plain trigger words")

    class PrivateFacts(models.TextChoices):
        """Whom facts from a private chat are kept for."""

        PRIVATE = "private", _("the person alone")
        AGENT = "agent", _("everybody who talks with this agent")
        TEAM = "team", _("the whole team")

    team = models.ForeignKey(
        Team, on_delete=models.PROTECT, related_name="agents", verbose_name=_("team")
    )
    name = models.CharField(_("name"), max_length=100)
    slug = models.SlugField(_("slug"))
    description = models.CharField(_("description"), max_length=300, blank=True)
    language = models.CharField(_("language"), max_length=8, choices=LANGUAGE_CHOICES, default="en")
    time_zone = models.CharField(_("time zone"), max_length=64, default="UTC")
    prompt_preset = models.CharField(
        _("prompt order"), max_length=16, choices=PromptPreset, default=PromptPreset.DEFAULT
    )
    max_iterations = models.PositiveSmallIntegerField(
        _("model calls a message"),
        default=25,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
    )
    keeps_memory = models.BooleanField(
        _("remembers"),
        default=True,
        help_text=_("Off: nothing is noted, nothing is recalled."),
    )
    detector_pack = models.CharField(
        _("facts are noticed by"),
        max_length=16,
        choices=DetectorPack,
        default=DetectorPack.STANDARD,
    )
    private_facts = models.CharField(
        _("facts from a private chat are for"),
        max_length=16,
        choices=PrivateFacts,
        default=PrivateFacts.PRIVATE,
    )
    auto_recall = models.BooleanField(
        _("recalls by itself"),
        default=True,
        help_text=_("What fits a message is looked up and shown to the model before it answers."),
    )
    extracts_facts = models.BooleanField(
        _("looks again for facts"),
        default=True,
        help_text=_(
            "After a conversation pauses, the cheapest model of the chain notes what the rules "
            "did not see. It costs a short call; without a model nothing happens."
        ),
    )
    notes_days = models.PositiveIntegerField(
        _("days of notes to search"),
        null=True,
        blank=True,
        help_text=_("Empty for all; Qanot AI searches 30."),
    )
    hears_groups = models.BooleanField(
        _("hears groups"),
        default=False,
        help_text=_(
            "In groups the last 50 messages of a day are shown to the model although nobody "
            "spoke to it. They are never noted as facts."
        ),
    )
    speech_account = models.ForeignKey(
        "agents.ProviderAccount",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("voice messages are heard by"),
        help_text=_("An OpenAI-compatible account; empty: voice messages are politely refused."),
    )
    speech_model = models.CharField(
        _("model for voice messages"), max_length=200, blank=True, default="whisper-1"
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
    daily_cap_usd = models.DecimalField(
        _("daily cap (USD)"),
        max_digits=8,
        decimal_places=2,
        null=True,
        blank=True,
        default=Decimal("5.00"),
        validators=[MinValueValidator(0)],
        help_text=_(
            "What the agent may spend a day of its own time zone; empty for no cap. A model of "
            "unknown price counts as an expensive one."
        ),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("agent")
        verbose_name_plural = _("agents")
        ordering = ("name",)
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["team", "slug"], name="agent_slug_once_a_team"),
            models.CheckConstraint(
                condition=models.Q(max_iterations__gte=1, max_iterations__lte=100),
                name="agent_iterations_1_to_100",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class AgentDocument(models.Model):
    """One Markdown document of an agent's persona; its text is that of the newest version."""

    agent = models.ForeignKey(
        Agent, on_delete=models.PROTECT, related_name="documents", verbose_name=_("agent")
    )
    name = models.CharField(
        _("name"),
        max_length=64,
        validators=[
            RegexValidator(
                r"^(SOUL|IDENTITY|SKILL|TOOLS|AGENTS|USER|BOOTSTRAP|HEARTBEAT|[A-Z0-9]+_TOOLS)\.md$",
                _(
                    "One of SOUL.md, IDENTITY.md, SKILL.md, TOOLS.md, …_TOOLS.md, AGENTS.md, "
                    "USER.md, BOOTSTRAP.md, HEARTBEAT.md."
                ),
            )
        ],
    )
    person = models.ForeignKey(
        Person,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="agent_documents",
        verbose_name=_("person"),
        help_text=_("USER.md belongs to one person of the agent; the others belong to all."),
    )
    text = models.TextField(_("text"), blank=True)
    version_number = models.PositiveIntegerField(_("version"), default=0, editable=False)
    updated_at = models.DateTimeField(_("updated at"), auto_now=True)
    archived_at = models.DateTimeField(
        _("archived at"),
        null=True,
        blank=True,
        editable=False,
        help_text=_("No prompt shows it any more."),
    )

    class Meta:
        verbose_name = _("persona document")
        verbose_name_plural = _("persona documents")
        ordering = ("agent", "name")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["agent", "name", "person"],
                nulls_distinct=False,
                name="document_once_an_agent",
            ),
            models.CheckConstraint(
                condition=models.Q(name="USER.md", person__isnull=False)
                | (~models.Q(name="USER.md") & models.Q(person__isnull=True)),
                name="document_user_md_has_a_person",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class AgentDocumentVersion(AppendOnlyModel):
    """What a document said from one save to the next."""

    document = models.ForeignKey(
        AgentDocument, on_delete=models.PROTECT, related_name="versions", verbose_name=_("document")
    )
    number = models.PositiveIntegerField(_("number"))
    text = models.TextField(_("text"), blank=True)
    author = models.ForeignKey(
        User, on_delete=models.PROTECT, null=True, blank=True, verbose_name=_("author")
    )
    reason = models.CharField(_("reason"), max_length=300, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("document version")
        verbose_name_plural = _("document versions")
        ordering = ("document", "-number")
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["document", "number"], name="document_version_number_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.document} v{self.number}"


class DocumentProposal(PublicIdModel):
    """A new text for a persona document that an agent proposes; a person accepts or refuses it."""

    class State(models.TextChoices):
        """Open until somebody decides."""

        OPEN = "open", _("waiting")
        ACCEPTED = "accepted", _("accepted")
        REFUSED = "refused", _("refused")

    agent = models.ForeignKey(
        Agent, on_delete=models.PROTECT, related_name="proposals", verbose_name=_("agent")
    )
    name = models.CharField(_("document"), max_length=64)
    base_version = models.PositiveIntegerField(
        _("version it started from"), default=0, help_text=_("0 where there was no document.")
    )
    text = models.TextField(_("text"), blank=True)
    reason = models.CharField(_("reason"), max_length=300, blank=True)
    source = models.CharField(_("source"), max_length=64, help_text="turn:81")
    person = models.ForeignKey(
        Person,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("person"),
        help_text=_("With whom the agent was talking."),
    )
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.OPEN)
    decided_by = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("decided by"),
    )
    decided_at = models.DateTimeField(_("decided at"), null=True, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("proposal")
        verbose_name_plural = _("proposals")
        ordering = ("-id",)
        constraints: ClassVar = [
            # One document has one open proposal of a turn, however often the tool is repeated.
            models.UniqueConstraint(
                fields=["agent", "name", "source"], name="proposal_once_a_turn"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} · {self.source}"


class BootstrapRitual(models.Model):
    """The first conversation of an agent, which follows its BOOTSTRAP.md once."""

    agent = models.OneToOneField(
        Agent, on_delete=models.CASCADE, related_name="ritual", verbose_name=_("agent")
    )
    session = models.CharField(_("conversation"), max_length=64, help_text="session:3")
    person = models.ForeignKey(
        Person,
        on_delete=models.SET_NULL,
        null=True,
        related_name="+",
        verbose_name=_("person"),
    )
    started_at = models.DateTimeField(_("started at"), auto_now_add=True)
    turns = models.PositiveIntegerField(_("turns"), default=0)

    class Meta:
        verbose_name = _("first conversation")
        verbose_name_plural = _("first conversations")

    def __str__(self) -> str:
        return f"{self.agent} · {self.session}"


class ToolGrant(models.Model):
    """An agent may use a tool; without the row it may not."""

    agent = models.ForeignKey(
        Agent, on_delete=models.PROTECT, related_name="tool_grants", verbose_name=_("agent")
    )
    tool = models.CharField(_("tool"), max_length=64)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("tool grant")
        verbose_name_plural = _("tool grants")
        ordering = ("agent", "tool")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["agent", "tool"], name="tool_grant_once"),
        ]

    def __str__(self) -> str:
        return self.tool
