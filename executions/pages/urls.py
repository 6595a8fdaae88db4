from django.urls import path

from executions.pages import overview, runs, usage

urlpatterns = [
    path("", overview.overview, name="dashboard"),
    path("/runs", runs.history, name="runs"),
    path("/runs/<uuid:execution_id>", runs.detail, name="run"),
    path("/usage", usage.usage, name="usage-page"),
]
