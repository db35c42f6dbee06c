"""Read by gunicorn from the folder in which it is started."""

import os
import secrets

os.environ["SECRET"] = secrets.token_hex()  # of the shop's sessions, which any worker may be asked about

bind = f"{os.environ['HOST']}:{os.environ['PORT']}"
workers = int(os.environ["WORKERS"])
worker_class = "sync"
wsgi_app = "server:app"
backlog = 4096
timeout = 0  # the default ends a worker whose request takes longer than 30 s
graceful_timeout = 0  # SIGTERM waits for nobody
control_socket_disable = True  # it would lie in the home folder, which is read-only here
loglevel = "warning"
