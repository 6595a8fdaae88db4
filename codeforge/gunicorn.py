"""gunicorn's settings: ``gunicorn --config python:codeforge.gunicorn codeforge.wsgi``.

A request with `?wait=` holds a thread, but no database connection and no CPU, so there are many threads. The bound on
waiters (`CODEFORGE_MAX_WAITERS`) is below their number: requests that do not wait always find a thread.
"""

from codeforge.env import envint, envstr

bind = envstr("CODEFORGE_BIND", "127.0.0.1:8000")
worker_class = "gthread"
workers = envint("CODEFORGE_WEB_PROCESSES", default=2, least=1)
threads = envint("CODEFORGE_WEB_THREADS", default=64, least=2)
# Longer than the longest `?wait=`.
timeout = 90
graceful_timeout = 70
keepalive = 5
# A header line holds at most an Idempotency-Key of 255 characters and an API key.
limit_request_line = 8190
limit_request_field_size = 8190
# The application writes a line for each request, with its id.
accesslog = None
errorlog = "-"
control_socket_disable = True
# Whether a proxy's word on the scheme is taken is for the settings to say (CODEFORGE_TRUSTED_PROXY), not for gunicorn.
forwarded_allow_ips = ""
