"""Headers of every page: program text that ends up in one must stay text, whatever else goes wrong."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

# The admin's own styles and scripts come from our address; nothing of ours needs an inline script.
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
POLICY += "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"


class SecurityHeadersMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        if request.path.startswith("/v1/"):
            response.headers.setdefault("Cache-Control", "no-store")
        return response
