"""What can go wrong on our side of a run. None of these is ever shown as a failure of the program.

SandboxError                    base; ``retryable`` says whether another attempt may succeed
├── EngineUnavailable           the Docker engine does not answer
├── ImageMissing                the image of a runtime is not built on this engine    (not retryable here)
├── SandboxNotIsolated          the container is not what was asked for: not gVisor, limits not in force (not retryable)
├── SandboxStartFailed          the container did not come up
├── SandboxLost                 the sandbox went away, and nothing shows that the program did it
└── ProtocolViolated            the supervisor said something that it never says

RunCancelled                    not an error: the customer asked for the run to stop
"""


class SandboxError(Exception):
    """We failed. ``code`` is shown to the customer, the message only to staff."""

    code = "sandbox_error"
    retryable = True


class EngineUnavailable(SandboxError):
    code = "engine_unavailable"


class ImageMissing(SandboxError):
    code = "image_missing"
    retryable = False


class SandboxNotIsolated(SandboxError):
    code = "sandbox_not_isolated"
    retryable = False


class SandboxStartFailed(SandboxError):
    code = "sandbox_start_failed"


class SandboxLost(SandboxError):
    code = "sandbox_lost"


class ProtocolViolated(SandboxError):
    code = "protocol_violated"


class RunCancelled(Exception):
    """The run was stopped because ``Cancellation.cancel()`` was called."""
