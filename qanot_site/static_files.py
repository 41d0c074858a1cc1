"""Static files, compressed and kept by browsers for good."""

import gzip
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers

# whitenoise says nothing of its types.
from whitenoise.middleware import WhiteNoiseMiddleware  # type: ignore[import-untyped]
from whitenoise.responders import StaticFile  # type: ignore[import-untyped]

# Pictures and fonts are compressed already.
_COMPRESSED: Final = ("text/", "application/json", "image/svg+xml")
_COPIED: Final = ("Cache-Control", "Content-Type", "Last-Modified", "Vary")


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """WhiteNoise, which compresses only what was compressed beforehand, and nothing has to be.

    A text file is compressed at its first request and kept: there are few, and they change with
    the release alone. Pages are never compressed here: they hold tokens, whose length a
    compressed answer would tell to somebody who can add to it (BREACH).
    """

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self._compressed: dict[str, bytes] = {}

    def immutable_file_test(self, path: str, url: str) -> bool:
        """Return whether a file stays as it is: the release's digest stands in its address."""
        return not self.autorefresh and url.startswith(self.static_prefix)

    def serve(self, static_file: StaticFile, request: HttpRequest) -> HttpResponseBase:
        """Return the file, compressed where the browser takes that."""
        response: HttpResponseBase = super().serve(static_file, request)
        kind = response.headers.get("Content-Type", "")
        if response.status_code != 200 or not kind.startswith(_COMPRESSED):
            return response
        patch_vary_headers(response, ["Accept-Encoding"])
        if request.method != "GET" or not _takes_gzip(request):
            return response
        return self._smaller(request.path_info, response)

    def _smaller(self, path: str, response: HttpResponseBase) -> HttpResponse:
        # The response itself is not closed: that would tell Django that the request is over.
        with response.file_to_stream as whole:  # type: ignore[attr-defined]  # WhiteNoise's own
            body = self._compressed.get(path)
            if body is None:
                body = gzip.compress(whole.read(), compresslevel=9, mtime=0)
                if not self.autorefresh:
                    self._compressed[path] = body
        # Without an ETag: that of the file names its other form.
        headers = {name: response.headers[name] for name in _COPIED if name in response.headers}
        headers |= {"Content-Encoding": "gzip", "Content-Length": str(len(body))}
        return HttpResponse(body, headers=headers)


def _takes_gzip(request: HttpRequest) -> bool:
    return "gzip" in request.headers.get("Accept-Encoding", "")
