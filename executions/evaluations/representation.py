"""An evaluation as every door and webhook shows it."""

from typing import Any

from django.conf import settings
from django.urls import reverse

from executions import representation
from executions.batches import state
from executions.evaluations import scoring
from executions.models import Evaluation


def shown(evaluation: Evaluation) -> dict[str, Any]:
    now = state.state_of(evaluation.batch)
    return {
        "evaluationId": str(evaluation.pk),
        "name": evaluation.name,
        "language": evaluation.language,
        "status": now.status,
        "k": evaluation.ks,
        **scoring.report_of(evaluation),
        "manifest": settings.CODEFORGE_BASE_URL + reverse("evaluation-manifest", args=[evaluation.pk]),
        "createdAt": representation.time(evaluation.created_at),
        "finishedAt": representation.time(now.finished_at),
    }


def brief(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "evaluationId": str(evaluation.pk),
        "name": evaluation.name,
        "language": evaluation.language,
        "status": state.state_of(evaluation.batch).status,
        "createdAt": representation.time(evaluation.created_at),
    }
