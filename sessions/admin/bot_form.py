"""What the pages for connecting a bot are sent, checked, and made into a draft."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from agents.models import Agent, ProviderAccount
from agents.services import accounts
from sessions.channels.telegram.setup import Draft

_REFERENCE = ProviderAccount._meta.get_field("key_reference")


class TokenForm(forms.Form):
    """A token, or where it stands.

    Args:
        by_superuser: May name secrets of this deployment and private addresses.
    """

    token = forms.CharField(max_length=300, required=False)
    token_reference = forms.CharField(
        max_length=200, required=False, validators=_REFERENCE.validators
    )
    base_url = forms.CharField(max_length=accounts.MAX_ADDRESS, required=False)

    def __init__(self, *args: Any, by_superuser: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._by_superuser = by_superuser

    def clean_base_url(self) -> str:
        """Bring the address into one form."""
        return accounts.clean_address(self.cleaned_data["base_url"])

    def clean(self) -> dict[str, Any]:
        """Check that there is a token, and who says where it stands."""
        values: dict[str, Any] = super().clean() or {}
        token, reference = values.get("token"), values.get("token_reference")
        if reference and not self._by_superuser:
            self.add_error("token_reference", _("Only a superuser names a variable or a file."))
        elif token and reference:
            self.add_error(
                "token_reference", _("Paste the token or say where it stands, not both.")
            )
        elif not (token or reference or self.errors):
            raise ValidationError({"token": _("Paste the token first.")})
        return values

    def draft(self) -> Draft:
        """Return what was described."""
        values = self.cleaned_data
        return Draft(
            token=values["token"],
            reference=values["token_reference"],
            base_url=values["base_url"],
            may_reach_private=self._by_superuser and bool(values["base_url"]),
        )


class BotForm(TokenForm):
    """A token and the agent that answers for the bot."""

    agent = forms.ModelChoiceField(Agent.objects.none())

    def __init__(self, *args: Any, agents: "QuerySet[Agent]", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["agent"]
        assert isinstance(field, forms.ModelChoiceField)  # noqa: S101 - for the type checker
        field.queryset = agents
