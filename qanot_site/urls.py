"""All addresses."""

from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from qanot_site import (
    account,
    api,
    first_steps,
    health,
    joining,
    languages,
    login,
    metrics,
    own_data,
)
from sessions.channels.telegram import connecting

# Before the admin says what its addresses are.
admin.autodiscover()

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
    path("join/", joining.join, name="join"),
    path("join/other/", joining.with_another, name="join-other"),
    path("join/<str:token>/", joining.link, name="join-link"),
    path("password/new/", login.new_password, name="password-new"),
    path("password/<str:token>/", login.password_link, name="password-link"),
    path("account/password/", login.change_password, name="password-change"),
    path("account/logins/", account.page, name="logins"),
    path("account/logins/end/", account.end, name="logins-end"),
    path("account/data/", own_data.page, name="account-data"),
    path("account/telegram/", connecting.page, name="account-telegram"),
    path("language/", languages.choose, name="set_language"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.page, name="metrics"),
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
]

handler500 = "qanot_site.requests.broke"
