"""Settings, all from the environment (see `codeforge.env`). They fail closed: what is not set is not allowed.

DATABASE_URL               postgresql://user:password@host:port/name, or …/name?host=/socket/folder     required
REDIS_URL                  redis://host:port/number                                                     required
CODEFORGE_SECRET_KEY       50 random characters or more, also as CODEFORGE_SECRET_KEY_FILE              required
CODEFORGE_BASE_URL         what customers type. http:// is accepted for this machine only               required
CODEFORGE_ALLOWED_HOSTS    further host names, separated by commas                                      none
CODEFORGE_TRUSTED_PROXY    1 when a proxy in front sets X-Forwarded-Proto                               0
CODEFORGE_TRUSTED_PROXIES  networks whose X-Forwarded-For is believed, separated by commas              none
CODEFORGE_DEBUG            1 shows errors in the browser                                                0
CODEFORGE_STAFF_SECOND_FACTOR 1: the admin opens only after a second factor           1 if BASE_URL is https
CODEFORGE_MAIL_URL         smtp+tls://user:password@host:587, smtps://…, smtp://…, file:///folder; also _FILE  var/mail
CODEFORGE_MAIL_FROM        the sender of our mails                                    no-reply@ the host of BASE_URL
CODEFORGE_DEMO             1 allows `manage.py demo`                                                    0
CODEFORGE_LOG_FORMAT       `line` or `json`                                                             line
CODEFORGE_LOG_LEVEL        DEBUG, INFO, WARNING, ERROR                                                  INFO
CODEFORGE_DB_POOL          database connections of a process, at most                                   20
CODEFORGE_MAX_WAITERS      requests that may sleep in `?wait=`, per process                             48
CODEFORGE_INSECURE_RUNTIME a Docker runtime without isolation, for development only                     none
CODEFORGE_INSECURE_WEBHOOKS webhooks to private addresses and without TLS, for development only         0
CODEFORGE_POOL_SIZE        sandboxes that stand ready for a language, at most, per worker               2 per core
CODEFORGE_POOL_MEMORY_MB   memory for sandboxes that stand ready or are kept, per worker                1500
CODEFORGE_METRICS_TOKEN    whoever sends it as Bearer may read /metrics; also as …_FILE                  nobody
CODEFORGE_BIND, CODEFORGE_WEB_PROCESSES, CODEFORGE_WEB_THREADS: see `codeforge.gunicorn`
"""

import os
from datetime import timedelta
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from kombu import Exchange, Queue

from codeforge.env import BadSetting, envbool, envint, envsecret, envstr
from sandbox.catalogue import catalogue

BASE_DIR = Path(__file__).resolve().parent.parent


# --- Who we are ------------------------------------------------------------------------------------------------------

DEBUG = envbool("CODEFORGE_DEBUG", default=False)
SECRET_KEY = envsecret("CODEFORGE_SECRET_KEY")
CODEFORGE_DEMO = envbool("CODEFORGE_DEMO", default=False)
CODEFORGE_BASE_URL = envstr("CODEFORGE_BASE_URL").rstrip("/")

_address = urlsplit(CODEFORGE_BASE_URL)
if _address.scheme not in {"http", "https"} or not _address.hostname or _address.path:
    raise BadSetting("CODEFORGE_BASE_URL must be like https://api.example.com, without a path.")
ENCRYPTED = _address.scheme == "https"
if not ENCRYPTED and _address.hostname not in {"localhost", "127.0.0.1", "::1"}:
    raise BadSetting(
        "CODEFORGE_BASE_URL must be https:// (keys would travel in the clear), but on this machine itself."
    )

_further_hosts = [host.strip() for host in envstr("CODEFORGE_ALLOWED_HOSTS", "").split(",") if host.strip()]
ALLOWED_HOSTS = [_address.hostname, *_further_hosts]
if not ENCRYPTED:
    ALLOWED_HOSTS += ["localhost", "127.0.0.1", "[::1]"]

# --- What runs -------------------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "codeforge.apps.StaffAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.postgres",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "codeforge.apps.CodeForgeConfig",
    "accounts.apps.AccountsConfig",
    "executions.apps.ExecutionsConfig",
]

MIDDLEWARE = [
    "codeforge.proxies.ClientAddressMiddleware",
    "codeforge.request_id.RequestIdMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "codeforge.headers.SecurityHeadersMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "codeforge.problems.RefusalMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "codeforge.urls"
WSGI_APPLICATION = "codeforge.wsgi.application"
APPEND_SLASH = False
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Served from where they lie, so that there is no step of collecting, and none to forget.
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = DEBUG

# --- What it stands on -----------------------------------------------------------------------------------------------


def _database(address: str) -> dict[str, object]:
    url = urlsplit(address)
    if url.scheme not in {"postgresql", "postgres"}:
        raise BadSetting("DATABASE_URL must be postgresql://…: nothing else is supported.")
    options: dict[str, object] = dict(parse_qsl(url.query))
    host = str(options.pop("host", "")) or unquote(url.hostname or "")
    port = str(options.pop("port", "")) or (str(url.port) if url.port else "")
    name = unquote(url.path.lstrip("/"))
    if not name:
        raise BadSetting("DATABASE_URL must name a database.")
    # A statement of ours takes milliseconds. One that does not must not hold a web thread or a lock for ever.
    timeouts = "-c statement_timeout=30s -c lock_timeout=10s -c idle_in_transaction_session_timeout=60s"
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(url.username or ""),
        "PASSWORD": unquote(url.password or ""),
        "HOST": host,
        "PORT": port,
        "CONN_MAX_AGE": 0,  # the pool keeps connections, Django gives them back after each request and task
        "OPTIONS": {
            "connect_timeout": 5,
            "options": timeouts,
            **options,
            "pool": {"min_size": 1, "max_size": envint("CODEFORGE_DB_POOL", default=20, least=2), "timeout": 10},
        },
    }


DATABASES = {"default": _database(envsecret("DATABASE_URL"))}
REDIS_URL = envsecret("REDIS_URL")

CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "cache",
        # Only request rates are here. A dead Redis must cost a request milliseconds: see `accounts.rates`.
        "OPTIONS": {"socket_connect_timeout": 0.25, "socket_timeout": 0.5},
    }
}

CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # a worker outlives any outage of the broker
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object] = {
    # A run that is lost is found by the sweep long before; this only bounds what an unacknowledged message costs.
    "visibility_timeout": 3600,
    # A dead Redis must cost a web thread moments, not minutes.
    "socket_connect_timeout": 0.5,
    "socket_timeout": 3,
    "max_retries": 0,
    "interval_start": 0,
    "interval_step": 0,
    "interval_max": 0,
}
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_DEFAULT_QUEUE = "maintenance"
# A worker takes from all of them, unless it is told otherwise with `--queues` or lacks a language.
CELERY_TASK_QUEUES = [
    Queue(name, Exchange(name), routing_key=name)
    for name in ("maintenance", *(f"executions.{language}" for language in catalogue()))
]
CELERY_WORKER_POOL = "threads"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = {
    "sweep": {"task": "executions.sweep", "schedule": timedelta(seconds=5), "options": {"expires": 5}},
    "retention": {"task": "executions.retention", "schedule": timedelta(minutes=10), "options": {"expires": 600}},
    "webhooks": {"task": "webhooks.deliver", "schedule": timedelta(seconds=5), "options": {"expires": 5}},
}
CELERY_BEAT_SCHEDULE_FILENAME = str(BASE_DIR / "var" / "celerybeat-schedule")

# --- Who may come in -------------------------------------------------------------------------------------------------

AUTH_USER_MODEL = "accounts.User"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

try:
    CODEFORGE_TRUSTED_PROXIES = [
        ip_network(network.strip()) for network in envstr("CODEFORGE_TRUSTED_PROXIES", "").split(",") if network.strip()
    ]
except ValueError as error:
    raise BadSetting(f"CODEFORGE_TRUSTED_PROXIES must be networks like 10.0.0.0/8: {error}.") from None
# Signing in is allauth's: pages, mails, second factor. Nobody signs up without an invitation.
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/dashboard"
AUTHENTICATION_BACKENDS = ["accounts.sign_in.EmailBackend"]
ACCOUNT_ADAPTER = "accounts.sign_in.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = None
ACCOUNT_LOGIN_METHODS = {"email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "password1*"]
ACCOUNT_EMAIL_VERIFICATION = "mandatory"
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_LOGOUT_REDIRECT_URL = "/"
ACCOUNT_DEFAULT_HTTP_PROTOCOL = _address.scheme
ACCOUNT_SESSION_REMEMBER = True
# Nobody is told by mail or by an answer whether an address is known.
ACCOUNT_PREVENT_ENUMERATION = True
ACCOUNT_EMAIL_UNKNOWN_ACCOUNTS = False
# Ours count instead (`accounts.rates`): they let people in when Redis is away.
ACCOUNT_RATE_LIMITS = False
ACCOUNT_REAUTHENTICATION_METHODS = ["password", "mfa"]
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
MFA_TOTP_ISSUER = "CodeForge"
CODEFORGE_STAFF_SECOND_FACTOR = envbool("CODEFORGE_STAFF_SECOND_FACTOR", default=ENCRYPTED)

# --- Mail ------------------------------------------------------------------------------------------------------------

DEFAULT_FROM_EMAIL = envstr("CODEFORGE_MAIL_FROM", f"CodeForge <no-reply@{_address.hostname}>")
EMAIL_TIMEOUT = 10
_mail = urlsplit(envsecret("CODEFORGE_MAIL_URL", ""))
if _mail.scheme in {"smtp", "smtps", "smtp+tls"}:
    EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    EMAIL_HOST = _mail.hostname or ""
    EMAIL_PORT = _mail.port or {"smtp": 25, "smtps": 465, "smtp+tls": 587}[_mail.scheme]
    EMAIL_HOST_USER = unquote(_mail.username or "")
    EMAIL_HOST_PASSWORD = unquote(_mail.password or "")
    EMAIL_USE_SSL = _mail.scheme == "smtps"
    EMAIL_USE_TLS = _mail.scheme == "smtp+tls"
elif _mail.scheme in {"", "file"}:
    EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    EMAIL_FILE_PATH = _mail.path or str(BASE_DIR / "var" / "mail")
else:
    raise BadSetting("CODEFORGE_MAIL_URL must be smtp://, smtp+tls://, smtps:// or file:///folder.")

if envbool("CODEFORGE_TRUSTED_PROXY", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_SSL_REDIRECT = ENCRYPTED
SECURE_REDIRECT_EXEMPT = [r"^healthz$"]
SECURE_HSTS_SECONDS = 31_536_000 if ENCRYPTED else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = ENCRYPTED
SECURE_HSTS_PRELOAD = ENCRYPTED
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SESSION_COOKIE_SECURE = ENCRYPTED
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = int(timedelta(days=14).total_seconds())
CSRF_COOKIE_SECURE = ENCRYPTED
CSRF_COOKIE_HTTPONLY = True
CSRF_TRUSTED_ORIGINS = [CODEFORGE_BASE_URL]
CSRF_FAILURE_VIEW = "codeforge.problems.csrf_failed"
X_FRAME_OPTIONS = "DENY"

# --- The API ---------------------------------------------------------------------------------------------------------

# The whole body. All fields fit at their longest: stdin (4 MiB) and files (1 MiB) as base64, expected output (4 MiB)
# as it is, the source (256 KiB) even with every letter escaped. Of escaped output, and of tests, less fits.
CODEFORGE_MAX_BODY_BYTES = 16 * 1024 * 1024
DATA_UPLOAD_MAX_MEMORY_SIZE = CODEFORGE_MAX_BODY_BYTES
# Less than the threads of a web process, so that requests that do not wait always find one.
CODEFORGE_MAX_WAITERS = envint("CODEFORGE_MAX_WAITERS", default=48)
# Names a Docker runtime that does not isolate; the worker then refuses nothing. Never where strangers' code runs.
CODEFORGE_INSECURE_RUNTIME = envstr("CODEFORGE_INSECURE_RUNTIME", None)
# Webhooks may go to this machine and to private networks, unencrypted: for tests and development only.
CODEFORGE_INSECURE_WEBHOOKS = envbool("CODEFORGE_INSECURE_WEBHOOKS", default=False)
CODEFORGE_POOL_SIZE = envint("CODEFORGE_POOL_SIZE", default=2 * (os.cpu_count() or 1), least=1)
CODEFORGE_POOL_MEMORY_MB = envint("CODEFORGE_POOL_MEMORY_MB", default=1_500, least=100)
CODEFORGE_METRICS_TOKEN = envsecret("CODEFORGE_METRICS_TOKEN", "")

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["accounts.authentication.ApiKeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["accounts.authentication.HasScope"],
    "DEFAULT_THROTTLE_CLASSES": ["accounts.rates.KeyRate"],
    "DEFAULT_PARSER_CLASSES": ["executions.strict_json.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "executions.strict_json.AlwaysJSON",
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "codeforge.problems.exception_handler",
    "UNAUTHENTICATED_USER": None,
    "UNAUTHENTICATED_TOKEN": None,
    "URL_FORMAT_OVERRIDE": None,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "CodeForge",
    "VERSION": "1",
    "DESCRIPTION": (
        "Evaluate code written by language models and agents by actually running it: in a sandbox with no network, no "
        "credentials and strict limits. JSON in UTF-8; every refusal is an RFC 9457 problem; every response carries "
        "`X-Request-Id`."
    ),
    "SERVERS": [{"url": CODEFORGE_BASE_URL}],
    "SCHEMA_PATH_PREFIX": "/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": False,
    "ENUM_ADD_EXPLICIT_BLANK_NULL_CHOICE": False,
    "ENUM_NAME_OVERRIDES": {
        "BatchStatus": "executions.batches.schema.BATCH_STATES",
        "CheckerType": "executions.schema.CHECKER_CHOICES",
        "Isolation": "executions.schema.ISOLATION_CHOICES",
        "LimitName": "executions.schema.LIMITS",
        "Phase": "executions.schema.PHASES",
        "Encoding": "executions.schema.ENCODING_CHOICES",
        "Language": "executions.schema.LANGUAGES",
        "Status": "executions.schema.STATUSES",
        "Verdict": "executions.schema.VERDICTS",
        "WebhookState": "executions.webhooks.schema.STATES",
    },
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enums", "codeforge.openapi.add_refusals"],
}

# --- What is written down --------------------------------------------------------------------------------------------

_log_format = envstr("CODEFORGE_LOG_FORMAT", "line")
if _log_format not in {"line", "json"}:
    raise BadSetting("CODEFORGE_LOG_FORMAT must be line or json.")
_log_level = envstr("CODEFORGE_LOG_LEVEL", "INFO").upper()
if _log_level not in {"DEBUG", "INFO", "WARNING", "ERROR"}:
    raise BadSetting("CODEFORGE_LOG_LEVEL must be DEBUG, INFO, WARNING or ERROR.")

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"()": "codeforge.logs.LineFormatter"},
        "json": {"()": "codeforge.logs.JsonFormatter"},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": _log_format}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
    "loggers": {
        "codeforge": {"level": _log_level},
        "accounts": {"level": _log_level},
        "executions": {"level": _log_level},
        "sandbox": {"level": _log_level},
        "celery": {"level": "WARNING"},
        "django": {"handlers": [], "level": "WARNING", "propagate": True},
        # Refusals are answers, not events: the request line has their status already.
        "django.request": {"level": "ERROR"},
        "django.security": {"level": "ERROR"},
        "django.server": {"handlers": [], "level": "WARNING", "propagate": True},
    },
}
