from django.urls import path

from executions.webhooks import api

urlpatterns = [
    path("webhook-endpoints", api.EndpointList.as_view(), name="webhook-endpoints"),
    path("webhook-endpoints/<uuid:endpoint_id>", api.EndpointDetail.as_view(), name="webhook-endpoint"),
    path("webhook-endpoints/<uuid:endpoint_id>/rotate", api.EndpointRotate.as_view(), name="webhook-rotate"),
    path("webhook-endpoints/<uuid:endpoint_id>/test", api.EndpointTest.as_view(), name="webhook-test"),
    path("webhook-endpoints/<uuid:endpoint_id>/deliveries", api.DeliveryList.as_view(), name="webhook-deliveries"),
    path(
        "webhook-endpoints/<uuid:endpoint_id>/deliveries/<uuid:delivery_id>/redeliver",
        api.DeliveryRedeliver.as_view(),
        name="webhook-redeliver",
    ),
]
