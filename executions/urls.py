from django.urls import path

from executions import api

urlpatterns = [
    path("executions", api.ExecutionList.as_view(), name="executions"),
    path("executions/<uuid:execution_id>", api.ExecutionDetail.as_view(), name="execution"),
    path("executions/<uuid:execution_id>/source", api.ExecutionSource.as_view(), name="execution-source"),
    path("executions/<uuid:execution_id>/cancel", api.ExecutionCancel.as_view(), name="execution-cancel"),
    path("runtimes", api.RuntimeList.as_view(), name="runtimes"),
    path("usage", api.Usage.as_view(), name="usage"),
]
