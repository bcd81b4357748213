"""Django settings. Every option of an installation is an environment variable with the prefix
ASSAY_ (config/setting_list.py)."""

from pathlib import Path

from config import databases, file_stores, logs, single_sign_on
from config import environment as env

BASE_DIR = Path(__file__).resolve().parent.parent
IN_CHECKOUT = (BASE_DIR / "pyproject.toml").exists()  # otherwise a wheel was installed
DATA_DIR = Path(
    env.text("DATA_DIR") or (BASE_DIR / "var" if IN_CHECKOUT else env.user_folder())
).resolve()
COMMAND = ".venv/bin/python manage.py" if IN_CHECKOUT else "assay"
# the command that users of this installation type
BEFORE_COMMANDS = env.format_shell_variables("DATA_DIR")
DATABASE_GIVEN = bool(env.text("DATABASE_URL"))
DEBUG = env.flag("DEBUG")
SECRET_KEY = env.secret_key(DATA_DIR)
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS")
CSRF_TRUSTED_ORIGINS = env.words("TRUSTED_ORIGINS")
TRUSTED_PROXIES = env.networks("TRUSTED_PROXIES")
HTTPS = env.flag("HTTPS")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_AGE = env.number("SESSION_DAYS", least=1) * 86400
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if HTTPS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = env.flag("HSTS_SUBDOMAINS")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [
        "^healthz$",
        "^readyz$",
        "^metrics$",
    ]  # for clients on this machine, without a proxy
SILENCED_SYSTEM_CHECKS = [
    "security.W005",
    "security.W021",
]  # other hosts of a domain, and browsers' preload lists, are decisions of the domain's owner

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "config",
    "pooling",
    "annotation",
    "analysis",
]
MIDDLEWARE = [
    "config.middleware.RequestLog",
    "django.middleware.security.SecurityMiddleware",
    "config.middleware.ContentSecurityPolicy",
    "config.middleware.RejectUnreadableRequests",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "config.middleware.RejectNulInForms",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "annotation.middleware.TimeZoneMiddleware",
    "annotation.middleware.LanguageMiddleware",
    "config.middleware.PreferencesMiddleware",
]
ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"
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

# for a pooler such as PgBouncer: no server-side cursors and no prepared statements
POOLER = env.flag("POOLER")
# per statement; the web server sets its own limit (config/wsgi.py)
QUERY_SECONDS = env.number("QUERY_SECONDS")
JUDGEMENT_WAIT_SECONDS = env.number("JUDGEMENT_WAIT_SECONDS", least=1, most=15)
DATABASES = {
    "default": databases.database_settings(
        env.text("DATABASE_URL"), DATA_DIR, query_seconds=QUERY_SECONDS, pooler=POOLER
    )
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

PASSWORD_HASHERS = [
    "config.passwords.Argon2",
    "config.passwords.PBKDF2",
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign-in"

LANGUAGE_CODE = "en"
LANGUAGES = [
    ("en", "English"),
    ("de", "Deutsch"),
    ("fr", "Français"),
    ("es", "Español"),
    ("ar", "العربية"),
]
LANGUAGE_COOKIE_NAME, LANGUAGE_COOKIE_AGE, LANGUAGE_COOKIE_SAMESITE, LANGUAGE_COOKIE_SECURE = (
    "language",
    31_536_000,
    "Lax",
    HTTPS,
)
LOCALE_PATHS = [BASE_DIR / "locale"]
FORMAT_MODULE_PATH = ["config.formats"]
TIME_ZONE = env.text("TIME_ZONE")
USE_TZ = True
USE_I18N = True

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": file_stores.storage_settings(
        env.text("STORAGE"), cache_gigabytes=env.number("CACHE_GB", least=1)
    ),
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "config.storage.StaticFilesStorage"
    },
}
# never served by URL: every download goes through a view that checks permissions
MEDIA_ROOT = DATA_DIR / "files"
FILE_UPLOAD_TEMP_DIR = None
FILE_UPLOAD_PERMISSIONS = 0o600
DATA_UPLOAD_MAX_MEMORY_SIZE = 5_000_000
MAX_UPLOAD_BYTES = env.number("MAX_UPLOAD_MB", least=1) * 1_000_000
# 0 for no limit, here and in the next line
WAITING_BYTES_PER_PERSON = env.number("MAX_WAITING_MB") * 1_000_000
JOBS_PER_PERSON = env.number("JOBS_PER_PERSON")
JOB_IDLE_SECONDS = env.number("JOB_IDLE_SECONDS")  # 0 for no limit
MAX_UNPACKED_BYTES = env.number("MAX_UNPACKED_MB", least=1) * 1_000_000

REST_FRAMEWORK = {
    # Token authentication first: it has a challenge, without which REST framework would answer 403
    # to anonymous requests.
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "annotation.authentication.ApiToken",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PARSER_CLASSES": [
        "pooling.api.parsers.JsonBody",
        "rest_framework.parsers.FormParser",
        "rest_framework.parsers.MultiPartParser",
    ],
    "DEFAULT_PERMISSION_CLASSES": [
        "rest_framework.permissions.IsAuthenticated",
        "annotation.authentication.HasTokenScope",
    ],
    "DEFAULT_SCHEMA_CLASS": "pooling.api.schema.ApiSchema",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "EXCEPTION_HANDLER": "pooling.api.problems.handle_exception",
    "DEFAULT_PAGINATION_CLASS": "pooling.api.lists.LimitOffsetPages",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Assay",
    "DESCRIPTION": "Relevance annotation campaigns: collections, pools, judgements, qrels, analyses.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",  # its schemas are JSON Schema
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "COMPONENT_SPLIT_REQUEST": True,
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "ENUM_NAME_OVERRIDES": {
        "UploadKind": "pooling.models.Upload.Kind",
        "QrelsKind": "pooling.models.Qrels.Kind",
        "ReportKind": "analysis.systems.api.TYPE_CHOICES",
        "JobState": "pooling.models.Job.State",
        "JudgingState": "annotation.api.judging_schema.STATE_CHOICES",
        "LeaseState": "annotation.models.Lease.State",
    },
}

INSTITUTION = env.text("INSTITUTION")  # on the button of the sign-in page
USER_HEADER, GROUPS_HEADER = env.text("USER_HEADER"), env.text("GROUPS_HEADER")
CREATOR_GROUPS, ADMIN_GROUPS = env.words("CREATOR_GROUPS"), env.words("ADMIN_GROUPS")
OIDC_ISSUER = env.text("OIDC_ISSUER")
OIDC_RP_CLIENT_ID, OIDC_RP_CLIENT_SECRET = env.text("OIDC_CLIENT"), env.text("OIDC_SECRET")
OIDC_OP_AUTHORIZATION_ENDPOINT, OIDC_OP_TOKEN_ENDPOINT = (
    env.text("OIDC_AUTHORIZE"),
    env.text("OIDC_TOKENS"),
)
OIDC_OP_USER_ENDPOINT, OIDC_OP_JWKS_ENDPOINT = env.text("OIDC_USERINFO"), env.text("OIDC_KEYS")
OIDC_RP_SCOPES = env.text("OIDC_SCOPES")
OIDC_NAME_CLAIM, OIDC_GROUPS_CLAIM = (
    env.text("OIDC_NAME_CLAIM"),
    env.text("OIDC_GROUPS_CLAIM"),
)
OIDC_RP_SIGN_ALGO, OIDC_USE_PKCE, OIDC_TIMEOUT = "RS256", True, 10
OIDC_AUTHENTICATION_CALLBACK_URL = "sign-in-oidc-back"
single_sign_on.check_settings(
    USER_HEADER,
    GROUPS_HEADER,
    trusted_proxies=TRUSTED_PROXIES,
    issuer=OIDC_ISSUER,
    secret=OIDC_RP_CLIENT_SECRET,
)

# empty for a worker without Celery (pooling/worker_processes.py)
BROKER_URL = env.text("BROKER_URL")
WORKER_APP = "config.celery.app"
CELERY_BROKER_URL = BROKER_URL
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SERIALIZER = "json"
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BROKER_TRANSPORT_OPTIONS = (
    {"visibility_timeout": 7 * 86400} if BROKER_URL.startswith("redis") else {}
)

EMAIL_BACKEND = (
    "django.core.mail.backends.smtp.EmailBackend"
    if env.text("EMAIL_HOST")
    else "django.core.mail.backends.console.EmailBackend"
)
EMAIL_HOST = env.text("EMAIL_HOST") or "localhost"
EMAIL_PORT = env.number("EMAIL_PORT", least=1)
EMAIL_HOST_USER = env.text("EMAIL_USER")
EMAIL_HOST_PASSWORD = env.text("EMAIL_PASSWORD")
EMAIL_USE_TLS = env.flag("EMAIL_TLS")
EMAIL_TIMEOUT = 10  # otherwise an unresponsive mail server would block a thread per sign-in link
DEFAULT_FROM_EMAIL = env.text("EMAIL_FROM")

# address -> variable with its key; pages cannot use other addresses
LLM_ENDPOINTS = env.endpoints("LLM_ENDPOINTS")
# the same for search engines, where the variable holds the header Authorization
ENGINE_ENDPOINTS = env.endpoints("ENGINE_ENDPOINTS")
WEBHOOK_NETWORKS = env.networks("WEBHOOK_NETWORKS")
METRICS_TOKEN = env.text("METRICS_TOKEN")
LOGGING = logs.logging_settings(
    env.text("LOG_LEVEL").upper(),
    style=env.choice("LOG_FORMAT", "line", "json"),
    access=env.flag("ACCESS_LOG"),
)
