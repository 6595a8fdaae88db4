"""What gunicorn serves: ``gunicorn --config python:codeforge.gunicorn codeforge.wsgi``."""

import os

from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "codeforge.settings")

application = get_wsgi_application()
