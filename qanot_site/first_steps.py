"""The first hour's checklist: what an owner or editor of a fresh team does, one page a step.

The steps tick themselves: each looks at the rows that its page leaves behind. Whoever has done
them all, or has put them away, is led to the chat instead.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from agents.models import (
    Agent,
    AgentDocumentVersion,
    ChainLink,
    Invitation,
    Membership,
    UsageRecord,
    User,
)
from agents.services import access, memberships
from sessions.models import ChannelAccount, ChannelContact


@dataclass(frozen=True, slots=True)
class Step:
    """One thing to do, on one page.

    Args:
        is_done: Looks at rows, so that the step ticks itself.
        address: Of the page where it is done.
        concerns: Whether it is shown to somebody.
        is_optional: All is done without it.
    """

    name: str
    title: Promise
    text: Promise
    button: Promise
    is_done: Callable[[User], bool]
    address: Callable[[User], str]
    concerns: Callable[[User], bool] = lambda user: True
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Standing:
    """A step as one person sees it."""

    step: Step
    address: str
    is_done: bool
    is_next: bool


# --- who is asked ------------------------------------------------------------------------------


def concern(user: object) -> bool:
    """Return whether the steps are for this user: somebody who edits, and has not put them away."""
    if not isinstance(user, User) or not user.is_active or user.steps_dismissed_at is not None:
        return False
    return user.is_superuser or _edited_teams(user).exists()


def lead(user: object) -> bool:
    """Return whether the way in leads to the steps."""
    return (
        isinstance(user, User)
        and concern(user)
        and not all(step.is_done(user) for step in STEPS if not step.is_optional)
    )


def agent_of(user: User) -> Agent | None:
    """Return the agent that the steps are about: the oldest of a team that the user edits."""
    rows = Agent.objects.filter(archived_at=None, team__archived_at=None).order_by("id")
    own = rows.filter(team__in=_edited_teams(user)).first()
    return own or (rows.first() if user.is_superuser else None)


def _edited_teams(user: User) -> QuerySet[Membership, int]:
    return user.memberships.filter(role__in=access.EDITORS).values_list("team_id", flat=True)


# --- the steps ---------------------------------------------------------------------------------


def _has_model(user: User) -> bool:
    # An account that is switched off is asked for nothing.
    agent = agent_of(user)
    asked = ChainLink.objects.filter(account__switched_off_at=None)
    return agent is not None and asked.filter(agent__team=agent.team_id).exists()


def _model_page(user: User) -> str:
    agent = agent_of(user)
    asked = {"agent": agent.pk} if agent else {}
    page = reverse("admin:agents_provideraccount_connect")
    return f"{page}?{urlencode({**asked, 'next': reverse('first-steps')})}"


def _has_persona(user: User) -> bool:
    # The first texts were written by nobody.
    agent = agent_of(user)
    written = AgentDocumentVersion.objects.filter(author__isnull=False)
    return agent is not None and written.filter(document__agent__team=agent.team_id).exists()


def _persona_page(user: User) -> str:
    agent = agent_of(user)
    if agent is None:
        return reverse("admin:agents_agent_add")
    return reverse("admin:agents_agent_persona", args=[agent.pk])


def _has_tried(user: User) -> bool:
    # Only an answer of a model leaves a row in the ledger.
    people = user.people.values_list("pk", flat=True)
    return UsageRecord.objects.filter(kind="turn", person_id__in=people).exists()


def _chat_page(user: User) -> str:
    return reverse("chat")


def _has_bot(user: User) -> bool:
    # Connected, and by now somebody's own: until then the page has a code to scan.
    bots = _bots(user)
    return ChannelContact.objects.filter(
        account__in=bots, access=ChannelContact.Access.ALLOWED
    ).exists()


def _bot_page(user: User) -> str:
    bot = _bots(user).order_by("id").first()
    if bot is not None:
        return reverse("admin:bot_sessions_channelaccount_change", args=[bot.pk])
    agent = agent_of(user)
    page = reverse("admin:bot_sessions_channelaccount_connect")
    return f"{page}?{urlencode({'agent': agent.pk})}" if agent else page


def _bots(user: User) -> QuerySet[ChannelAccount]:
    agent = agent_of(user)
    bots = ChannelAccount.objects.filter(
        channel=ChannelAccount.Channel.TELEGRAM, archived_at=None, switched_off_at=None
    )
    return bots.filter(team=agent.team_id) if agent is not None else bots.none()


def _owns(user: User) -> bool:
    agent = agent_of(user)
    return agent is not None and memberships.is_owner(user, agent.team_id)


def _has_colleague(user: User) -> bool:
    agent = agent_of(user)
    if agent is None:
        return False
    others = Membership.objects.filter(team=agent.team_id).exclude(user=user)
    return others.exists() or Invitation.objects.filter(team=agent.team_id).exists()


def _invitation_page(user: User) -> str:
    agent = agent_of(user)
    asked = {"team": agent.team_id} if agent else {}
    return f"{reverse('admin:agents_invitation_add')}?{urlencode(asked)}"


STEPS: tuple[Step, ...] = (
    Step(
        name="model",
        title=_("Connect a model"),
        text=_("Paste a key, or use a model that runs on your own machine."),
        button=_("Connect"),
        is_done=_has_model,
        address=_model_page,
    ),
    Step(
        name="persona",
        title=_("Give it a persona"),
        text=_("Who it is and how it talks. Begin with a template, change what you like."),
        button=_("Write"),
        is_done=_has_persona,
        address=_persona_page,
    ),
    Step(
        name="try",
        title=_("Try it"),
        text=_("Say hello and see how it answers."),
        button=_("Open the chat"),
        is_done=_has_tried,
        address=_chat_page,
    ),
    Step(
        name="telegram",
        title=_("Talk on Telegram"),
        text=_("If you like: make a bot there, paste its token, scan a code."),
        button=_("Connect a bot"),
        is_done=_has_bot,
        address=_bot_page,
        is_optional=True,
    ),
    Step(
        name="colleague",
        title=_("Invite a colleague"),
        text=_("If you like: a link lets them choose a password, and join with the role you give."),
        button=_("Invite"),
        is_done=_has_colleague,
        address=_invitation_page,
        concerns=_owns,
        is_optional=True,
    ),
)


def standings(user: User) -> Sequence[Standing]:
    """Return all steps in order; the first one that is left is the next."""
    steps = [step for step in STEPS if step.concerns(user)]
    done = [step.is_done(user) for step in steps]
    following = done.index(False) if False in done else None
    return [
        Standing(step, step.address(user), done[at], at == following)
        for at, step in enumerate(steps)
    ]


# --- the page ----------------------------------------------------------------------------------


@never_cache
@require_safe
@login_required
def page(request: HttpRequest) -> HttpResponse:
    """Show the steps; whom they do not concern is led to the chat."""
    user = access.user_of(request)
    if not (user.is_superuser or _edited_teams(user).exists()):
        return redirect("chat")
    steps = standings(user)
    needed = [row for row in steps if not row.step.is_optional]
    agent = agent_of(user)
    context = {
        "steps": steps,
        "needed": needed,
        "done": sum(row.is_done for row in needed),
        "is_finished": all(row.is_done for row in needed),
        "cap_sentence": _cap(agent.daily_cap_usd) if agent else "",
        "agent": agent,
        "may_dismiss": user.steps_dismissed_at is None,
    }
    return render(request, "first_steps/page.html", context)


@require_POST
@login_required
def dismiss(request: HttpRequest) -> HttpResponse:
    """Put the steps away for good, and go on to the chat."""
    user = access.user_of(request)
    if user.steps_dismissed_at is None:
        user.steps_dismissed_at = timezone.now()
        user.save(update_fields=["steps_dismissed_at"])
    return redirect("chat")


def _cap(cap_usd: Decimal | None) -> str:
    if cap_usd is None:
        return gettext("Nothing limits what your agent may spend a day.")
    return gettext("Your agent may spend at most $%(cap)s a day.") % {
        "cap": number_format(cap_usd, decimal_pos=2)
    }
