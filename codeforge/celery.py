"""The Celery application. Messages only wake workers up; what is to be done stands in the database."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "codeforge.settings")

app = Celery("codeforge")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
