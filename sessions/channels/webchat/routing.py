"""The web chat's socket address."""

from django.urls import path

from sessions.channels.webchat.consumer import WebChatConsumer

websocket_urlpatterns = [path("ws/chat/", WebChatConsumer.as_asgi())]
