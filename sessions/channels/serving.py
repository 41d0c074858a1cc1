"""Sending a file's bytes to who may have them: never as something that could act in our pages."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Final

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header

from agents.models import File
from agents.services.files import ANY_TYPE, PICTURES

_PIECE_BYTES: Final = 256 * 1024
# What a browser might run.
_ACTIVE: Final = re.compile("html|xml|svg|script")
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    # What people send is nobody else's: not even a shared cache's.
    "Cache-Control": "private, no-store",
}


def response_of(file: File, *, inline: bool = False) -> StreamingHttpResponse:
    """Return a file as an answer to a request.

    Args:
        inline: Let a picture be shown; everything else is saved all the same.

    Raises:
        OSError: The storage has lost its bytes.
    """
    size = file.content.size
    is_shown = inline and file.media_type in PICTURES
    response = StreamingHttpResponse(_pieces(file), content_type=_type_of(file), headers=_HEADERS)
    response["Content-Length"] = str(size)
    response["Content-Disposition"] = content_disposition_header(not is_shown, file.name) or ""
    if is_shown:
        # A file never changes; the browser of who may see it need not ask for it again.
        response["Cache-Control"] = "private, max-age=86400, immutable"
    return response


def _type_of(file: File) -> str:
    return ANY_TYPE if _ACTIVE.search(file.media_type) else file.media_type


async def _pieces(file: File) -> AsyncIterator[bytes]:
    opened = await asyncio.to_thread(file.content.open, "rb")
    try:
        while piece := await asyncio.to_thread(opened.read, _PIECE_BYTES):
            yield piece
    finally:
        await asyncio.to_thread(opened.close)
