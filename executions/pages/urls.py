from django.urls import path

from executions.pages import batches, evaluations, export, overview, playground, runs, usage, webhooks

urlpatterns = [
    path("", overview.overview, name="dashboard"),
    path("/runs", runs.history, name="runs"),
    path("/runs/<uuid:execution_id>", runs.detail, name="run"),
    path("/runs/export/<slug:kind>", export.history, name="export-runs"),
    path("/runs/<uuid:execution_id>/again", runs.run_again, name="run-again"),
    path("/runs/<uuid:execution_id>/download/<slug:what>", export.download, name="download"),
    path("/playground", playground.playground, name="playground"),
    path("/playground/run", playground.run, name="run-in-playground"),
    path("/batches", batches.batch_list, name="batch-pages"),
    path("/batches/<uuid:batch_id>", batches.detail, name="batch-page"),
    path("/evaluations", evaluations.evaluation_list, name="evaluation-pages"),
    path("/evaluations/<uuid:evaluation_id>", evaluations.detail, name="evaluation-page"),
    path("/evaluations/<uuid:evaluation_id>/compare", evaluations.compare, name="compare-page"),
    path("/evaluations/<uuid:evaluation_id>/problems/<int:number>", evaluations.problem, name="problem-page"),
    path("/webhooks", webhooks.endpoint_list, name="webhook-pages"),
    path("/webhooks/new", webhooks.make, name="make-webhook"),
    path("/webhooks/<uuid:endpoint_id>", webhooks.detail, name="webhook-page"),
    path("/webhooks/<uuid:endpoint_id>/test", webhooks.test, name="test-webhook"),
    path("/webhooks/<uuid:endpoint_id>/rotate", webhooks.rotate, name="rotate-webhook"),
    path("/webhooks/<uuid:endpoint_id>/remove", webhooks.remove, name="remove-webhook"),
    path("/webhooks/<uuid:endpoint_id>/deliveries/<uuid:delivery_id>", webhooks.delivered, name="delivery-page"),
    path(
        "/webhooks/<uuid:endpoint_id>/deliveries/<uuid:delivery_id>/redeliver",
        webhooks.redeliver,
        name="redeliver-webhook",
    ),
    path("/usage", usage.usage, name="usage-page"),
]
