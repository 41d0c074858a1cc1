"""Every model has a factory, and every factory makes a row."""

import inspect

import pytest
from django.apps import apps
from django.db.models import Model

from tests import factories

OURS = ("agents", "memory", "bot_sessions")
FACTORIES = {
    made: function
    for _, function in inspect.getmembers(factories, inspect.isfunction)
    if function.__module__ == factories.__name__
    and inspect.isclass(made := inspect.signature(function).return_annotation)
    and issubclass(made, Model)
    and function is not factories.member
}


def test_every_model_has_a_factory() -> None:
    models = {model for label in OURS for model in apps.get_app_config(label).get_models()}
    assert set(FACTORIES) == models


@pytest.mark.django_db
@pytest.mark.parametrize("model", FACTORIES, ids=lambda model: model.__name__)
def test_factory_makes_a_second_row_beside_the_first(model: type[Model]) -> None:
    first, second = FACTORIES[model](), FACTORIES[model]()
    assert isinstance(first, model)
    assert first.pk != second.pk


@pytest.mark.django_db
def test_member_may_log_in_and_belongs_to_the_team() -> None:
    person = factories.member()
    assert person.user is not None
    assert person.user.memberships.get().team == person.team
