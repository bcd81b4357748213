"""Assay's settings for tests, with a data folder for this process, fast password hashes and plain
static files."""

import atexit
import os
import shutil
import tempfile

_folder = tempfile.mkdtemp(prefix="assay-tests-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
os.environ["ASSAY_DATA_DIR"] = _folder
os.environ.setdefault("ASSAY_SECRET_KEY", "only for tests")
os.environ.pop("ASSAY_DATABASE_URL", None)
os.environ.pop("ASSAY_BROKER_URL", None)

from config.settings import *  # noqa: E402, F403
from config.settings import DATABASES, STATIC_ROOT, STORAGES  # noqa: E402

# A file, not memory: threads of a test have connections of their own, as in real life.
DATABASES["default"]["TEST"] = {"NAME": os.path.join(_folder, "test.sqlite3")}
DATABASES["default"]["OPTIONS"]["init_command"] = "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF;"
STORAGES["staticfiles"]["BACKEND"] = "django.contrib.staticfiles.storage.StaticFilesStorage"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
STATIC_ROOT.mkdir(exist_ok=True)
