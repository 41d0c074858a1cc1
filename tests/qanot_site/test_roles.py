"""The database refuses what the application must not do."""

import pytest
from django.contrib.auth import get_user_model
from django.contrib.contenttypes.models import ContentType
from django.db import ProgrammingError, connection, connections, models, transaction

from qanot_site import roles, schema

pytestmark = pytest.mark.django_db(databases=["default", "owner"], transaction=True)


def test_the_application_does_not_own_its_tables() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "select count(*) from pg_tables where schemaname = 'public' "
            "and tableowner = current_user"
        )
        assert cursor.fetchone() == (0,)


def test_the_application_cannot_change_the_schema() -> None:
    with connection.cursor() as cursor, pytest.raises(ProgrammingError):
        cursor.execute("create table mine (id int)")


def test_append_only_rows_cannot_be_changed_or_removed() -> None:
    kept = roles.append_only_models()
    assert {model.__name__ for model in kept} >= {
        "AgentDocumentVersion",
        "AuditEvent",
        "Content",
        "TranscriptEntry",
        "UsageRecord",
    }
    for model in kept:
        for forbidden in (
            lambda model=model: _update(model),
            lambda model=model: model._default_manager.all()._raw_delete("default"),
        ):
            with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
                forbidden()


def _update(model: type[models.Model]) -> None:
    key = model._meta.pk.attname
    model._default_manager.update(**{key: models.F(key)})


def test_ordinary_rows_can_be_written() -> None:
    user = get_user_model().objects.create_user("someone")
    user.first_name = "Some"
    user.save()
    user.delete()

    assert ContentType.objects.exists()


def test_granting_again_changes_nothing() -> None:
    before = _rights()

    schema.bring_up_to_date()

    assert _rights() == before


def _rights() -> list[tuple[str, str]]:
    with connections["owner"].cursor() as cursor:
        cursor.execute(
            "select table_name, string_agg(privilege_type, ',' order by privilege_type) "
            "from information_schema.role_table_grants "
            "where grantee = 'qanot_app' group by 1 order by 1"
        )
        return list(cursor.fetchall())


def test_one_role_for_both_is_told() -> None:
    assert not roles.grant_application_role(connections["owner"], role="qanot_owner")
