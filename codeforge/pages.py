"""Pages for people: what this is, the reference, what each code means. Rendered here, without a script."""

import hmac
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.utils import Error as DatabaseError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.views.decorators.http import require_safe

from codeforge.errors import codes
from codeforge.openapi import document
from executions.metrics import exposition


@require_safe
def landing(request: HttpRequest) -> HttpResponse:
    return render(request, "site/landing.html", {"base_url": settings.CODEFORGE_BASE_URL})


@require_safe
def health(request: HttpRequest) -> HttpResponse:
    """For load balancers: 200 when this process reaches the database, else 503."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"status": "unavailable"}, status=503)
    return JsonResponse({"status": "ok"})


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """For Prometheus, with the token that the settings name. Without one there is nothing here."""
    token = settings.CODEFORGE_METRICS_TOKEN
    given = request.headers.get("Authorization", "")
    if not token or not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
        raise Http404
    return HttpResponse(exposition(), content_type="text/plain; version=0.0.4; charset=utf-8")


def favicon(request: HttpRequest) -> HttpResponse:
    """What browsers ask for on pages that name no icon, such as the admin's."""
    return HttpResponseRedirect(static("codeforge.svg"))


def to_admin(request: HttpRequest) -> HttpResponse:
    return HttpResponseRedirect("/admin/")


@require_safe
def error_list(request: HttpRequest) -> HttpResponse:
    return render(request, "docs/errors.html", {"errors": codes().values()})


@require_safe
def error_page(request: HttpRequest, code: str) -> HttpResponse:
    error = codes().get(code)
    if error is None:
        raise Http404
    return render(request, "docs/error.html", {"error": error})


@require_safe
def reference(request: HttpRequest) -> HttpResponse:
    """The OpenAPI document, readable."""
    context = {
        "document": document(),
        "operations": _operations(document()),
        "schemas": [_Schema(name, schema) for name, schema in sorted(document()["components"]["schemas"].items())],
        "errors": codes().values(),
        "base_url": settings.CODEFORGE_BASE_URL,
    }
    return render(request, "docs/reference.html", context)


@dataclass(frozen=True, slots=True)
class _Operation:
    method: str
    path: str
    content: dict[str, Any]

    @property
    def request_schema(self) -> str | None:
        body = self.content.get("requestBody", {}).get("content", {}).get("application/json", {})
        return _name_of(body.get("schema", {}))

    @property
    def responses(self) -> list[tuple[str, str, str | None]]:
        return [
            (status, response.get("description", ""), _name_of(next(iter(response["content"].values()))["schema"]))
            if response.get("content")
            else (status, response.get("description", ""), None)
            for status, response in sorted(self.content["responses"].items())
        ]

    @property
    def parameters(self) -> list[tuple[str, str, str, bool, str]]:
        return [
            (
                parameter["name"],
                parameter["in"],
                _type_of(parameter.get("schema", {})),
                parameter.get("required", False),
                parameter.get("description", ""),
            )
            for parameter in self.content.get("parameters", ())
        ]


@dataclass(frozen=True, slots=True)
class _Schema:
    name: str
    content: dict[str, Any]

    @property
    def properties(self) -> list[tuple[str, str, str | None, bool, str]]:
        """(name, type, name of the schema to look up, whether it is always there, description)."""
        required = self.content.get("required", ())
        return [
            (name, _type_of(inner), _name_of(inner), name in required, inner.get("description", ""))
            for name, inner in self.content.get("properties", {}).items()
        ]

    @property
    def values(self) -> list[str]:
        return [str(value) for value in self.content.get("enum", ())]


def _operations(made: dict[str, Any]) -> list[_Operation]:
    return [
        _Operation(method.upper(), path, content)
        for path, operations in made["paths"].items()
        for method, content in operations.items()
    ]


def _reference_in(schema: dict[str, Any]) -> str | None:
    for inner in (schema, *schema.get("allOf", ()), *schema.get("oneOf", ()), schema.get("items", {})):
        if "$ref" in inner:
            return str(inner["$ref"])
    inner = schema.get("additionalProperties")
    return inner.get("$ref") if isinstance(inner, dict) else None


def _name_of(schema: dict[str, Any]) -> str | None:
    found = _reference_in(schema)
    return found.rpartition("/")[2] if found else None


def _type_of(schema: dict[str, Any]) -> str:
    kind = _name_of(schema) or schema.get("format") or schema.get("type", "any")
    if schema.get("type") == "array":
        kind = f"list of {_name_of(schema) or schema['items'].get('type', 'any')}"
    elif isinstance(schema.get("additionalProperties"), dict):
        kind = f"object of {_name_of(schema) or schema['additionalProperties'].get('type', 'any')}"
    if "enum" in schema:
        kind = " | ".join(str(value) for value in schema["enum"] if value is not None)
    return f"{kind} or null" if schema.get("nullable") else kind
