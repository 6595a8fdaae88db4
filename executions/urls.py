from django.urls import path

from executions import api
from executions.batches import api as batches
from executions.evaluations import api as evaluations
from executions.webhooks.urls import urlpatterns as webhooks

urlpatterns = [
    path("executions", api.ExecutionList.as_view(), name="executions"),
    path("executions/<uuid:execution_id>", api.ExecutionDetail.as_view(), name="execution"),
    path("executions/<uuid:execution_id>/source", api.ExecutionSource.as_view(), name="execution-source"),
    path("executions/<uuid:execution_id>/cancel", api.ExecutionCancel.as_view(), name="execution-cancel"),
    path("batches", batches.BatchList.as_view(), name="batches"),
    path("batches/<uuid:batch_id>", batches.BatchDetail.as_view(), name="batch"),
    path("batches/<uuid:batch_id>/executions", batches.BatchExecutions.as_view(), name="batch-executions"),
    path("batches/<uuid:batch_id>/results", batches.BatchResults.as_view(), name="batch-results"),
    path("batches/<uuid:batch_id>/cancel", batches.BatchCancel.as_view(), name="batch-cancel"),
    path("evaluations", evaluations.EvaluationList.as_view(), name="evaluations"),
    path("evaluations/<uuid:evaluation_id>", evaluations.EvaluationDetail.as_view(), name="evaluation"),
    path(
        "evaluations/<uuid:evaluation_id>/results", evaluations.EvaluationResults.as_view(), name="evaluation-results"
    ),
    path(
        "evaluations/<uuid:evaluation_id>/manifest",
        evaluations.EvaluationManifest.as_view(),
        name="evaluation-manifest",
    ),
    path("evaluations/<uuid:evaluation_id>/cancel", evaluations.EvaluationCancel.as_view(), name="evaluation-cancel"),
    path("evaluations/<uuid:evaluation_id>/retry", evaluations.EvaluationRetry.as_view(), name="evaluation-retry"),
    path("runtimes", api.RuntimeList.as_view(), name="runtimes"),
    path("usage", api.Usage.as_view(), name="usage"),
    *webhooks,
]
