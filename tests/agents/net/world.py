"""A world of its own: names that we give out, servers on loopback, and every attempt noted."""

import asyncio
import socket
import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

# Stands for any server of the internet; attempts to reach it end at a server on loopback.
PUBLIC = "93.184.215.14"
PUBLIC_6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c"

Address = tuple[str, int]


@dataclass(slots=True)
class World:
    """What can be asked and found, and what was tried.

    Args:
        names: Answers of DNS; of several lists, each question takes the next, the last one stays.
        attempts: Hosts and ports that a socket was to be connected to, in order.
        server: Where attempts end that are let through.
    """

    names: dict[str, list[list[str]]] = field(default_factory=dict)
    attempts: list[Address] = field(default_factory=list)
    server: Address = ("127.0.0.1", 9)

    def look_up(self, host: str) -> list[str]:
        """Answer as DNS would."""
        if host not in self.names:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        answers = self.names[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


def make_world(monkeypatch: pytest.MonkeyPatch) -> World:
    """Put our own DNS and our own connect call in the place of the system's."""
    made = World()
    loops = asyncio.selector_events.BaseSelectorEventLoop
    connect = loops.sock_connect
    ask_system = socket.getaddrinfo

    async def sock_connect(loop: Any, sock: socket.socket, address: Any) -> None:
        made.attempts.append((address[0], address[1]))
        if sock.family == socket.AF_INET6:
            raise ConnectionRefusedError("this world has no IPv6")
        await connect(loop, sock, made.server)

    async def getaddrinfo(
        loop: Any, host: str, port: int, *, family: int = 0, **_: Any
    ) -> list[Any]:
        try:
            # What the system's resolver reads as an address without asking anybody.
            flags = socket.AI_NUMERICHOST
            return ask_system(host, port, family, socket.SOCK_STREAM, flags=flags)
        except (socket.gaierror, UnicodeError):
            found = made.look_up(host)
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port, 0, 0))
            if ":" in address
            else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in found
        ]

    monkeypatch.setattr(loops, "sock_connect", sock_connect)
    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    return made


class Web:
    """A server that answers as it is told, and notes what it was asked."""

    def __init__(self) -> None:
        self.answers: list[web.Response] = []
        self.asked: list[web.Request] = []
        self.bodies: list[bytes] = []
        self.may_answer = asyncio.Event()
        self.may_answer.set()
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._server = TestServer(app, host="127.0.0.1")

    async def start(self, tls: ssl.SSLContext | None = None) -> Address:
        """Listen on loopback."""
        await self._server.start_server(ssl=tls)
        return "127.0.0.1", int(self._server.port or 0)

    async def stop(self) -> None:
        """Close."""
        await self._server.close()

    async def _answer(self, request: web.Request) -> web.Response:
        self.asked.append(request)
        self.bodies.append(await request.read())
        await self.may_answer.wait()
        return self.answers.pop(0) if self.answers else web.Response(text="hello")


def certified(host: str, folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Return what a server of that name needs, and what a client needs to trust it."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .sign(key, SHA256())
    )
    public = certificate.public_bytes(Encoding.PEM)
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (folder / "pem").write_bytes(private + public)
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(folder / "pem")
    return server, ssl.create_default_context(cadata=public.decode())
