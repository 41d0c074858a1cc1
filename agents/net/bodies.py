"""An answer's body, unpacked no further than agreed."""

import zlib
from collections.abc import AsyncGenerator, AsyncIterable
from typing import Final

import aiohttp

from agents.net.errors import TooLarge, Unreachable

CHUNK_BYTES: Final = 2**16
# zlib tells the two forms of what is called deflate apart no more than servers do.
_GZIP_OR_ZLIB: Final = zlib.MAX_WBITS | 32
_GZIP_HEAD: Final = b"\x1f\x8b"
_RAW: Final = -zlib.MAX_WBITS


async def read_body(response: aiohttp.ClientResponse, *, max_bytes: int) -> bytes:
    """Return the whole body, decompressed; reads no more once it is too long.

    Raises:
        TooLarge: It is longer than agreed.
        Unreachable: It makes no sense.
    """
    if response.method != "HEAD" and (response.content_length or 0) > max_bytes:
        # Packed or not: what comes over the wire is not longer than what it unfolds to.
        raise TooLarge("the answer is too large")
    chunks = response.content.iter_chunked(CHUNK_BYTES)
    encoding = response.headers.get("Content-Encoding", "")
    parts = [part async for part in unpacked(chunks, encoding=encoding, max_bytes=max_bytes)]
    return b"".join(parts)


async def unpacked(
    chunks: AsyncIterable[bytes], *, encoding: str, max_bytes: int
) -> AsyncGenerator[bytes, None]:
    """Yield a body decompressed, as it comes; reads no more once it is too long.

    Args:
        encoding: The ``Content-Encoding`` header.

    Raises:
        TooLarge: It is longer than agreed.
        Unreachable: It makes no sense.
    """
    unpack = _unpacking(encoding)
    left = max_bytes
    async for chunk in chunks:
        part = unpack(chunk, left)
        left -= len(part)
        if left < 0:
            raise TooLarge("the answer is too large")
        if part:
            yield part
    unpack.end()


class _Plain:
    """Takes bytes as they are."""

    def __call__(self, chunk: bytes, room: int) -> bytes:
        return chunk

    def end(self) -> None:
        """Nothing can be missing: HTTP itself says where the body ends."""


class _Packed:
    """Unpacks gzip and deflate, up to one byte more than there is room for."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(_GZIP_OR_ZLIB)
        self._is_begun = False
        self._is_over = False

    def __call__(self, chunk: bytes, room: int) -> bytes:
        if self._is_over:
            return b""
        try:
            return self._unpack(chunk, room + 1)
        except zlib.error as exc:
            raise Unreachable("the answer cannot be unpacked") from exc

    def _unpack(self, chunk: bytes, most: int) -> bytes:
        made = bytearray()
        while chunk and len(made) < most:
            try:
                made += self._stream.decompress(chunk, most - len(made))
            except zlib.error:
                if self._is_begun:
                    raise
                # Some send deflate without zlib's head.
                self._is_begun = True
                self._stream = zlib.decompressobj(_RAW)
                continue
            self._is_begun = True
            if not self._stream.eof:
                chunk = self._stream.unconsumed_tail
                continue
            # A file of gzip may have several members; what else comes after the end is dropped.
            chunk = self._stream.unused_data
            if not chunk:
                break
            if not chunk.startswith(_GZIP_HEAD[: len(chunk)]):
                self._is_over = True
                break
            self._stream = zlib.decompressobj(_GZIP_OR_ZLIB)
        return bytes(made)

    def end(self) -> None:
        if self._is_begun and not self._stream.eof:
            raise Unreachable("the answer broke off")


def _unpacking(encoding: str) -> _Plain | _Packed:
    match encoding.strip().lower():
        case "" | "identity":
            return _Plain()
        case "gzip" | "x-gzip" | "deflate":
            return _Packed()
        case _:
            raise Unreachable("the answer is packed in a way that was not asked for")
