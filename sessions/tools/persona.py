"""Tools with which an agent keeps what it learned: about a person, and about itself.

Their texts are for the model: English.
"""

from pydantic import BaseModel, ConfigDict, Field

from agents.core.tooling import Tool, ToolContext
from agents.db import in_db
from agents.services import proposals, ritual, user_documents
from agents.tools.registry import register
from memory.detector import mask_secrets


class UpdateUserDocument(BaseModel):
    """Arguments of ``update_user_document``."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    text: str = Field(
        min_length=1,
        max_length=user_documents.MOST_CHARACTERS,
        description="The whole new USER.md in Markdown; it takes the place of what stood there.",
    )


class ProposeDocument(BaseModel):
    """Arguments of ``propose_document``."""

    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    name: str = Field(
        max_length=64, description="IDENTITY.md, SOUL.md, SKILL.md, TOOLS.md or AGENTS.md."
    )
    text: str = Field(
        min_length=1, max_length=20_000, description="The whole new text of the document."
    )
    reason: str = Field(
        min_length=1, max_length=300, description="In one sentence, why it should say so."
    )


class NoArguments(BaseModel, extra="forbid"):
    """Takes nothing."""


async def _update_user_document(arguments: UpdateUserDocument, context: ToolContext) -> str:
    viewer = context.viewer
    if not viewer.sees_person or viewer.person_id is None:
        return (
            "Not written: USER.md belongs to one person, and can be changed only while you talk "
            "with that person alone."
        )
    is_new = await in_db(
        user_documents.write,
        agent_id=viewer.agent_id,
        person_id=viewer.person_id,
        text=mask_secrets(arguments.text),
        source=context.turn,
    )
    return "USER.md is written." if is_new else "USER.md said exactly this already."


async def _propose_document(arguments: ProposeDocument, context: ToolContext) -> str:
    try:
        await in_db(
            proposals.propose,
            agent_id=context.viewer.agent_id,
            name=arguments.name,
            text=mask_secrets(arguments.text),
            reason=mask_secrets(arguments.reason),
            source=context.turn,
            person_id=context.viewer.person_id,
        )
    except ValueError as error:
        return f"Not proposed: {error}."
    return (
        f"Proposed. {arguments.name} stays as it is until an editor of the team accepts the new "
        "text."
    )


async def _finish_bootstrap(arguments: NoArguments, context: ToolContext) -> str:
    is_over = await in_db(ritual.finish, context.viewer.agent_id, session=context.session)
    if is_over:
        return "The first conversation is over; BOOTSTRAP.md will not be shown again."
    return "There is no first conversation to finish here."


register(
    Tool(
        name="update_user_document",
        description=(
            "Writes USER.md, what you know about the person you talk with: name, language, work, "
            "how to answer. Only you and this person read it. Send the whole text, at most "
            f"{user_documents.MOST_CHARACTERS} characters. Never passwords, keys or card numbers."
        ),
        arguments=UpdateUserDocument,
        run=_update_user_document,
        safe_to_repeat=True,
    )
)
register(
    Tool(
        name="propose_document",
        description=(
            "Proposes a new text for one of your own documents, such as IDENTITY.md. It changes "
            "nothing by itself: an editor of the team sees the difference and accepts or refuses "
            "it. The whole team can read it, so nothing private about a person belongs there."
        ),
        arguments=ProposeDocument,
        run=_propose_document,
        safe_to_repeat=True,
    )
)
register(
    Tool(
        name="finish_bootstrap",
        description=(
            "Ends the first conversation's introduction, once USER.md is written or the person "
            "does not want to be asked. Takes no arguments."
        ),
        arguments=NoArguments,
        run=_finish_bootstrap,
        safe_to_repeat=True,
    )
)
