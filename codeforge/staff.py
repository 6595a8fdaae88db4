"""The admin's entrance and its first page: what needs somebody, and how the service is."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.admin import AdminSite
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse


class StaffSite(AdminSite):
    site_header = "CodeForge"
    site_title = "CodeForge staff"
    index_title = "What goes on"
    index_template = "admin/dashboard.html"
    # Signing in is the same for everybody, with its second factor and its rates.
    login_template = None

    def has_permission(self, request: HttpRequest) -> bool:
        return super().has_permission(request) and not self._lacks_second_factor(request)

    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect_to_login(request.GET.get("next", "/admin/"))
        if super().has_permission(request) and self._lacks_second_factor(request):
            messages.warning(request, "The admin opens for staff with a second factor: switch one on first.")
            return redirect("mfa_index")
        if self.has_permission(request):
            return redirect("admin:index")
        raise PermissionDenied

    def index(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> TemplateResponse:
        from codeforge.dashboard import what_goes_on  # noqa: PLC0415  models exist only now

        return super().index(request, {**(extra_context or {}), **what_goes_on()})

    def _lacks_second_factor(self, request: HttpRequest) -> bool:
        from accounts.models import User  # noqa: PLC0415
        from accounts.sign_in import has_second_factor  # noqa: PLC0415

        return (
            settings.CODEFORGE_STAFF_SECOND_FACTOR
            and isinstance(request.user, User)
            and not has_second_factor(request.user)
        )
