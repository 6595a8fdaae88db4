"""How a worker comes by its evaluator."""

from sandbox.docker import GVISOR, Engine
from sandbox.docker_evaluator import DockerEvaluator


def connect_evaluator(*, worker: str, concurrency: int, insecure_runtime: str | None = None) -> DockerEvaluator:
    """An evaluator on the Docker engine that DOCKER_HOST names, ready to use.

    ``worker`` is a name that no other worker of this engine has. ``concurrency``: how many runs it will have at once.
    ``insecure_runtime`` names a runtime that is not gVisor: programs are then *not contained*; for the development of
    CodeForge itself on machines without gVisor.
    Raises `SandboxNotIsolated` when the engine cannot keep our promises, `EngineUnavailable`, `ImageMissing`.
    """
    engine = Engine(worker=worker, runtime=insecure_runtime or GVISOR)
    evaluator = DockerEvaluator(engine, concurrency=concurrency)
    try:
        evaluator.measure_runtimes()
    except BaseException:
        evaluator.close()
        raise
    return evaluator
