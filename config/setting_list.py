"""All settings. Each is an environment variable with the prefix ASSAY_. `config.environment` reads
them, and docs/reference_pages.py generates the reference page from this list."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """A setting of an installation, set by an environment variable.

    name: without the prefix. default: as it would be typed; "" for none. help: a noun phrase in
    Markdown. shown_default: in Markdown, what applies without a default.
    """

    name: str
    default: str
    help: str
    shown_default: str = ""


SECTIONS: dict[str, tuple[Setting, ...]] = {
    "data": (
        Setting(
            "DATA_DIR",
            "",
            "folder for uploads, columns of runs and qrels, releases, the SQLite file and the "
            "generated secret key",
            "`var` next to `manage.py`; for an installed wheel `~/.local/share/assay` "
            "(`$XDG_DATA_HOME/assay`)",
        ),
        Setting(
            "STORAGE",
            "",
            "object store for files, `s3://bucket/prefix`; see "
            "[Several machines](../how-to/deploy.md#several-machines)",
            "none: files are in the data folder",
        ),
        Setting(
            "CACHE_GB",
            "20",
            "maximum size of the local cache of an object store in gigabytes. Files used within "
            "the last hour are kept even if the cache is full",
        ),
        Setting(
            "DATABASE_URL",
            "",
            "address of the database, `postgresql://user:password@host:5432/name`",
            "SQLite in the data folder",
        ),
        Setting("POOLER", "0", "`1` behind a pooler such as PgBouncer in transaction mode"),
        Setting(
            "BROKER_URL",
            "",
            "address of the message broker, `redis://host:6379/0`; required for several workers",
            "none: the worker reads the table of jobs, without Celery",
        ),
        Setting(
            "QUERY_SECONDS",
            "0",
            "maximum duration of a database statement in seconds; waiting for a lock may take half "
            "of it. A connection that does not respond is closed after about 20 seconds",
            "`12` for the web server, otherwise `0` (no limit)",
        ),
    ),
    "network": (
        Setting(
            "SECRET_KEY",
            "",
            "key that signs sessions; use the same key on every web server",
            "generated once into the data folder, mode 600",
        ),
        Setting(
            "ALLOWED_HOSTS",
            "127.0.0.1 localhost [::1]",
            "space-separated host names of the server",
        ),
        Setting(
            "TRUSTED_ORIGINS",
            "",
            "space-separated origins behind a proxy, such as `https://assay.example.org`",
        ),
        Setting(
            "HTTPS",
            "0",
            "`1` behind a proxy with HTTPS: cookies are secure, HSTS is on, and `X-Forwarded-Proto` "
            "is trusted",
        ),
        Setting(
            "HSTS_SUBDOMAINS", "0", "`1` to extend HSTS to all subdomains, with `ASSAY_HTTPS=1`"
        ),
        Setting(
            "TRUSTED_PROXIES",
            "",
            "space-separated addresses or networks of proxies (`127.0.0.1 10.0.0.0/8`) whose "
            "`X-Forwarded-For` entries are trusted. Without it, all visitors behind a proxy share "
            "the limit of 100 failed sign-ins in five minutes",
        ),
        Setting("INSTITUTION", "your institution", "name on the button for single sign-on"),
        Setting(
            "USER_HEADER",
            "",
            "request header with the username, set by a trusted proxy; read at "
            "`/sign-in/institution` only",
        ),
        Setting("GROUPS_HEADER", "", "request header with the groups, set by a trusted proxy"),
        Setting("OIDC_ISSUER", "", "OpenID Connect: issuer"),
        Setting("OIDC_CLIENT", "", "OpenID Connect: client ID"),
        Setting("OIDC_SECRET", "", "OpenID Connect: client secret"),
        Setting("OIDC_AUTHORIZE", "", "OpenID Connect: authorization endpoint"),
        Setting("OIDC_TOKENS", "", "OpenID Connect: token endpoint"),
        Setting("OIDC_USERINFO", "", "OpenID Connect: user information endpoint"),
        Setting("OIDC_KEYS", "", "OpenID Connect: address of the public keys (JWKS)"),
        Setting("OIDC_SCOPES", "openid profile email", "OpenID Connect: requested scopes"),
        Setting("OIDC_NAME_CLAIM", "preferred_username", "OpenID Connect: claim with the username"),
        Setting("OIDC_GROUPS_CLAIM", "groups", "OpenID Connect: claim with the groups"),
        Setting(
            "CREATOR_GROUPS",
            "",
            "groups of the institution, separated by spaces or commas, whose members can create "
            "campaigns",
        ),
        Setting(
            "ADMIN_GROUPS",
            "",
            "groups of the institution, separated by spaces or commas, whose members are "
            "administrators",
        ),
        Setting("SESSION_DAYS", "14", "days until a sign-in expires"),
    ),
    "processes": (
        Setting("HOST", "127.0.0.1", "address on which `assay up` listens"),
        Setting("PORT", "8000", "port on which `assay up` listens"),
        Setting("WEB_WORKERS", "2", "number of processes of the web server"),
        Setting("WEB_THREADS", "8", "number of threads per process of the web server"),
        Setting(
            "JUDGEMENT_WAIT_SECONDS",
            "4",
            "maximum time in seconds that a judgement waits behind the proxy before it is refused. "
            "The limit is half of this time for other API requests, and three eighths for pages. See "
            "[Overload](../how-to/operate.md#overload)",
        ),
        Setting("WORKER_PROCESSES", "2", "number of concurrent jobs of the worker"),
        Setting(
            "WORKER_NICE",
            "10",
            "CPU priority of the worker, from 0 (same as the web server) to 19 (lowest)",
        ),
        Setting(
            "JOB_IDLE_SECONDS",
            "7200",
            "number of seconds without progress after which a job is stopped; `0` for no limit",
        ),
        Setting(
            "LLM_ENDPOINTS",
            "",
            "space-separated endpoints for LLM judges (chat completions), such as "
            "`http://127.0.0.1:11434/v1`, or with the variable that holds the key, "
            "`https://host/v1=ASSAY_LLM_KEY`. Managers cannot use any other address. Keys are read "
            "on the worker's machine",
            "none: managers can only upload files of LLM labels",
        ),
        Setting(
            "ENGINE_ENDPOINTS",
            "",
            "space-separated addresses of search engines to which managers can send labels, such as "
            "`https://search.example.org/_plugins/_search_relevance/judgments`, or with the variable "
            "that holds the header `Authorization`, `https://host/path=ASSAY_ENGINE_AUTHORIZATION`. "
            "The variable is read on the worker's machine",
            "none: managers can only download files for search engines",
        ),
        Setting(
            "WEBHOOK_NETWORKS",
            "",
            "space-separated addresses or networks (`127.0.0.1 10.0.0.0/8`) that webhooks may also "
            "call, with or without HTTPS",
            "none: webhooks call public addresses with HTTPS only",
        ),
        Setting("NO_DEMO", "0", "`1` to create no demo campaigns in an empty database"),
        Setting(
            "NO_EXAMPLE",
            "0",
            "`1` to create the demo without the finished campaign of simulated annotators",
        ),
        Setting("TIME_ZONE", "UTC", "time zone of people who have not chosen a time zone"),
    ),
    "limits": (
        Setting("MAX_UPLOAD_MB", "4096", "maximum size of an upload in megabytes"),
        Setting(
            "MAX_WAITING_MB",
            "20480",
            "maximum total size in megabytes of one person's uploads that wait or are being read; "
            "`0` for no limit",
        ),
        Setting(
            "JOBS_PER_PERSON",
            "500",
            "maximum number of one person's jobs that wait or run; `0` for no limit",
        ),
        Setting("MAX_UNPACKED_MB", "65536", "maximum size of a file after unpacking in megabytes"),
    ),
    "monitoring": (
        Setting(
            "EMAIL_HOST",
            "",
            "mail server for sign-in links, reminders and to-do lists, which the worker sends",
            "none: emails are printed to the console",
        ),
        Setting("EMAIL_PORT", "25", "port of the mail server"),
        Setting("EMAIL_USER", "", "username at the mail server"),
        Setting("EMAIL_PASSWORD", "", "password at the mail server"),
        Setting("EMAIL_TLS", "0", "`1` to use STARTTLS"),
        Setting("EMAIL_FROM", "assay@localhost", "sender of emails"),
        Setting("LOG_LEVEL", "WARNING", "lowest level that is logged; `INFO` or `DEBUG` for more"),
        Setting("LOG_FORMAT", "line", "format of the log; `json` for one JSON object per line"),
        Setting(
            "ACCESS_LOG",
            "0",
            "`1` to log one line per request: method, path, status, milliseconds and request "
            "number, but never a query, a body or the secret of a link",
        ),
        Setting(
            "METRICS_TOKEN",
            "",
            "token for `/metrics`, sent as `Authorization: Bearer …`",
            "none: `/metrics` does not exist",
        ),
        Setting("DEBUG", "0", "`1` to show settings and code after an error, for developers only"),
    ),
}

DEFAULTS = {one.name: one.default for settings in SECTIONS.values() for one in settings}
