"""The shapes of evaluations, for the OpenAPI document."""

from typing import Any

from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers

from executions.batches.schema import BATCH_STATES
from executions.evaluations.reading import HeaderSerializer, ProblemSerializer
from executions.fields import StrictList, StrictSerializer, StrictString
from executions.schema import Shape


class CandidateSerializer(StrictSerializer):
    """A program for a problem: whole (`source`), or what follows the preset's prompt (`completion`)."""

    problemId = StrictString(max_bytes=200)
    id = StrictString(max_bytes=200, required=False)
    completion = StrictString(max_bytes=256 * 1024, required=False)

    def get_fields(self) -> dict[str, Any]:
        # As an attribute, `source` would hide `Field.source`.
        return {**super().get_fields(), "source": StrictString(max_bytes=256 * 1024, required=False)}


class EvaluationRequestSerializer(HeaderSerializer):
    """An evaluation as one JSON object. As `application/x-ndjson`: the header, then problems and candidates."""

    problems = StrictList(child=ProblemSerializer())
    candidates = StrictList(child=CandidateSerializer())


class ProgressSerializer(Shape):
    queued = serializers.IntegerField()
    running = serializers.IntegerField()
    scored = serializers.IntegerField()
    unscored = serializers.IntegerField(help_text="Ended by a failure of ours, or cancelled: not in n.")
    total = serializers.IntegerField()
    deduplicated = serializers.IntegerField(help_text="Share the run of an identical candidate.")


class EstimateSerializer(Shape):
    value = serializers.FloatField()
    low = serializers.FloatField(help_text="Of the 95 % interval.")
    high = serializers.FloatField()


class NotReportedSerializer(Shape):
    k = serializers.IntegerField()
    reason = serializers.CharField()


class ProblemScoreSerializer(Shape):
    id = serializers.CharField()
    n = serializers.IntegerField(help_text="Candidates that have a score.")
    c = serializers.IntegerField(help_text="Candidates that passed.")
    unscored = serializers.IntegerField()
    passAtK: Any = serializers.DictField(child=serializers.FloatField())
    statuses = serializers.DictField(child=serializers.IntegerField())


class EvaluationSerializer(Shape):
    evaluationId = serializers.UUIDField()
    name = serializers.CharField()
    language = serializers.CharField()
    status = serializers.ChoiceField(choices=BATCH_STATES)
    k = serializers.ListField(child=serializers.IntegerField())
    progress = ProgressSerializer()
    passAtK: Any = serializers.DictField(child=EstimateSerializer())
    notReported = NotReportedSerializer(many=True)
    problems = ProblemScoreSerializer(many=True)
    manifest = serializers.URLField()
    createdAt = serializers.DateTimeField()
    finishedAt = serializers.DateTimeField(allow_null=True)


class EvaluationBriefSerializer(Shape):
    evaluationId = serializers.UUIDField()
    name = serializers.CharField()
    language = serializers.CharField()
    status = serializers.ChoiceField(choices=BATCH_STATES)
    createdAt = serializers.DateTimeField()


class EvaluationPageSerializer(Shape):
    nextCursor = serializers.CharField(allow_null=True, help_text="Null on the last page.")

    def get_fields(self) -> dict[str, Any]:
        return {"data": EvaluationBriefSerializer(many=True), **super().get_fields()}


class CostSerializer(Shape):
    """What a dry run answers."""

    dryRun = serializers.BooleanField()
    runs = serializers.IntegerField(help_text="Distinct programs: each is run once.")
    candidates = serializers.IntegerField()
    runsLeft = serializers.IntegerField(allow_null=True, help_text="Of this month. Null: without limit.")


class OutcomeSerializer(Shape):
    problemId = serializers.CharField()
    candidateId = serializers.CharField()
    executionId = serializers.UUIDField(allow_null=True)
    status = serializers.CharField()
    passed = serializers.BooleanField(allow_null=True, help_text="Null: it has no score.")
    reason = serializers.CharField(allow_null=True)
    deduplicated = serializers.BooleanField()


class ManifestSerializer(Shape):
    evaluationId = serializers.UUIDField()
    language = serializers.CharField()
    runtimes = serializers.ListField(child=serializers.DictField())
    isolation = serializers.CharField()
    limits = serializers.DictField(child=serializers.IntegerField())
    k = serializers.ListField(child=serializers.IntegerField())
    estimator = serializers.CharField()
    presets = serializers.ListField(child=serializers.DictField())
    contentSha256 = serializers.CharField()


SUBMITTED = {
    202: OpenApiResponse(EvaluationSerializer, "Accepted, all of it."),
    200: OpenApiResponse(EvaluationSerializer, "It was sent before: the same evaluation. A dry run has another shape."),
}
