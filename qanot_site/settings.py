"""The one settings file; every value that may differ between machines comes from `env.py`."""

import hashlib
import os
import socket
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
import django_stubs_ext
from csp.constants import NONCE, NONE, SELF
from django.templatetags.static import static
from django.utils.translation import gettext_lazy as _

from qanot_site import logs
from qanot_site.env import PROJECT, BadEnvironment, load_dotenv, read_environment
from qanot_site.home import Home
from qanot_site.static_digest import digest_of

# Lets classes name their row, as in `ModelAdmin[Agent]`, while they run and not only for mypy.
django_stubs_ext.monkeypatch()

load_dotenv()
try:
    ENVIRONMENT = read_environment()
except BadEnvironment as error:
    # One sentence instead of a traceback, in every process that loads Django.
    sys.exit(str(error))

# A relative home lies in the project folder, wherever a command is started from.
HOME = Home(PROJECT / Path(ENVIRONMENT.qanot_home).expanduser())
_servers = HOME.servers()
_public = urlsplit(ENVIRONMENT.qanot_public_url)
_is_https = _public.scheme == "https"

DEBUG = ENVIRONMENT.qanot_debug
SECRET_KEY = ENVIRONMENT.qanot_secret_key or HOME.secret_key()
SECRET_KEY_FALLBACKS = [*ENVIRONMENT.qanot_secret_key_fallbacks, *HOME.old_secret_keys()]


def _local_hosts() -> list[str]:
    """Names by which this machine may be called when none are configured."""
    names = ["localhost", "127.0.0.1", "[::1]"]
    if _public.hostname:
        names.append(_public.hostname)
    if ENVIRONMENT.qanot_host in {"0.0.0.0", "::"}:  # noqa: S104 - compared, not bound
        names += [socket.gethostname(), _outward_address()]
    else:
        names.append(ENVIRONMENT.qanot_host)
    return names


def _outward_address() -> str:
    """This machine's address towards other machines; connecting a datagram socket sends nothing."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return "127.0.0.1"
        return str(probe.getsockname()[0])


ALLOWED_HOSTS = list(ENVIRONMENT.qanot_allowed_hosts) or _local_hosts()
CSRF_TRUSTED_ORIGINS = [f"{_public.scheme}://{_public.netloc}"] if _public.scheme else []

INSTALLED_APPS = [
    # Without its own site: ours stands in qanot_site/admin_site.py.
    "unfold.apps.BasicAppConfig",
    "qanot_site.apps.QanotAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "channels",
    # Its page of the API's operations comes from our own address then, not from a CDN.
    "ninja",
    "django_celery_beat",
    "axes",
    "agents.apps.AgentsConfig",
    "memory.apps.MemoryConfig",
    "sessions.apps.SessionsConfig",
    "qanot_site.apps.QanotSiteConfig",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "qanot_site.static_files.StaticFilesMiddleware",
    "qanot_site.security.ContentSecurityPolicyMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "qanot_site.languages.language_of_the_user",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    # Answers in the place of a login page while too many passwords were wrong.
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "qanot_site.urls"
ASGI_APPLICATION = "qanot_site.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [PROJECT / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ]
        },
    }
]

# Database. Bounds of every process's connections: docs/connections.md.
DATABASE_POOL_SIZE = 16
# Threads of a process that speak to the database for coroutines (agents/db.py).
DATABASE_THREADS = 3
DATABASE_URL = ENVIRONMENT.database_url or (_servers.database_url if _servers else "")
DATABASE_OWNER_URL = (
    ENVIRONMENT.database_owner_url
    or ENVIRONMENT.database_url
    or (_servers.database_owner_url if _servers else "")
)


def _database(url: str, *, pooled: bool) -> dict[str, Any]:
    """Django's settings of one connection; without a URL, the back end that refuses every query."""
    if not url:
        return {"ENGINE": "django.db.backends.dummy"}
    config: dict[str, Any] = {
        **dj_database_url.parse(url, conn_max_age=0, conn_health_checks=pooled)
    }
    options = config.setdefault("OPTIONS", {})
    options.setdefault("connect_timeout", 3)
    # A server that falls silent without a word is given up as soon as one that refuses.
    options.setdefault("tcp_user_timeout", 10_000)
    if pooled:
        # A worker that was paused inside a transaction must not keep its row locks past its lease.
        limit_ms = int(max(ENVIRONMENT.qanot_lease_s, 5) * 1000)
        options.setdefault("options", f"-c idle_in_transaction_session_timeout={limit_ms}")
    options.setdefault("application_name", "qanot")
    if pooled:
        # PostgreSQL plans a statement a few times, then keeps the plan: a turn's statements are
        # always the same, and planning a join cost more than running it (0.7 ms → 0.15 ms).
        # A statement whose best plan depends on its values must say `prepare=False`.
        options |= {"server_side_binding": True, "prepare_threshold": 5}
        # No connection is opened before the first query; idle ones go back to the server.
        options["pool"] = {
            "min_size": 0,
            "max_size": DATABASE_POOL_SIZE,
            "timeout": 5,
            "max_idle": 120,
        }
    return config


DATABASES = {
    "default": _database(DATABASE_URL, pooled=True),
    # Only migrations, grants and index building use it (`prepare`, `migrate`).
    "owner": {
        **_database(DATABASE_OWNER_URL, pooled=False),
        "TEST": {"MIRROR": "default"},
    },
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Redis carries bells and live events only. Nothing listens on port 1: without a server a bell
# fails at once and is logged, as when Redis is away.
REDIS_URL = ENVIRONMENT.redis_url or (_servers.redis_url if _servers else "redis://127.0.0.1:1/0")
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {
            "hosts": [{"address": REDIS_URL, "socket_connect_timeout": 1, "socket_timeout": 5}]
        },
    }
}

CELERY_BROKER_URL = REDIS_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_STORE_ERRORS_EVEN_IF_IGNORED = False
CELERY_RESULT_BACKEND = None
# A bell is acknowledged before it runs: the rows know what is left to do, a second bell is noise.
CELERY_TASK_ACKS_LATE = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_ENABLE_UTC = True
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_CONCURRENCY = ENVIRONMENT.qanot_streams
# One bell more than there are free threads at most waits in a process.
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_CONNECTION_TIMEOUT = 1
CELERY_BROKER_POOL_LIMIT = 10
# A refused bell must cost its sender less than a second: the sweep finds the work anyway.
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_connect_timeout": 0.5,
    "socket_timeout": 1,
    "max_retries": 0,
    "interval_start": 0,
    "interval_step": 0,
    "interval_max": 0,
    "visibility_timeout": 3600,
}
CELERY_BEAT_SCHEDULER = "qanot_site.beat:LockedScheduler"

# People and sessions.
AUTH_USER_MODEL = "agents.User"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
# After five wrong passwords for one user name from one address, a quarter of an hour without
# another try; other people behind the same address, and the person elsewhere, are not held up.
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
# Tries during the pause do not make it longer: whoever waits gets in.
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_LOCKOUT_CALLABLE = "qanot_site.login.paused"
AXES_USERNAME_CALLABLE = "qanot_site.visitors.counted_name_of"
AXES_CLIENT_IP_CALLABLE = "qanot_site.visitors.counted_address_of"
# Log-ins are listed by our own LoginRecord; what axes counts goes after a quarter of an hour.
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/chat/"
LOGOUT_REDIRECT_URL = "login"
SESSION_ENGINE = "qanot_site.session_store"
# Browsers share cookies between the ports of one host: two homes must not log each other out.
SESSION_COOKIE_NAME = (
    "qanot_session"
    if ENVIRONMENT.database_url
    else f"qanot_session_{hashlib.sha256(os.fsencode(HOME.folder)).hexdigest()[:8]}"
)
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = _is_https
CSRF_COOKIE_SECURE = _is_https
# Whether a request came over https is what the proxy says, where the web server trusts its address
# (uvicorn's FORWARDED_ALLOW_IPS): docs/deploy.md.
SECURE_SSL_REDIRECT = _is_https
# Asked by whatever watches this machine, on it.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_HSTS_SECONDS = 31_536_000 if _is_https else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = _is_https
SECURE_HSTS_PRELOAD = _is_https
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

# Languages and time.
LANGUAGE_CODE = "en"
LANGUAGES = [
    ("en", "English"),
    ("uz", "Oʻzbekcha"),
    ("ru", "Русский"),
    ("tr", "Türkçe"),
    ("pl", "Polski"),
]
LOCALE_PATHS = [PROJECT / "locale"]
# Also read where nobody has logged in yet, by every Qanot on this host: hence one name.
LANGUAGE_COOKIE_NAME = "qanot_language"
LANGUAGE_COOKIE_AGE = 31_536_000
LANGUAGE_COOKIE_SECURE = _is_https
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"

# Files.
STATICFILES_DIRS = [PROJECT / "static"]
# Another release has other addresses, so that browsers may keep a file for good.
STATIC_URL = f"static/{digest_of(STATICFILES_DIRS[0])}/"
# Files are served from where the apps keep them; nothing has to be collected.
STATIC_ROOT = None
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG
MEDIA_ROOT = HOME.files
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
FILE_UPLOAD_PERMISSIONS = 0o600

LOGGING = logs.configure(ENVIRONMENT.qanot_log_format)

# The platform's own.
QANOT_HOME = HOME.folder
QANOT_PUBLIC_URL = ENVIRONMENT.qanot_public_url.rstrip("/")
QANOT_OLLAMA_HOST = ENVIRONMENT.ollama_host
# Hosts that anybody may have asked although they are private: docs/security.md.
QANOT_PRIVATE_HOSTS = frozenset(ENVIRONMENT.qanot_private_hosts)
QANOT_DUMP_BEFORE_MIGRATE = ENVIRONMENT.qanot_dump_before_migrate
QANOT_METRICS_TOKEN = ENVIRONMENT.qanot_metrics_token
QANOT_STREAMS = ENVIRONMENT.qanot_streams
QANOT_LEASE_S = ENVIRONMENT.qanot_lease_s
QANOT_HEARTBEAT_S = ENVIRONMENT.qanot_heartbeat_s
QANOT_SWEEP_S = ENVIRONMENT.qanot_sweep_s
# Seconds between two looks for texts that are not indexed; 0 leaves them to other workers.
QANOT_INDEX_S = 1.0
# Seconds between two looks for conversations to read for facts; 0 leaves them to other workers.
QANOT_EXTRACTION_S = 2.0
QANOT_FIRST_EVENT_S = ENVIRONMENT.qanot_first_event_s
QANOT_BETWEEN_EVENTS_S = ENVIRONMENT.qanot_between_events_s
QANOT_CALL_S = ENVIRONMENT.qanot_call_s
QANOT_TOOL_S = ENVIRONMENT.qanot_tool_s
QANOT_RETRY_BASE_S = ENVIRONMENT.qanot_retry_base_s

# What speaks to the world outside, by dotted path, loaded at its first use.
QANOT_PROVIDERS = {
    "anthropic": "agents.providers.anthropic.AnthropicProvider",
    "openai": "agents.providers.openai_compatible.OpenAIProvider",
}
QANOT_CHANNELS = {
    "webchat": "sessions.channels.live.LiveSender",
    "rest": "sessions.channels.live.LiveSender",
    "telegram": "sessions.channels.telegram.sending.TelegramSender",
}
# What shows a running turn on channels that have no page of their own.
QANOT_PRESENTERS = {"telegram": "sessions.channels.telegram.showing.present"}

QANOT_FILE_SOURCES = {"telegram": "sessions.channels.telegram.files.TelegramFiles"}

# The admin's looks and sidebar; everything it loads lies in static files.
UNFOLD = {
    "SITE_TITLE": "Qanot",
    "SITE_HEADER": "Qanot",
    "SITE_ICON": lambda request: static("qanot.svg"),
    "SITE_URL": "/chat/",
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_LANGUAGES": True,
    "LANGUAGES": {"navigation": "qanot_site.languages.admin_menu"},
    "STYLES": [lambda request: static("admin-own/admin.css")],
    "SCRIPTS": [lambda request: static("logout.js")],
    "SITE_FAVICONS": [
        {
            "rel": "icon",
            "type": "image/svg+xml",
            "href": lambda request: static("qanot.svg"),
        }
    ],
    "LOGIN": {"form": "qanot_site.admin_site.LoginForm"},
    "ACCOUNT": {"navigation": [{"title": _("Chat"), "link": "/chat/"}]},
    "SIDEBAR": {
        "show_search": True,
        "show_all_applications": False,
        "navigation": "qanot_site.admin_site.navigation",
    },
    "COLORS": {
        "primary": {
            "50": "oklch(98.4% .014 180.72)",
            "100": "oklch(95.3% .051 180.801)",
            "200": "oklch(91% .096 180.426)",
            "300": "oklch(85.5% .138 181.071)",
            "400": "oklch(77.7% .152 181.912)",
            "500": "oklch(70.4% .14 182.503)",
            "600": "oklch(51.1% .096 186.391)",
            "700": "oklch(43.7% .078 188.216)",
            "800": "oklch(38.6% .063 188.416)",
            "900": "oklch(32% .056 189)",
            "950": "oklch(27.7% .046 192.524)",
        }
    },
}
