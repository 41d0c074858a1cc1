"""The web chat's pages."""

from django.urls import path

from sessions.channels.webchat import readers, views

urlpatterns = [
    path("chat/", views.chat, name="chat"),
    path("chat/readers/", readers.page, name="chat-readers"),
    path("chat/<uuid:conversation>/", views.chat, name="chat-conversation"),
]
