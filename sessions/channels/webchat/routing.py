"""The web chat's socket address."""

from channels.routing import URLRouter
from django.urls import path

from sessions.channels.webchat.consumer import WebChatConsumer

# The type checker's `path` knows HTTP views only; Channels' documentation gives it applications.
router = URLRouter([path("ws/chat/", WebChatConsumer.as_asgi())])  # type: ignore[arg-type,list-item]
