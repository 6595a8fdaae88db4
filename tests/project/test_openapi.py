"""The OpenAPI document says what the code does: answers are held against it, and it against the contract."""

import json
from typing import Any

import jsonschema
import pytest
from django.test import Client
from django.urls import URLResolver, get_resolver

from codeforge.errors import codes
from codeforge.openapi import document
from executions.models import Status
from sandbox.catalogue import catalogue
from sandbox.errors import SandboxLost
from sandbox.fake import FakeEvaluator
from sandbox.job import Job
from sandbox.result import Result
from tests.cast import PROGRAM, Caller, Workbench, read

pytestmark = pytest.mark.django_db(transaction=True)

EXECUTION = {
    "executionId",
    "status",
    "phase",
    "passed",
    "language",
    "runtime",
    "stdout",
    "stderr",
    "stdoutBytes",
    "stderrBytes",
    "stdoutTruncated",
    "stderrTruncated",
    "outputLossy",
    "exitCode",
    "signal",
    "limitExceeded",
    "compile",
    "usage",
    "limits",
    "isolation",
    "attempts",
    "tests",
    "testsPassed",
    "testsTotal",
    "error",
    "metadata",
    "createdAt",
    "startedAt",
    "finishedAt",
}

REQUEST = {
    "language",
    "version",
    "source",
    "files",
    "stdin",
    "stdinEncoding",
    "args",
    "options",
    "limits",
    "expectedStdout",
    "checker",
    "tests",
    "stopOnFirstFailure",
    "isolation",
    "metadata",
}

OPERATIONS = {
    "GET /v1/executions",
    "POST /v1/executions",
    "GET /v1/executions/{execution_id}",
    "DELETE /v1/executions/{execution_id}",
    "GET /v1/executions/{execution_id}/source",
    "POST /v1/executions/{execution_id}/cancel",
    "POST /v1/batches",
    "GET /v1/batches/{batch_id}",
    "GET /v1/batches/{batch_id}/executions",
    "GET /v1/batches/{batch_id}/results",
    "POST /v1/batches/{batch_id}/cancel",
    "GET /v1/evaluations",
    "POST /v1/evaluations",
    "GET /v1/evaluations/{evaluation_id}",
    "GET /v1/evaluations/{evaluation_id}/results",
    "GET /v1/evaluations/{evaluation_id}/manifest",
    "POST /v1/evaluations/{evaluation_id}/cancel",
    "POST /v1/evaluations/{evaluation_id}/retry",
    "GET /v1/runtimes",
    "GET /v1/usage",
    "GET /v1/webhook-endpoints",
    "POST /v1/webhook-endpoints",
    "GET /v1/webhook-endpoints/{endpoint_id}",
    "DELETE /v1/webhook-endpoints/{endpoint_id}",
    "POST /v1/webhook-endpoints/{endpoint_id}/rotate",
    "POST /v1/webhook-endpoints/{endpoint_id}/test",
    "GET /v1/webhook-endpoints/{endpoint_id}/deliveries",
    "POST /v1/webhook-endpoints/{endpoint_id}/deliveries/{delivery_id}/redeliver",
}


def plain(schema: Any) -> Any:
    """OpenAPI 3.0's `nullable` in the words of JSON Schema."""
    if isinstance(schema, list):
        return [plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {key: plain(value) for key, value in schema.items() if key != "nullable"}
    if "properties" in inner:
        inner["additionalProperties"] = inner.get("additionalProperties", False)
    return {"anyOf": [inner, {"type": "null"}]} if schema.get("nullable") is True else inner


def check(shown: Any, method: str, path: str, status: int) -> None:
    """``shown`` is what the document says that this answer is, with no field more or less."""
    described = document()["paths"][path][method]["responses"][str(status)]["content"]
    (content,) = described.values()
    whole = {"components": plain(document()["components"]), **plain(content["schema"])}
    jsonschema.Draft202012Validator(whole, format_checker=jsonschema.FormatChecker()).validate(shown)


def lose(fake: FakeEvaluator, job: Job) -> Result:
    raise SandboxLost("gone")


@pytest.mark.parametrize("language", catalogue())
def test_answers_are_as_described(owner: Caller, workbench: Workbench, language: str) -> None:
    queued = owner.submit(language=language, metadata={"a": "b"})
    check(queued, "post", "/v1/executions", 202)
    workbench.run_all()
    check(owner.look(queued["executionId"]), "get", "/v1/executions/{execution_id}", 200)
    check(read(owner.get("/v1/executions")), "get", "/v1/executions", 200)
    check(read(owner.get("/v1/usage")), "get", "/v1/usage", 200)
    check(read(owner.get("/v1/runtimes")), "get", "/v1/runtimes", 200)
    source = read(owner.get(f"/v1/executions/{queued['executionId']}/source"))
    check(source, "get", "/v1/executions/{execution_id}/source", 200)
    cancelled = owner.submit()
    response = owner.post(f"/v1/executions/{cancelled['executionId']}/cancel")
    check(read(response), "post", "/v1/executions/{execution_id}/cancel", 200)


def test_our_own_failure_is_as_described(owner: Caller) -> None:
    shown = owner.submit()
    Workbench(lose).run_all()
    check(owner.look(shown["executionId"]), "get", "/v1/executions/{execution_id}", 200)


def test_refusals_are_as_described(owner: Caller) -> None:
    check(read(owner.post("/v1/executions", {"language": 1})), "post", "/v1/executions", 400)


def test_the_checker_of_this_file_sees_a_field_too_many(owner: Caller) -> None:
    shown = owner.submit() | {"extra": 1}
    with pytest.raises(jsonschema.ValidationError):
        check(shown, "post", "/v1/executions", 202)


def test_the_fields_are_those_of_the_contract(owner: Caller) -> None:
    schemas = document()["components"]["schemas"]
    assert set(schemas["Execution"]["properties"]) == EXECUTION == set(owner.submit())
    assert set(schemas["ExecutionRequest"]["properties"]) == REQUEST
    assert schemas["ExecutionRequest"]["required"] == ["language", "source"]
    assert set(schemas["Status"]["enum"]) == set(Status.values)
    assert set(schemas["Language"]["enum"]) == set(catalogue())


def test_the_operations_are_those_of_the_contract() -> None:
    described = {
        f"{method.upper()} {path}" for path, operations in document()["paths"].items() for method in operations
    }
    assert described == OPERATIONS


def test_every_address_under_v1_is_described() -> None:
    (v1,) = [pattern for pattern in get_resolver().url_patterns if str(pattern.pattern) == "v1/"]
    assert isinstance(v1, URLResolver)
    addresses = {"/v1/" + str(pattern.pattern).replace("<uuid:", "{").replace(">", "}") for pattern in v1.url_patterns}
    assert addresses == set(document()["paths"])


def test_every_operation_says_how_it_refuses_and_needs_a_key_unless_public() -> None:
    for path, operations in document()["paths"].items():
        for operation in operations.values():
            assert "400" in operation["responses"]
            assert "503" in operation["responses"]
            public = path == "/v1/runtimes"
            assert ("401" in operation["responses"]) is not public
            assert operation.get("security", []) == ([] if public else [{"apiKey": []}])
            assert operation["summary"]
            assert operation["description"]
    assert set(document()["components"]["schemas"]["Problem"]["properties"]["code"]["enum"]) == set(codes())


def test_it_is_served_to_everybody() -> None:
    response = Client().get("/v1/openapi.json")
    assert response.status_code == 200
    assert json.loads(response.content) == document()
    assert document()["openapi"].startswith("3.")


def test_the_readable_page_shows_all_of_it_without_a_script() -> None:
    page = Client().get("/docs/api").content.decode()
    for path in document()["paths"]:
        assert path in page
    for name in document()["components"]["schemas"]:
        assert f'id="{name}"' in page
    assert "<script" not in page
    assert "style=" not in page
    assert PROGRAM["language"] in page
