"""The shapes of answers, for the OpenAPI document. `executions.representation` makes them."""

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, OpenApiResponse
from rest_framework import serializers

from executions.models import Status
from executions.paging import MAX_PAGE
from executions.parameters import ENCODINGS, MAX_WAIT_S
from executions.serializers import CHECKERS, ISOLATIONS, ExecutionRequestSerializer
from sandbox.catalogue import catalogue
from sandbox.verdict import Limit, Phase, Verdict

Shape = serializers.Serializer[Any]

# Lists that stand in several places of the document, there under one name: see `ENUM_NAME_OVERRIDES` in the settings.
LANGUAGES = [(language, language) for language in catalogue()]
STATUSES = [(status, status) for status in Status.values]
PHASES = [(phase.value, phase.value) for phase in Phase]
LIMITS = [(limit.value, limit.value) for limit in Limit]
CHECKER_CHOICES = [(checker, checker) for checker in CHECKERS]
ISOLATION_CHOICES = [(isolation, isolation) for isolation in ISOLATIONS]
VERDICTS = [(verdict.value, verdict.value) for verdict in Verdict]
ENCODING_CHOICES = [(encoding, encoding) for encoding in ENCODINGS]


class RuntimeStampSerializer(Shape):
    """What the program ran on."""

    version = serializers.CharField()
    image = serializers.CharField(help_text="The digest of the image.")
    sandbox = serializers.CharField()
    sandboxVersion = serializers.CharField()


class CompileBriefSerializer(Shape):
    exitCode = serializers.IntegerField(allow_null=True, help_text="Null when a limit or a signal ended the compiler.")
    timeMs = serializers.IntegerField(allow_null=True)
    cached = serializers.BooleanField()


class CompileSerializer(CompileBriefSerializer):
    """What the compiler said; of compiled languages, also when it succeeded."""

    stdout = serializers.CharField(help_text="The first 256 KiB.")
    stderr = serializers.CharField(help_text="The first 256 KiB.")


class UsageSerializer(Shape):
    """The start of the sandbox counts in `startMs` only."""

    wallTimeMs = serializers.IntegerField(allow_null=True)
    cpuTimeMs = serializers.IntegerField(allow_null=True)
    memoryPeakKb = serializers.IntegerField(allow_null=True)
    queueMs = serializers.IntegerField(allow_null=True)
    startMs = serializers.IntegerField(allow_null=True)
    compileTimeMs = serializers.IntegerField(allow_null=True)


class LimitsSerializer(Shape):
    """All limits, as applied."""

    wallTimeMs = serializers.IntegerField()
    cpuTimeMs = serializers.IntegerField()
    compileTimeMs = serializers.IntegerField()
    memoryMb = serializers.IntegerField()
    processes = serializers.IntegerField()
    outputBytes = serializers.IntegerField()
    diskMb = serializers.IntegerField()


class InternalErrorSerializer(Shape):
    """Our fault: a code, and an id to quote."""

    code = serializers.CharField()
    id = serializers.UUIDField()


class TestUsageSerializer(Shape):
    wallTimeMs = serializers.IntegerField(allow_null=True)
    cpuTimeMs = serializers.IntegerField(allow_null=True)
    memoryPeakKb = serializers.IntegerField(allow_null=True)


class TestResultSerializer(Shape):
    """What came of one test."""

    id = serializers.CharField()
    status = serializers.ChoiceField(choices=VERDICTS)
    passed = serializers.BooleanField(help_text="It succeeded and, where `expectedStdout` was given, printed that.")
    stdout = serializers.CharField()
    stderr = serializers.CharField()
    stdoutBytes = serializers.IntegerField(help_text="All that was written, also what was cut.")
    stderrBytes = serializers.IntegerField(help_text="All that was written, also what was cut.")
    stdoutTruncated = serializers.BooleanField(help_text="8 MiB of the outputs of all tests together are kept.")
    stderrTruncated = serializers.BooleanField()
    outputLossy = serializers.BooleanField()
    exitCode = serializers.IntegerField(allow_null=True)
    signal = serializers.CharField(allow_null=True)
    limitExceeded = serializers.ChoiceField(choices=LIMITS, allow_null=True)
    usage = TestUsageSerializer()


class ExecutionBriefSerializer(Shape):
    """An execution without program text and outputs."""

    executionId = serializers.UUIDField()
    status = serializers.ChoiceField(choices=Status.values)
    phase = serializers.ChoiceField(choices=PHASES, allow_null=True)
    passed = serializers.BooleanField(
        allow_null=True,
        help_text="Set with the verdict, when `expectedStdout` or `tests` were given. False unless the verdict is "
        "SUCCEEDED: after a COMPILE_ERROR, too.",
    )
    language = serializers.ChoiceField(choices=list(catalogue()))
    runtime = RuntimeStampSerializer(allow_null=True)
    stdoutBytes = serializers.IntegerField(help_text="All that was written, also what was cut.")
    stderrBytes = serializers.IntegerField(help_text="All that was written, also what was cut.")
    stdoutTruncated = serializers.BooleanField()
    stderrTruncated = serializers.BooleanField()
    exitCode = serializers.IntegerField(allow_null=True)
    signal = serializers.CharField(
        allow_null=True, help_text="The name of the signal that ended it; `exitCode` is then null."
    )
    limitExceeded = serializers.ChoiceField(choices=LIMITS, allow_null=True)
    compile: Any = CompileBriefSerializer(allow_null=True)
    usage = UsageSerializer()
    limits = LimitsSerializer()
    isolation = serializers.ChoiceField(choices=ISOLATIONS)
    attempts = serializers.IntegerField()
    tests: Any = TestResultSerializer(
        many=True, allow_null=True, help_text="Those that were run, in their order. Null in lists and until the end."
    )
    testsPassed = serializers.IntegerField(allow_null=True)
    testsTotal = serializers.IntegerField(allow_null=True)
    error = InternalErrorSerializer(allow_null=True)
    metadata = serializers.DictField(child=serializers.CharField())
    createdAt = serializers.DateTimeField()
    startedAt = serializers.DateTimeField(allow_null=True)
    finishedAt = serializers.DateTimeField(allow_null=True)


class ExecutionSerializer(ExecutionBriefSerializer):
    """An execution. `stdout` and `stderr` are strings in every state."""

    stdout = serializers.CharField()
    stderr = serializers.CharField()
    outputLossy = serializers.BooleanField(
        help_text="Some bytes are not UTF-8 and were replaced: `?encoding=base64` has them."
    )
    compile = CompileSerializer(allow_null=True)


class ExecutionPageSerializer(Shape):
    nextCursor = serializers.CharField(allow_null=True, help_text="Null on the last page.")

    def get_fields(self) -> dict[str, Any]:
        return {"data": ExecutionBriefSerializer(many=True), **super().get_fields()}


class SubmittedSerializer(ExecutionRequestSerializer):
    """What was submitted: a request that would ask for the same again."""


class RuntimeVersionSerializer(RuntimeStampSerializer):
    """A version that can be run now."""


class OptionSerializer(Shape):
    values = serializers.ListField(child=serializers.CharField())
    default: Any = serializers.CharField()


class LimitRangeSerializer(Shape):
    default: Any = serializers.IntegerField()
    ceiling = serializers.IntegerField()


class RuntimeSerializer(Shape):
    """A language."""

    language = serializers.CharField()
    title = serializers.CharField()
    versions = RuntimeVersionSerializer(many=True, help_text="The newest first.")
    compileCommand = serializers.ListField(
        child=serializers.CharField(), allow_null=True, help_text="Null: the language is not compiled."
    )
    runCommand = serializers.ListField(child=serializers.CharField())
    environment = serializers.DictField(child=serializers.CharField())
    options = serializers.DictField(child=OptionSerializer())
    limits = serializers.DictField(child=LimitRangeSerializer())


class RuntimeListSerializer(Shape):
    def get_fields(self) -> dict[str, Any]:
        return {"data": RuntimeSerializer(many=True)}


class PeriodSerializer(Shape):
    start = serializers.DateTimeField()
    end = serializers.DateTimeField()


class RunsSerializer(Shape):
    used = serializers.IntegerField(help_text="Runs of this month that count.")
    limit = serializers.IntegerField(allow_null=True, help_text="Null: without limit.")
    remaining = serializers.IntegerField(
        allow_null=True, help_text="What may still be submitted: unfinished runs are taken off."
    )


class ConcurrencySerializer(Shape):
    running = serializers.IntegerField()
    queued = serializers.IntegerField()
    max = serializers.IntegerField(allow_null=True, help_text="Null: without limit.")
    maxQueued = serializers.IntegerField(allow_null=True, help_text="Null: without limit.")


class AccountUsageSerializer(Shape):
    plan = serializers.CharField()
    period = PeriodSerializer()
    runs = RunsSerializer()
    concurrency = ConcurrencySerializer()


# --- Parameters and headers -------------------------------------------------------------------------------------------

WAIT = OpenApiParameter(
    "wait",
    {"type": "number", "minimum": 0, "maximum": MAX_WAIT_S},
    description="Seconds. Answers as soon as the execution has ended, or with its present state when the time is up "
    "(at once, when too many requests wait already).",
)
ENCODING = OpenApiParameter(
    "encoding",
    str,
    enum=ENCODINGS,
    description="`base64`: all outputs as base64 of the exact bytes. Otherwise `utf-8`.",
)
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    OpenApiParameter.HEADER,
    description="The same key and body never run or count twice: a repetition answers 200 with the same execution. "
    "Kept as long as the execution. Bodies are compared by content: the order of fields does not matter.",
)
REPLAYED = OpenApiParameter(
    "Idempotency-Replayed",
    {"type": "string", "enum": ["true"]},
    OpenApiParameter.HEADER,
    response=[200],
    description="An earlier request with this key made the execution.",
)
LOCATION = OpenApiParameter(
    "Location", OpenApiTypes.URI, OpenApiParameter.HEADER, response=[200, 202], description="Where the execution is."
)
PAGING = [
    OpenApiParameter("limit", {"type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": 50}),
    OpenApiParameter("cursor", str, description="`nextCursor` of the page before."),
]
LISTING = [
    OpenApiParameter("status", str, enum=Status.values),
    OpenApiParameter("language", str, enum=list(catalogue())),
    OpenApiParameter("createdAfter", OpenApiTypes.DATETIME),
    OpenApiParameter("createdBefore", OpenApiTypes.DATETIME),
    OpenApiParameter("batchId", OpenApiTypes.UUID),
    OpenApiParameter(
        "metadata",
        {"type": "object", "additionalProperties": {"type": "string"}},
        style="deepObject",
        explode=True,
        description="`metadata[key]=value`: those whose metadata has the pair.",
    ),
    *PAGING,
]
EXAMPLES = [
    OpenApiExample(
        "Python",
        value={"language": "python", "source": "import math\nprint(math.factorial(int(input())))", "stdin": "4\n"},
    )
]
SUBMITTED = {
    202: OpenApiResponse(ExecutionSerializer, "Accepted. With `?wait=`, it may have ended already."),
    200: OpenApiResponse(
        ExecutionSerializer, "The Idempotency-Key was sent before, with this body: the same execution."
    ),
}
CANCELLED = {
    200: OpenApiResponse(ExecutionSerializer, "It was waiting, and is CANCELLED now. It does not count."),
    202: OpenApiResponse(
        ExecutionSerializer,
        "It is running, and its worker has been told to stop: it is CANCELLED within moments, and counts.",
    ),
}
ERASED = {204: OpenApiResponse(None, "Erased. What was unfinished is cancelled, and stores nothing later.")}
