"""OpenAI's embeddings on loopback: letters become a vector, what is asked is kept."""

import json
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Self

DIMENSIONS = 8


class FakeEmbeddings:
    """Answers ``POST /v1/embeddings``; texts with the same letters have the same vector.

    Args:
        dimensions: Of its vectors.
    """

    def __init__(self, dimensions: int = DIMENSIONS) -> None:
        self.dimensions = dimensions
        self.asked: list[str] = []
        self.keys: list[str] = []
        # Statuses to answer the next requests with.
        self.refusals: deque[int] = deque()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = Thread(target=self._server.serve_forever, daemon=True)

    @property
    def base_url(self) -> str:
        """Return the address that an account gives."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return what is answered, in no order that anybody should rely on."""
        self.asked += body["input"]
        rows = [
            {"object": "embedding", "index": place, "embedding": self._vector(text)}
            for place, text in enumerate(body["input"])
        ]
        tokens = sum(len(text.split()) for text in body["input"])
        return {"data": rows[::-1], "model": body["model"], "usage": {"prompt_tokens": tokens}}

    def _vector(self, text: str) -> list[float]:
        counts = [1.0] * self.dimensions
        for letter in text.casefold():
            counts[ord(letter) % self.dimensions] += 1.0
        return counts

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                fake.keys.append(self.headers.get("Authorization", ""))
                status = fake.refusals.popleft() if fake.refusals else 200
                said = fake.answer(body) if status == 200 else {"error": {"message": "not now"}}
                data = json.dumps(said).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        return Handler
