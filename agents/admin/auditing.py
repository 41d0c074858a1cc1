"""What people change on pages goes into the audit log: each row, with what it said before."""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from django.contrib.admin.options import BaseModelAdmin
from django.db import models, transaction
from django.http import HttpRequest

from agents.models import User
from agents.services import audit


class Audited(BaseModelAdmin):  # type: ignore[type-arg]  # for pages of any model
    """Mixed into pages whose forms change rows.

    Django asks for the words of its own history once all of a form is stored, within the form's
    transaction: there the log is written too, so that no page can forget it.

    Attributes:
        is_audited: False where the service that stores the rows writes the log itself.
    """

    is_audited: ClassVar[bool] = True

    def team_to_audit(self, row: models.Model) -> int | None:
        """Return the team whose log tells of a row; None for rows of the whole deployment."""
        return None

    def construct_change_message(
        self, request: HttpRequest, form: Any, formsets: Any, add: bool = False
    ) -> Any:
        """Write what the forms changed into the log."""
        # Without a row it is Django's form for somebody's password: who stores that tells of it.
        if hasattr(form, "instance"):
            self._record_forms(request, form, formsets or (), add=add)
        base: Any = super()
        return base.construct_change_message(request, form, formsets, add)

    def _record_forms(
        self, request: HttpRequest, form: Any, formsets: Iterable[Any], *, add: bool
    ) -> None:
        team_id, row = self.team_to_audit(form.instance), audit.subject_of(form.instance)
        if self.is_audited:
            # By name: who reads the log later may find another one there, or nobody.
            what, name = "added" if add else "changed", str(form.instance)
            _record(request, form, team_id, what, reason=name)
        for formset in formsets:
            for inner, what in _changed_forms(formset):
                _record(request, inner, team_id, what, skip=formset.fk.name, reason=row)

    def delete_model(self, request: HttpRequest, obj: models.Model) -> None:
        """Delete a row, and write that into the log."""
        with transaction.atomic():
            self._record_deleted(request, [obj])
            base: Any = super()
            base.delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: "models.QuerySet[Any]") -> None:
        """Delete rows, and write that into the log."""
        with transaction.atomic():
            self._record_deleted(request, queryset)
            base: Any = super()
            base.delete_queryset(request, queryset)

    def _record_deleted(self, request: HttpRequest, rows: Iterable[models.Model]) -> None:
        for row in rows:
            audit.record(
                team_id=self.team_to_audit(row),
                actor=actor(request),
                action=f"{audit.noun_of(row)}.deleted",
                subject=audit.subject_of(row),
                reason=str(row),
            )


def actor(request: HttpRequest) -> User | str:
    """Return who asks, as the log names them."""
    return request.user if isinstance(request.user, User) else "nobody"


def _changed_forms(formset: Any) -> Iterator[tuple[Any, str]]:
    """Yield the forms of an inline that changed something, with what they did."""
    for form in formset.forms:
        is_new = form in formset.extra_forms
        if formset.can_delete and form in formset.deleted_forms:
            if not is_new:
                yield form, "deleted"
        elif form.has_changed():
            yield form, "added" if is_new else "changed"


def _record(
    request: HttpRequest,
    form: Any,
    team_id: int | None,
    what: str,
    *,
    skip: str = "",
    reason: str = "",
) -> None:
    changes = {} if what == "deleted" else _changes(form, skip=skip, is_new=what == "added")
    if what == "changed" and not changes:
        return
    row = form.instance
    subject = audit.subject_of(row)
    if what == "deleted":
        # Its number is gone from the row by now; the form still knows which it was.
        subject = f"{audit.noun_of(row)}:{form.fields[row._meta.pk.name].initial}"
        reason = f"{row} · {reason}"
    audit.record(
        team_id=team_id,
        actor=actor(request),
        action=f"{audit.noun_of(row)}.{what}",
        subject=subject,
        reason=reason,
        changes=changes,
    )


def _changes(form: Any, *, skip: str, is_new: bool) -> dict[str, list[Any]]:
    meta = form.instance._meta
    kept = {field.name for field in (*meta.fields, *meta.many_to_many)} | audit.SECRETS
    kept -= {skip, meta.pk.name}
    names = [name for name in (form.fields if is_new else form.changed_data) if name in kept]
    after = {name: form.cleaned_data.get(name) for name in names}
    before = {} if is_new else {name: _stored(form, name) for name in names}
    changes = audit.changes_between(before, after, names)
    # Of a new row, what was left empty is no news.
    return {name: pair for name, pair in changes.items() if not is_new or pair[1] not in _EMPTY}


_EMPTY: tuple[Any, ...] = (None, "", [], False)


def _stored(form: Any, name: str) -> object:
    """Return a field's value before, a related row as the row itself."""
    value = form.get_initial_for_field(form.fields[name], name)
    related = getattr(form.fields[name], "queryset", None)
    if related is None or value in (None, ""):
        return value
    rows = related.model._default_manager
    if isinstance(value, list | tuple | models.QuerySet):
        keys = [getattr(item, "pk", item) for item in value]
        return list(rows.filter(pk__in=keys))
    return rows.filter(pk=getattr(value, "pk", value)).first()
