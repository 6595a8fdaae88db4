# The application: web, worker and beat. On the same base as the sandboxes, so that one image is all one has to trust.
FROM debian:trixie-slim AS build
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
COPY requirements.txt /build/
RUN python3 -m venv /venv && /venv/bin/pip install --no-cache-dir -r /build/requirements.txt

FROM debian:trixie-slim
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates python3 tini tzdata \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --system --uid 10001 --no-create-home codeforge
COPY --from=build /venv /venv
COPY . /app
WORKDIR /app
ENV PATH=/venv/bin:$PATH PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1 CODEFORGE_BIND=0.0.0.0:8000
# Now, because its root is read-only when it runs.
RUN python -m compileall -q .
# Web and beat need no more. The worker is started as root: the Docker socket that it has is no less.
USER codeforge
EXPOSE 8000
ENTRYPOINT ["tini", "--"]
CMD ["gunicorn", "--config", "python:codeforge.gunicorn", "codeforge.wsgi"]
