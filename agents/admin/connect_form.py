"""What the page for connecting a model is sent, checked, and made into a draft of an account."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from agents.models import Agent, ProviderAccount
from agents.providers.presets import PRESETS, Preset, preset
from agents.services import accounts, connecting
from agents.services.connecting import Draft


class ConnectForm(forms.Form):
    """Either an account of the team, or a provider with an address and a key.

    Args:
        agent: The account is of its team.
        by_superuser: May name private addresses, and secrets of this deployment.
    """

    account = forms.ModelChoiceField(ProviderAccount.objects.none(), required=False)
    preset = forms.ChoiceField(choices=[(known.name, known.title) for known in PRESETS])
    base_url = forms.CharField(max_length=accounts.MAX_ADDRESS, required=False)
    key = forms.CharField(max_length=500, required=False)
    key_reference = forms.CharField(
        max_length=200,
        required=False,
        validators=ProviderAccount._meta.get_field("key_reference").validators,
    )
    model = forms.CharField(max_length=200, required=False)
    ticket = forms.CharField(max_length=4_000, required=False)
    is_first = forms.BooleanField(required=False)
    is_untested = forms.BooleanField(required=False)

    def __init__(self, *args: Any, agent: Agent, by_superuser: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._agent = agent
        self._by_superuser = by_superuser
        field = self.fields["account"]
        assert isinstance(field, forms.ModelChoiceField)  # noqa: S101 - for the type checker
        field.queryset = ProviderAccount.objects.filter(team=agent.team)
        if self.data.get("account"):
            self.fields["preset"].required = False

    def clean(self) -> dict[str, Any]:
        """Check what the provider needs, and who may say it."""
        values: dict[str, Any] = super().clean() or {}
        chosen = preset(values.get("preset", ""))
        if self.errors or values.get("account") or chosen is None:
            return values
        self._check_key(values, chosen)
        values["base_url"] = self._address(values, chosen)
        return values

    def _check_key(self, values: dict[str, Any], chosen: Preset) -> None:
        # A field with an error leaves the values.
        key, reference = values["key"], values["key_reference"]
        if reference and not self._by_superuser:
            self.add_error("key_reference", _("Only a superuser names a variable or a file."))
        elif key and reference:
            self.add_error("key_reference", _("Paste the key or say where it stands, not both."))
        if chosen.wants_key and not (key or reference):
            self.add_error("key", _("Paste a key first."))

    def _address(self, values: dict[str, Any], chosen: Preset) -> str:
        if not asks_address(chosen):
            return chosen.base_url
        try:
            given = accounts.clean_address(values["base_url"])
        except ValidationError as error:
            self.add_error("base_url", error)
            return ""
        if not given and not chosen.base_url:
            self.add_error("base_url", _("Write the address of the server first."))
        return given or chosen.base_url

    def draft(self) -> Draft:
        """Return the account with its key.

        Raises:
            AuthenticationFailed: The key is not where it should be.
        """
        keyless = self.keyless()
        if keyless.is_stored or keyless.account.key_reference:
            return connecting.draft_of(keyless.account)
        return Draft(keyless.account, self.cleaned_data["key"])

    def keyless(self) -> Draft:
        """Return the account without its key."""
        values = self.cleaned_data
        stored: ProviderAccount | None = values["account"]
        return Draft(stored or self._new(values))

    def _new(self, values: dict[str, Any]) -> ProviderAccount:
        chosen = preset(values["preset"])
        if chosen is None:
            raise AssertionError("the form was valid")
        return ProviderAccount(
            team=self._agent.team,
            name=chosen.title,
            kind=chosen.kind,
            base_url=values["base_url"],
            preset=chosen.name,
            key_reference=values["key_reference"],
            may_reach_private=self._by_superuser and asks_address(chosen),
            is_free=chosen.is_free,
            first_event_s=chosen.first_event_s,
        )


def asks_address(chosen: Preset) -> bool:
    """Return whether people say where a preset's server is."""
    return chosen.is_local or chosen.name == "compatible"
