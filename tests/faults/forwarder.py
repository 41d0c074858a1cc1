"""`python -m tests.faults.forwarder LISTEN=TARGET…`: pass TCP connections on, byte by byte.

Stands between hosts that are network namespaces and servers that listen on loopback only.
"""

import asyncio
import contextlib
import sys
from collections.abc import Sequence
from functools import partial

BLOCK_BYTES = 65_536


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while block := await reader.read(BLOCK_BYTES):
            writer.write(block)
            await writer.drain()
    with contextlib.suppress(OSError):
        writer.close()


async def _join(
    target: tuple[str, int], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    try:
        other_reader, other_writer = await asyncio.open_connection(*target)
    except OSError:
        writer.close()
        return
    await asyncio.gather(_pass_on(reader, other_writer), _pass_on(other_reader, writer))


def _address(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


async def main(pairs: Sequence[str]) -> None:
    """Forward until killed."""
    servers = []
    for pair in pairs:
        listen, _, target = pair.partition("=")
        servers.append(
            await asyncio.start_server(partial(_join, _address(target)), *_address(listen))
        )
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await asyncio.gather(*(server.serve_forever() for server in servers))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1:]))
