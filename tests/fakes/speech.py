"""OpenAI's ``POST /v1/audio/transcriptions`` on loopback: says what the test wrote."""

import json
import threading
from dataclasses import dataclass, field
from email.parser import BytesParser
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


@dataclass(slots=True)
class Recording:
    """One request: the fields of its form, and the file in it."""

    fields: dict[str, str]
    file_name: str
    content: bytes


@dataclass
class FakeSpeech:
    """A server that hears; ``status`` above 200 refuses instead.

    Args:
        usage: As the server tells it; None for one that does not.
    """

    text: str = "My name is Bobur."
    status: int = 200
    usage: dict[str, Any] | None = None  # Any: JSON as it goes over the wire
    heard: list[Recording] = field(default_factory=list)

    def __enter__(self) -> Self:
        """Begin to listen."""
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                fake._answer(self)

            def log_message(self, *arguments: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *arguments: object) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def base_url(self) -> str:
        """Return what an account's address is."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers["Content-Length"]))
        if request.path != "/v1/audio/transcriptions":
            request.send_error(404)
            return
        self.heard.append(_read(request.headers["Content-Type"], body))
        said: dict[str, Any] = {"text": self.text}
        if self.usage is not None:
            said["usage"] = self.usage
        if self.status != 200:
            said = {"error": {"message": "no", "type": "invalid_request_error"}}
        answer = json.dumps(said).encode()
        request.send_response(self.status)
        request.send_header("Content-Type", "application/json")
        request.send_header("Content-Length", str(len(answer)))
        request.end_headers()
        request.wfile.write(answer)


def _read(media_type: str, body: bytes) -> Recording:
    head = f"Content-Type: {media_type}\r\n\r\n".encode()
    form = BytesParser(policy=HTTP).parsebytes(head + body)
    recording = Recording({}, "", b"")
    for part in form.iter_parts():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if not isinstance(content, bytes):
            raise AssertionError("a part has bytes")
        if part.get_filename():
            recording.file_name, recording.content = part.get_filename() or "", content
        else:
            recording.fields[str(name)] = content.decode()
    return recording
