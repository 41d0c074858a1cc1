"""The web server on a socket that the supervisor opened: `python -m qanot_site.web DESCRIPTOR`.

The socket outlives a crash of this process, so callers wait for the next one instead of failing.
Under another process manager `uvicorn qanot_site.asgi:application` does the same work.
"""

import socket
import sys
import warnings

import uvicorn

from qanot_site.asgi import application

STOP_S = 1


def serve(listener: socket.socket) -> None:
    """Serve until SIGTERM; open streams get a second, then they are closed and resume later."""
    config = uvicorn.Config(
        application,
        access_log=False,
        # Django has set the logs up.
        log_config=None,
        lifespan="off",
        server_header=False,
        # Live tokens are small: compressing each costs time and memory and saves nothing.
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=STOP_S,
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    # whitenoise sends files with a synchronous iterator; they are small and static.
    warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous")
    serve(socket.socket(fileno=int(sys.argv[1])))
