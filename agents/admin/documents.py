"""The editor of a persona document: its length, its cut, and what it said before."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db import models
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from agents.admin import agent_pages, purposes
from agents.admin.base import TeamAdmin, TeamForm
from agents.admin.managed import is_managed
from agents.admin.privacy import PrivateText, belongs_to_user
from agents.core.prompt import DOCUMENT_CHARACTERS
from agents.models import Agent, AgentDocument, AgentDocumentVersion, User
from agents.services import access, diffs, documents, managed, measuring, persona
from agents.services.figures import grouped
from agents.services.measuring import Measure

VERSIONS_SHOWN = 20


def plain_lines(text: str) -> str:
    """Return a text with plain line ends: browsers send CRLF."""
    return text.replace("\r\n", "\n")


class MarkdownField(forms.CharField):
    """Text as it was typed: blanks at the end may be meant."""

    def __init__(self, **kwargs: Any) -> None:
        widget = UnfoldAdminTextareaWidget(
            attrs={
                "rows": 24,
                "spellcheck": "false",
                "class": "qanot-editor",
                "aria-describedby": "persona-count",
            }
        )
        super().__init__(strip=False, required=False, widget=widget, **kwargs)

    def to_python(self, value: Any) -> str:
        """Return the text with plain line ends."""
        return plain_lines(super().to_python(value) or "")


class DocumentForm(TeamForm):
    """The text, why it changes, and two questions asked before it is saved.

    Attributes:
        measured: Set where the prompt would cut the text and nobody has agreed to it.
        overtaken: The number of the version that somebody saved meanwhile.
    """

    text = MarkdownField(label=_("Text"))
    reason = forms.CharField(
        label=_("Reason"),
        max_length=300,
        required=False,
        widget=UnfoldAdminTextInputWidget(attrs={"class": "qp-reason"}),
        help_text=_("Why this text changes; kept with the version."),
    )
    base_version = forms.IntegerField(required=False, widget=forms.HiddenInput)
    save_anyway = forms.BooleanField(required=False, label=_("Save it all the same"))
    measured: Measure | None = None
    overtaken: int | None = None

    def clean(self) -> dict[str, Any]:
        """Stop a text that would be cut, or that would replace one nobody has seen."""
        cleaned = super().clean() or self.cleaned_data
        self._check_base(cleaned.get("base_version"))
        self._check_length(cleaned)
        return cleaned

    def _check_base(self, base: int | None) -> None:
        if not self.instance.pk or base is None:
            return
        # Locked until it is saved: of two who save at once, the second one is told.
        row = AgentDocument.objects.select_for_update().only("version_number")
        stored = row.get(pk=self.instance.pk).version_number
        if base != stored:
            self.overtaken = stored
            told = _("Version %(version)s was saved while you were writing. It is shown below.")
            self.add_error("text", forms.ValidationError(told, params={"version": stored}))

    def _check_length(self, cleaned: dict[str, Any]) -> None:
        agent = self.instance.agent if self.instance.pk else cleaned.get("agent")
        if agent is None or cleaned.get("save_anyway"):
            return
        measure = measuring.measure(agent, cleaned.get("text", ""), now=timezone.now())
        if measure.removed:
            self.measured = measure
            self.add_error("text", cut_warning(measure))


def cut_warning(measure: Measure) -> str:
    """Return in words what the prompt would do to a text that is too long."""
    return gettext(
        "This text has %(characters)s characters and a prompt takes %(limit)s: it would leave "
        "out %(removed)s characters in the middle."
    ) % {
        "characters": grouped(measure.characters),
        "limit": grouped(DOCUMENT_CHARACTERS),
        "removed": grouped(measure.removed),
    }


def length_words(measure: Measure) -> str:
    """Return a text's length in one line."""
    count = measure.written
    return ngettext(
        "%(count)s character · about %(tokens)s tokens · %(percent)s %% of %(limit)s",
        "%(count)s characters · about %(tokens)s tokens · %(percent)s %% of %(limit)s",
        count,
    ) % {
        "count": grouped(count),
        "tokens": grouped(measure.tokens),
        "percent": measure.percent,
        "limit": grouped(DOCUMENT_CHARACTERS),
    }


def _said(measure: Measure) -> str:
    """Return what stands below a text: its length, or what a prompt would leave out of it."""
    return cut_warning(measure) if measure.removed else length_words(measure)


def measure_text(request: HttpRequest, agent: Agent) -> HttpResponse:
    """Return how long an unsaved text is for this agent's prompt."""
    if request.method != "POST":
        return HttpResponse(status=405)
    text = plain_lines(request.POST.get("text", ""))
    measure = measuring.measure(agent, text, now=timezone.now())
    told = {"said": _said(measure), "percent": measure.percent, "removed": measure.removed}
    return JsonResponse(told)


agent_pages.add("measure", "persona/measure/", measure_text, roles=access.EDITORS)


class PersonsDocument(PrivateText):
    """USER.md is about one person: only that person reads it here."""

    text_path = "text"
    person_path = "person"

    def readable(self, request: HttpRequest) -> models.Q:
        nobodys = models.Q(**{f"{self.person_path}__isnull": True})
        return nobodys | belongs_to_user(request, self.person_path)


@admin.register(AgentDocument)
class AgentDocumentAdmin(PersonsDocument, TeamAdmin):
    """Documents of which an agent's system prompt is made."""

    team_path = "agent__team"
    is_audited = False  # the service tells of each version
    form = DocumentForm
    fixed_fields = ("name", "person")
    change_form_template = "admin/persona/document.html"
    list_display = (
        "name",
        "agent",
        "person",
        "version_number",
        "updated_at",
        "text_length",
        "archived_at",
    )
    list_select_related = ("agent", "person")
    list_filter = ("agent__team", "agent", "name")
    search_fields = ("name", "agent__name", "person__display_name")
    autocomplete_fields = ("person",)

    @admin.display(description=_("characters"))
    def text_length(self, row: Any) -> int:
        return int(row.text_length)

    def get_queryset(self, request: HttpRequest) -> "models.QuerySet[AgentDocument]":
        return super().get_queryset(request).select_related("agent", "person")

    def get_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        head = ("agent", "name", "person")
        return (*head, "text", "reason", "base_version", "save_anyway") if obj is None else head

    def get_form(
        self,
        request: HttpRequest,
        obj: models.Model | None = None,
        change: bool = False,
        **kwargs: Any,
    ) -> Any:
        if obj is not None and self.has_change_permission(request, obj):
            kwargs["fields"] = ("text",)
        return super().get_form(request, obj, change, **kwargs)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Refuse whose text it is not: they would overwrite it unseen, or what is another's."""
        may = super().has_change_permission(request, obj)
        if obj is None:
            return may
        if obj.person_id is None and is_managed(obj.agent):
            return False
        return may and getattr(obj, "is_readable", False) and not getattr(obj, "is_others", False)

    def save_model(
        self, request: HttpRequest, obj: AgentDocument, form: DocumentForm, change: bool
    ) -> None:
        """Save through the service, which keeps the version."""
        author = request.user if isinstance(request.user, User) else None
        documents.save(
            obj,
            text=form.cleaned_data["text"],
            author=author,
            reason=form.cleaned_data["reason"],
        )

    def response_post_save_change(self, request: HttpRequest, obj: Any) -> HttpResponse:
        """Return to the agent's persona."""
        return HttpResponseRedirect(agent_pages.address("persona", obj.agent_id))

    def response_post_save_add(self, request: HttpRequest, obj: Any) -> HttpResponse:
        """Return to the agent's persona."""
        return self.response_post_save_change(request, obj)

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: AgentDocument | None = None,
    ) -> HttpResponse:
        """Show the text large, with its length and, once stored, its versions."""
        form = context["adminform"].form
        context["values"] = persona.VALUES
        context["kept_as"] = _kept_as(request, obj)
        context["limit"] = DOCUMENT_CHARACTERS
        context["measured"] = getattr(form, "measured", None)
        if obj is not None and obj.pk:
            context |= self._stored(request, obj, form)
        else:
            context |= _new(request)
        if context["measured"] or context.get("overtaken"):
            # A question, asked where it matters, and no mistake.
            context["errors"] = None
        shown: HttpResponse = super().render_change_form(
            request, context, add, change, form_url, obj
        )
        return shown

    def _stored(self, request: HttpRequest, obj: AgentDocument, form: Any) -> dict[str, Any]:
        is_readable = bool(getattr(obj, "is_readable", False))
        stored = AgentDocument.objects.only("text", "version_number").get(pk=obj.pk)
        text = stored.text if is_readable else ""
        typed = form.data.get("text", text) if form.is_bound else text
        measure = measuring.measure(obj.agent, plain_lines(typed), now=timezone.now())
        overtaken = getattr(form, "overtaken", None)
        return {
            "document": obj,
            "version": stored.version_number,
            "is_readable": is_readable,
            "may_write": self.has_change_permission(request, obj),
            "kept_in_file": "" if obj.person_id else managed.sentence(obj.agent),
            "stored_text": text,
            "own_version": _own_version(request, obj),
            "measure": measure,
            "length_words": _said(measure) if is_readable else "",
            "overtaken": diffs.compare(text, plain_lines(typed)) if overtaken else None,
            "versions": _versions(obj),
            "persona_url": agent_pages.address("persona", obj.agent_id),
            "has_model": obj.agent.chain_links.exists(),
            "measure_url": agent_pages.address("measure", obj.agent_id),
        }


def _new(request: HttpRequest) -> dict[str, Any]:
    """Return what the page knows of a document that a link invites to write."""
    name, agent = request.GET.get("name", ""), request.GET.get("agent", "")
    return {
        "new_name": name,
        "new_purpose": purposes.of(name),
        "measure_url": agent_pages.address("measure", int(agent)) if agent.isdecimal() else "",
    }


def _kept_as(request: HttpRequest, document: AgentDocument | None) -> str:
    """Return under which name a browser keeps what this user typed and did not save.

    A new document has the name that it will have: what was sent is then found again.
    """
    agent, name = request.GET.get("agent", ""), request.GET.get("name", "")
    person: int | None = None
    if document is not None and document.pk:
        agent, name, person = str(document.agent_id), document.name, document.person_id
    return f"{request.user.pk}:{agent}:{name}:{person or ''}"


def _own_version(request: HttpRequest, document: AgentDocument) -> int:
    """Return the number of the newest version that the user wrote; zero where there is none."""
    rows = document.versions.filter(author=request.user.pk).order_by("-number")
    return rows.values_list("number", flat=True).first() or 0


def _versions(document: AgentDocument) -> "models.QuerySet[Any]":
    rows = document.versions.select_related("author").order_by("-number")
    return rows.defer("text").annotate(text_length=models.functions.Length("text"))[:VERSIONS_SHOWN]


def tell_restored(request: HttpRequest, version: AgentDocumentVersion | None) -> None:
    """Tell what came of restoring."""
    if version is None:
        messages.info(request, gettext("The document says exactly this already."))
    else:
        told = gettext("Restored: it is version %(number)s now.") % {"number": version.number}
        messages.success(request, told)
