"""How a worker comes by its evaluator."""

from sandbox.docker import GVISOR, Engine
from sandbox.docker_evaluator import DockerEvaluator
from sandbox.pool import PoolSize


def connect_evaluator(
    *,
    worker: str,
    concurrency: int,
    insecure_runtime: str | None = None,
    pool_size: int | None = None,
    pool_memory_mb: int = 1_500,
) -> DockerEvaluator:
    """An evaluator on the Docker engine that DOCKER_HOST names, ready to use.

    ``worker`` is a name that no other worker of this engine has. ``concurrency``: how many runs it will have at once.
    ``insecure_runtime`` names a runtime that is not gVisor: programs are then *not contained*; for the development of
    CodeForge itself on machines without gVisor. ``pool_size``: the most that stand ready for one language, two for each
    run at once unless given; ``pool_memory_mb`` bounds what stands ready and waits altogether.
    Raises `SandboxNotIsolated` when the engine cannot keep our promises, `EngineUnavailable`, `ImageMissing`.
    """
    engine = Engine(worker=worker, runtime=insecure_runtime or GVISOR)
    try:
        size = PoolSize(per_language=pool_size or 2 * concurrency, memory_mb=pool_memory_mb)
        return DockerEvaluator(engine, concurrency=concurrency, size=size)
    except BaseException:
        engine.close()
        raise
