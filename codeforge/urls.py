"""Every address of the site."""

from django.contrib import admin
from django.urls import include, path, re_path

from codeforge import guides, openapi, pages, problems

urlpatterns = [
    path("", pages.landing, name="landing"),
    path("favicon.ico", pages.favicon),
    path("healthz", pages.health, name="health"),
    path("metrics", pages.metrics, name="metrics"),
    path("docs", guides.index, name="docs"),
    path("docs/guides/<slug:slug>", guides.guide, name="guide"),
    path("pricing", guides.pricing, name="pricing"),
    path("status", guides.status, name="status"),
    path("docs/api", pages.reference, name="reference"),
    path("docs/errors", pages.error_list, name="error-list"),
    path("docs/errors/<slug:code>", pages.error_page, name="error-page"),
    path("v1/openapi.json", openapi.document_view, name="openapi"),
    path("v1/", include("executions.urls")),
    path("", include("accounts.pages.urls")),
    path("dashboard", include("executions.pages.urls")),
    re_path(r"^admin$", pages.to_admin),
    path("admin/", admin.site.urls),
]

handler400 = problems.bad_request
handler403 = problems.permission_denied
handler404 = problems.not_found
handler500 = problems.server_error
