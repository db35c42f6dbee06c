"""Django's own administration on a free port of the loopback address, which it prints: `serve.py FOLDER`.

Everything that answers is Django's; here stand only the settings, and who may log in. The database is a file
in FOLDER. By Debian's own interpreter, as Django is a Debian package (scripts/install-test-tools.sh).
"""

import sys
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import django
from django.conf import settings

APPS = ("admin", "auth", "contenttypes", "messages", "sessions")
MIDDLEWARE = (
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
)
CONTEXT = ("django.template.context_processors.request", "django.contrib.auth.context_processors.auth")
EDITORS = ("ann", "bob", "eve")

settings.configure(
    SECRET_KEY="for tests",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF=__name__,
    INSTALLED_APPS=[f"django.contrib.{app}" for app in APPS],
    MIDDLEWARE=MIDDLEWARE,
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {
                "context_processors": [*CONTEXT, "django.contrib.messages.context_processors.messages"]
            },
        }
    ],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": Path(sys.argv[1]) / "admin.sqlite3",
        }
    },
    # Quick to check, as logging in is not what is tested.
    PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    DEFAULT_AUTO_FIELD="django.db.models.AutoField",
    STATIC_URL="/static/",
    LOGGING_CONFIG=None,
)
django.setup()

from django.contrib import admin  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.urls import path  # noqa: E402

urlpatterns = [path("admin/", admin.site.urls)]


def one_at_a_time(application: Callable[..., Iterable[bytes]]) -> Callable[..., Iterable[bytes]]:
    """Two transactions that both read and then write: SQLite would refuse one of them."""
    lock = threading.Lock()

    def response(*request: Any) -> Iterable[bytes]:
        with lock:
            return application(*request)

    return response


def main() -> None:
    call_command("migrate", verbosity=0)
    for name in EDITORS:
        get_user_model().objects.create_superuser(name, password=f"{name}'s & secret")
    server = ThreadedWSGIServer(("127.0.0.1", 0), WSGIRequestHandler)
    server.set_app(one_at_a_time(get_wsgi_application()))
    print(server.server_port, flush=True)
    server.serve_forever()


main()
