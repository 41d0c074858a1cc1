"""The web chat's pages."""

from django.urls import path

from sessions.channels.webchat import files, readers, views

urlpatterns = [
    path("chat/", views.chat, name="chat"),
    path("chat/readers/", readers.page, name="chat-readers"),
    path("chat/files/", files.upload, name="chat-files"),
    path("chat/files/<uuid:file>/", files.download, name="chat-file"),
    path("chat/<uuid:conversation>/", views.chat, name="chat-conversation"),
]
