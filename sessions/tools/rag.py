"""The tool that makes a document of a file which came in the conversation."""

import asyncio
import json
from typing import Annotated, Final

from pydantic import BaseModel, Field

from agents.core.tooling import Tool, ToolContext, ToolRefused
from agents.db import in_db
from agents.tools import registry
from memory import uploads
from memory.errors import UploadRefused
from memory.models import UploadedDocument, owns_scope, scope_of
from memory.policy import keeps_memory
from sessions import came_files

# Reading ends by itself before that (memory.reading.process).
TIMEOUT_S: Final = 120.0


class RagIndex(BaseModel, extra="forbid"):
    """Which file."""

    file: Annotated[
        str,
        Field(min_length=1, max_length=200, description="Its number or name, as read_file lists."),
    ]


async def _rag_index(arguments: RagIndex, context: ToolContext) -> str:
    if not owns_scope(context.viewer):
        raise ToolRefused("It is not known who speaks here: there is nobody to keep it for.")
    if not await in_db(keeps_memory, context.viewer.agent_id):
        raise ToolRefused("This agent remembers nothing, and so keeps no documents.")
    document = await in_db(_take, arguments.file.strip(), context)
    claimed = await in_db(uploads.claim, document.pk)
    if claimed is not None:
        # Outside of the database's threads: it takes as long as the file does.
        said = await asyncio.to_thread(uploads.read, claimed)
        await in_db(uploads.settle, claimed, said)
    return await in_db(_say, document.pk)


def _take(wanted: str, context: ToolContext) -> UploadedDocument:
    session_id = int(context.session.removeprefix("session:"))
    file = came_files.find(came_files.of_session(session_id), wanted)
    source = f"{context.turn} {context.call_id}"
    try:
        document, _is_new = uploads.add_file(file, home=scope_of(context.viewer), source=source)
    except UploadRefused as refusal:
        raise ToolRefused(f"{file.name} was not taken: {refusal.code}.") from refusal
    return document


def _say(pk: int) -> str:
    document = UploadedDocument.objects.defer("parts").filter(pk=pk).first()
    if document is None:
        raise ToolRefused("It was removed meanwhile.")
    if document.state == UploadedDocument.State.FAILED:
        raise ToolRefused(f"{document.name} could not be read: {document.error}.")
    shown = {"document": document.ref, "name": document.name, "state": document.state}
    if document.state == UploadedDocument.State.READY:
        shown |= {"characters": str(document.characters), "pieces": str(document.pieces)}
    return json.dumps(shown, ensure_ascii=False)


registry.register(
    Tool(
        name="rag_index",
        description=(
            "Keeps a file that came in this conversation as a document that rag_search finds from "
            "now on, for the person you talk with or for the group: txt, md, csv, html, pdf, "
            "docx, xlsx. For longer files, and for those that are asked about again."
        ),
        arguments=RagIndex,
        run=_rag_index,
        safe_to_repeat=True,
        timeout_s=TIMEOUT_S,
        # The file's name and what reading it failed of are words of whoever made it.
        brings_outside=True,
    )
)
