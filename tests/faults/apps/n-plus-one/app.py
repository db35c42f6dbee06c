"""A list of N orders makes N + 1 queries, each a round trip of 2 ms to the database."""

import os
import time

import django
from django.conf import settings

settings.configure(
    SECRET_KEY="for tests",
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    MIDDLEWARE=["django.middleware.common.CommonMiddleware"],  # lengths of bodies, for keep-alive
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}},
    LOGGING_CONFIG=None,
)
django.setup()

from django.core.servers.basehttp import ThreadedWSGIServer, WSGIRequestHandler  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import connection, connections  # noqa: E402
from django.http import HttpResponse, JsonResponse  # noqa: E402
from django.urls import path  # noqa: E402

count = {"queries": 0}


def over_the_network(execute, sql, parameters, many, context):
    count["queries"] += 1
    time.sleep(0.002)
    return execute(sql, parameters, many, context)


def query(sql, *parameters):
    with connection.execute_wrapper(over_the_network), connection.cursor() as cursor:
        return cursor.execute(sql, parameters).fetchall()


def orders(request):
    numbers = "WITH RECURSIVE n(id) AS (SELECT 1 UNION SELECT id + 1 FROM n WHERE id < %s) SELECT id FROM n"
    found = query(numbers, int(request.GET.get("limit", 1)))
    names = [query("SELECT 'customer ' || %s", order)[0][0] for (order,) in found]
    connections.close_all()
    return JsonResponse({"orders": names})


urlpatterns = [
    path("hello", lambda _: HttpResponse("hello\n")),
    path("orders", orders),
    path("stats", lambda _: JsonResponse(count)),
]

ThreadedWSGIServer.request_queue_size = 128
WSGIRequestHandler.disable_nagle_algorithm = True  # it writes a head in two parts
server = ThreadedWSGIServer((os.environ["HOST"], int(os.environ["PORT"])), WSGIRequestHandler)
server.set_app(get_wsgi_application())
server.serve_forever()
