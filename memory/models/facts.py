"""Facts: what was noted before anybody answered."""

from typing import ClassVar

from django.db import models
from django.utils.translation import gettext_lazy as _

from agents.models import Person, User
from memory.models.scopes import Origin, ScopedModel, ScopedQuerySet


class WalEntry(ScopedModel):
    """One fact noted before the agent answered (write-ahead log)."""

    class Category(models.TextChoices):
        """The six kinds of Qanot AI's log, and the wish that something be forgotten."""

        CORRECTION = "correction", _("correction")
        PROPER_NOUN = "proper_noun", _("name")
        PREFERENCE = "preference", _("preference")
        DECISION = "decision", _("decision")
        SPECIFIC_VALUE = "specific_value", _("value")
        REMEMBER = "remember", _("to remember")
        FORGET = "forget", _("to forget")

    category = models.CharField(_("category"), max_length=16, choices=Category)
    text = models.TextField(_("text"))
    value = models.CharField(
        _("value"),
        max_length=300,
        blank=True,
        help_text=_("What the fact is about, without the words around it."),
    )
    is_negated = models.BooleanField(_("negated"), default=False)
    language = models.CharField(_("language"), max_length=8, blank=True)
    # Of the folded text: the same fact in other words of case, script, apostrophe is one row.
    fingerprint = models.CharField(max_length=64, blank=True, editable=False)
    mentions = models.PositiveIntegerField(_("said so often"), default=1)
    last_said_at = models.DateTimeField(_("last said at"), null=True, blank=True)
    confidence = models.FloatField(
        _("confidence"), null=True, blank=True, help_text=_("Where a model noted it: 0 to 1.")
    )
    evidence = models.TextField(
        _("evidence"), blank=True, help_text=_("The person's own words, where a model noted it.")
    )
    is_durable = models.BooleanField(_("kept in MEMORY.md"))
    author = models.ForeignKey(
        Person,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("author"),
    )
    origin = models.CharField(_("origin"), max_length=16, choices=Origin)
    source = models.CharField(_("source"), max_length=200, help_text="message:12")
    thread = models.CharField(_("conversation"), max_length=64, help_text="session:3/1")
    created_at = models.DateTimeField(_("created at"))
    retracted_at = models.DateTimeField(
        _("taken back at"),
        null=True,
        blank=True,
        editable=False,
        help_text=_("Its person said that it should not have been noted, or to forget it."),
    )
    superseded_by = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="supersedes",
        verbose_name=_("replaced by"),
    )
    superseded_at = models.DateTimeField(_("replaced at"), null=True, blank=True, editable=False)
    shared_from = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        editable=False,
        related_name="shares",
        verbose_name=_("shared from"),
    )
    accepted_by = models.ForeignKey(
        User,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        verbose_name=_("accepted by"),
        help_text=_("Who let an untrusted text count as a fact."),
    )
    accepted_at = models.DateTimeField(_("accepted at"), null=True, blank=True, editable=False)

    objects = ScopedQuerySet.as_manager()

    class Meta(ScopedModel.Meta):
        verbose_name = _("noted fact")
        verbose_name_plural = _("noted facts")
        ordering = ("-created_at", "-id")
        indexes: ClassVar = [
            models.Index(fields=["agent", "person", "created_at"], name="wal_by_person"),
            models.Index(fields=["agent", "chat", "created_at"], name="wal_by_chat"),
            # The few rows of agents and teams: each way that a row may be visible has its index.
            models.Index(
                fields=["team", "scope", "created_at"],
                name="wal_by_shared_scope",
                condition=models.Q(scope__in=["agent", "team"]),
            ),
            models.Index(fields=["thread", "created_at"], name="wal_by_thread"),
            models.Index(fields=["source"], name="wal_by_source"),
            models.Index(fields=["agent", "fingerprint"], name="wal_by_fingerprint"),
            models.Index(fields=["-created_at", "-id"], name="wal_newest_first"),
        ]

    def __str__(self) -> str:
        return f"{self.get_category_display()} · {self.source}"

    @property
    def is_by_model(self) -> bool:
        """Return whether a model found it in its person's words, after the answer."""
        return self.origin == Origin.AGENT and self.confidence is not None
