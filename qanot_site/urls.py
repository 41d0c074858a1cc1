"""All addresses."""

from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from qanot_site import api, first_steps, health, languages, login

urlpatterns = [
    path("", login.home, name="home"),
    path("start/", first_steps.page, name="first-steps"),
    path("start/dismiss/", first_steps.dismiss, name="first-steps-dismiss"),
    path("", include("sessions.channels.webchat.urls")),
    path(
        "login/",
        LoginView.as_view(template_name="login.html", redirect_authenticated_user=True),
        name="login",
    ),
    path("login/<str:token>/", login.one_time_link, name="login-link"),
    path("language/", languages.choose, name="set_language"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
]
