"""Commands that tell something or change how one is spoken to: /start, /help, /status, /lang."""

from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import Sum
from django.utils import timezone, translation
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agents import doorbell
from agents.models import Person, UsageRecord
from agents.services import access, chain, people
from agents.services.figures import grouped
from sessions import bells, prompting
from sessions.commands.registry import (
    PRIVATE_ONLY,
    Choice,
    Command,
    CommandContext,
    Reply,
    language_of,
    menu,
)
from sessions.models import ChannelContact, Generation


def _start(context: CommandContext) -> Reply:
    agent = context.session.agent
    lines = [gettext("Hello! I am %(agent)s.") % {"agent": agent.name}]
    if agent.description:
        lines.append(agent.description)
    lines.append(gettext("Just write to me. /help shows what else I understand."))
    return Reply("\n\n".join(lines))


def _help(context: CommandContext) -> Reply:
    commands = menu("private" if context.is_private else "group", channel=context.account.channel)
    listed = "\n".join(f"/{command.name} — {command.summary}" for command in commands)
    return Reply(f"{gettext('Write to me as you would to a person. I also understand:')}\n{listed}")


def _status(context: CommandContext) -> Reply:
    session = context.session
    links = chain.rows_of(session.agent_id)
    generation = Generation.objects.get(session=session, closed_at=None)
    window = prompting.window_of(links)
    lines = [
        gettext("Agent: %(agent)s") % {"agent": session.agent.name},
        gettext("Model: %(model)s") % {"model": links[0].model if links else gettext("none yet")},
        gettext("Conversation: number %(number)s, since %(since)s")
        % {"number": generation.number, "since": _local(context, generation)},
        gettext("Context: %(used)s of %(window)s tokens (%(percent)s %%)")
        % {
            "used": grouped(generation.context_tokens),
            "window": grouped(window),
            "percent": round(100 * generation.context_tokens / window),
        },
    ]
    if _may_see_cost(context) and context.person is not None:
        lines.append(_cost(context, context.person))
    return Reply("\n".join(lines))


def _local(context: CommandContext, generation: Generation) -> str:
    return f"{generation.opened_at.astimezone(_zone(context)):%Y-%m-%d %H:%M}"


def _zone(context: CommandContext) -> ZoneInfo:
    person = context.person if context.is_private else None
    return ZoneInfo(prompting.time_zone_of(context.session.agent, person))


def _may_see_cost(context: CommandContext) -> bool:
    """Return whether money may be spoken of: to those who see it in the admin, in private."""
    user = context.person.user if context.person is not None else None
    if user is None or not context.is_private:
        return False
    return access.has_role(user, context.session.team_id, access.READERS)


def _cost(context: CommandContext, person: Person) -> str:
    began_at = (
        timezone.now().astimezone(_zone(context)).replace(hour=0, minute=0, second=0, microsecond=0)
    )
    spent = UsageRecord.objects.filter(
        team_id=context.session.team_id, person_id=person.pk, created_at__gte=began_at
    ).aggregate(usd=Sum("cost_usd"))
    usd = spent["usd"] or Decimal(0)
    return gettext("Your cost today: $%(usd)s") % {"usd": f"{usd:.4f}"}


def _lang(context: CommandContext) -> Reply:
    names = dict(settings.LANGUAGES)
    wanted = _code_of(context.argument)
    if not wanted:
        return _languages(context, unknown=bool(context.argument))
    if context.person is None:
        return Reply(gettext("I can only remember the language of people whom I know."))
    _choose(context.person, wanted)
    _set_menu(context, context.person)
    with translation.override(wanted):
        return Reply(gettext("I speak %(language)s with you now.") % {"language": names[wanted]})


def _languages(context: CommandContext, *, unknown: bool) -> Reply:
    names = dict(settings.LANGUAGES)
    current = names[language_of(context.person)]
    first = (
        gettext("I do not speak that language yet.")
        if unknown
        else gettext("I speak %(language)s with you.") % {"language": current}
    )
    choices = [Choice(str(name), "lang", code) for code, name in names.items()]
    listed = "\n".join(f"{choice.text} — {choice.label}" for choice in choices)
    text = f"{first} {gettext('Choose another one:')}\n{listed}"
    # Two in a row: their names are short, a telephone is narrow.
    return Reply(text, tuple(tuple(choices[at : at + 2]) for at in range(0, len(choices), 2)))


def _code_of(written: str) -> str:
    """Return the language that is meant by its code or its own name; empty for none of ours."""
    folded = written.strip().casefold()
    for code, name in settings.LANGUAGES:
        if folded in (code, str(name).casefold()):
            return code
    return ""


def _choose(person: Person, language: str) -> None:
    if person.user is not None:
        people.choose_language(person.user, language)
    Person.objects.filter(pk=person.pk).update(language=language)
    person.language = language


def _set_menu(context: CommandContext, person: Person) -> None:
    """Have the menus beside the person's chats with this bot follow; other channels have none."""
    contacts = ChannelContact.objects.filter(account=context.account, person=person)
    for pk in contacts.values_list("pk", flat=True):
        doorbell.ring_after_commit(bells.MENU, pk)


START: Final = Command("start", _("Say hello"), _start, where=PRIVATE_ONLY, takes_argument=True)
COMMANDS: Final = (
    Command("help", _("Show what I understand"), _help),
    Command("status", _("Show the model, the context and what it cost"), _status),
    Command("lang", _("Choose the language"), _lang, where=PRIVATE_ONLY, takes_argument=True),
    START,
)
