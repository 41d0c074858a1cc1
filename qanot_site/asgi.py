"""The web server's entry: HTTP through Django, WebSockets through Channels."""

import os
from importlib import import_module
from typing import cast

from asgiref.typing import ASGI3Application
from channels.auth import AuthMiddlewareStack
from channels.routing import ProtocolTypeRouter
from channels.security.websocket import AllowedHostsOriginValidator
from django.conf import settings
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "qanot_site.settings")

# Sets Django up, which what follows needs.
_http = get_asgi_application()
# All pages are imported now and not while the first visitor waits.
import_module(settings.ROOT_URLCONF)

from qanot_site.bodies import within_limit  # noqa: E402
from qanot_site.requests import with_request_id  # noqa: E402
from sessions.channels.telegram import webhook  # noqa: E402
from sessions.channels.webchat.routing import router  # noqa: E402

application = with_request_id(
    webhook.in_front_of(
        ProtocolTypeRouter(
            {
                "http": within_limit(cast(ASGI3Application, _http)),
                # A page of another site cannot open a socket with our visitor's cookie.
                "websocket": AllowedHostsOriginValidator(AuthMiddlewareStack(router)),
            }
        )
    )
)
