"""A real Celery worker with an evaluator that runs nothing: `celery --app tests.fake_worker worker`.

Its programs are not run but obeyed: `hold` runs until it is cancelled; `sleep 0.5` takes that long; `fail`
is a failure of ours; one that holds `wrong` exits with 1; whatever else succeeds, and gives its stdin back, also on
stderr when it is of an evaluation's preset.
"""

import time

import django

from codeforge.celery import app

django.setup()

from executions import worker  # noqa: E402  models exist only now
from sandbox.errors import SandboxLost  # noqa: E402
from sandbox.evaluator import Evaluator  # noqa: E402
from sandbox.fake import FakeEvaluator, echo, result  # noqa: E402
from sandbox.job import Job  # noqa: E402
from sandbox.result import Result  # noqa: E402
from sandbox.verdict import Verdict  # noqa: E402


def obey(fake: FakeEvaluator, job: Job) -> Result:
    match job.program.source.split():
        case ["hold"]:
            fake.hold()
        case ["sleep", seconds]:
            time.sleep(float(seconds))
        case ["fail"]:
            raise SandboxLost("as asked")
    if "wrong" in job.program.source:
        return result(job, verdict=Verdict.RUNTIME_ERROR, exit_code=1)
    if job.tests:
        return echo(job, fake.judge)
    proves = "__import__('os').write(2" in job.program.source
    return result(job, stdout=job.stdin, stderr=job.stdin if proves else b"")


def connect(*, worker: str, concurrency: int) -> Evaluator:
    return FakeEvaluator(obey)


worker.connect = connect

__all__ = ["app"]
