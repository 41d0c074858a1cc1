"""Row ssrf-3: whatever goes out goes through the guard; no other module opens connections."""

import ast
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[3]
PACKAGES = ("agents", "memory", "sessions", "qanot_site")
CLIENTS = (
    "aiohttp",
    "ftplib",
    "http.client",
    "httpx",
    "httpx2",
    "requests",
    "smtplib",
    "telnetlib",
    "urllib.request",
    "urllib3",
    "websockets",
    "xmlrpc",
)
ALLOWED = (
    "agents/net/",
    # Both go through agents.net.guard: test_transport.py.
    "agents/providers/transport.py",
    "agents/providers/wire.py",
    "agents/providers/anthropic.py",
    "agents/providers/openai_compatible.py",
    # Asks over `transport.http_client`.
    "agents/providers/embedding_openai.py",
    # One session a loop over `Guard.connector`: tests/sessions/channels/telegram/test_client.py.
    "sessions/channels/telegram/servers.py",
    "sessions/channels/telegram/asking.py",
    "sessions/channels/telegram/wire.py",
    # Measures servers that it has started itself.
    "qanot_site/bench/",
)


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_client(name: str) -> bool:
    return any(f"{name}.".startswith(f"{client}.") for client in CLIENTS)


def test_no_other_module_imports_a_client() -> None:
    found = [
        str(path.relative_to(PROJECT))
        for package in PACKAGES
        for path in (PROJECT / package).rglob("*.py")
        if any(map(_is_client, _imported(ast.parse(path.read_text()))))
    ]

    assert found
    assert [path for path in found if not path.startswith(ALLOWED)] == []
