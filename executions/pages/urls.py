from django.urls import path

from executions.pages import batches, evaluations, overview, runs, usage

urlpatterns = [
    path("", overview.overview, name="dashboard"),
    path("/runs", runs.history, name="runs"),
    path("/runs/<uuid:execution_id>", runs.detail, name="run"),
    path("/batches", batches.batch_list, name="batch-pages"),
    path("/batches/<uuid:batch_id>", batches.detail, name="batch-page"),
    path("/evaluations", evaluations.evaluation_list, name="evaluation-pages"),
    path("/evaluations/<uuid:evaluation_id>", evaluations.detail, name="evaluation-page"),
    path("/evaluations/<uuid:evaluation_id>/compare", evaluations.compare, name="compare-page"),
    path("/evaluations/<uuid:evaluation_id>/problems/<int:number>", evaluations.problem, name="problem-page"),
    path("/usage", usage.usage, name="usage-page"),
]
