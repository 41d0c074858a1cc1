"""What an agent's settings say about remembering."""

from dataclasses import dataclass
from typing import Final, Literal, cast

from agents.core.viewer import Viewer
from agents.models import Agent
from memory.detector import PackName
from memory.models import Scope, scope_of

# What Qanot AI searches, where the settings say nothing else.
QANOT_DAYS: Final = 30

PrivateFacts = Literal["private", "agent", "team"]


@dataclass(frozen=True, slots=True)
class Policy:
    """How an agent remembers.

    Args:
        keeps: Off: nothing is noted and nothing is recalled.
        pack: By which rules facts are noticed.
        private_facts: For whom facts of private chats are kept.
        recalls: Whether what fits a message is looked up before it is answered.
    """

    keeps: bool = True
    pack: PackName = "standard"
    private_facts: PrivateFacts = "private"
    recalls: bool = True


def policy_of(agent: Agent) -> Policy:
    """Return an agent's policy."""
    # The columns' choices are these words.
    return Policy(
        keeps=agent.keeps_memory,
        pack=cast(PackName, agent.detector_pack),
        private_facts=cast(PrivateFacts, agent.private_facts),
        recalls=agent.keeps_memory and agent.auto_recall,
    )


def policy_for(agent_id: int) -> Policy:
    """Return the policy of an agent that is not loaded."""
    return policy_of(Agent.objects.get(pk=agent_id))


def keeps_memory(agent_id: int) -> bool:
    """Return whether an agent remembers at all."""
    return Agent.objects.filter(pk=agent_id, keeps_memory=True).exists()


def notes_days(agent_id: int) -> int | None:
    """Return how many days of what was said an agent searches; None for all."""
    return searched_days(Agent.objects.only("notes_days", "prompt_preset").get(pk=agent_id))


def searched_days(agent: Agent) -> int | None:
    """Return what ``notes_days`` does, for an agent that is loaded."""
    if agent.notes_days is None and agent.prompt_preset == Agent.PromptPreset.QANOT:
        return QANOT_DAYS
    days: int | None = agent.notes_days
    return days


def home_of(viewer: Viewer, policy: Policy) -> dict[str, object]:
    """Return the columns of the scope into which this viewer's facts go.

    What is said in a group is the group's; what is said in private goes where the policy says.

    Raises:
        ValueError: The viewer owns no scope.
    """
    own = scope_of(viewer)
    if own["scope"] != Scope.PERSON or policy.private_facts == "private":
        return own
    if policy.private_facts == "agent":
        return {"team_id": viewer.team_id, "agent_id": viewer.agent_id, "scope": Scope.AGENT}
    return {"team_id": viewer.team_id, "scope": Scope.TEAM}
