"""Sandboxes that are used again, and the tests of one execution: nothing of one cell is in the next.

Each state is planted and looked for by the same program, told which by its stdin: in two executions that share a
sandbox, and in two tests of one execution.
"""

import contextlib
import os
import random
import signal
import textwrap
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import pytest

from sandbox.cgroup import Cgroup
from sandbox.docker import Sandbox
from sandbox.docker_evaluator import DockerEvaluator
from sandbox.errors import SandboxError, SandboxLost
from sandbox.evaluator import Cancellation
from sandbox.job import Isolation, Job, Limits, Program
from sandbox.job import Test as OneTest  # pytest takes names that begin with Test for its own
from sandbox.result import Result, RunResult
from sandbox.verdict import Verdict

pytestmark = pytest.mark.real

LIMITS = Limits(wall_time_ms=30_000, cpu_time_ms=10_000, memory_mb=64, processes=32, output_bytes=64 << 10, disk_mb=16)
WAYS = ("the next execution", "the next test")


class Watch:
    """Which sandbox each lease was, and whose: what `Sandbox.claim_for` was asked for."""

    def __init__(self) -> None:
        self.claims: list[tuple[Sandbox, str]] = []
        self._lock = threading.Lock()

    def note(self, sandbox: Sandbox, account: str) -> None:
        with self._lock:
            self.claims.append((sandbox, account))

    def of(self, account: str) -> list[Sandbox]:
        with self._lock:
            return [sandbox for sandbox, whose in self.claims if whose == account]


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watch = Watch()
    claim_for = Sandbox.claim_for

    def watched(self: Sandbox, account: str) -> None:
        claim_for(self, account)
        watch.note(self, account)

    monkeypatch.setattr(Sandbox, "claim_for", watched)
    return watch


@dataclass(frozen=True)
class Customer:
    """One account whose programs may share a sandbox."""

    name: str
    evaluator: DockerEvaluator
    watch: Watch

    def run(
        self, source: str, stdin: bytes = b"", language: str = "python", limits: Limits = LIMITS, *, reuse: bool = True
    ) -> Result:
        isolation = Isolation.ACCOUNT if reuse else Isolation.EXECUTION
        job = Job(Program(language, source), stdin=stdin, limits=limits, account=self.name, isolation=isolation)
        return self.evaluator.evaluate(job, Cancellation())

    def test(self, source: str, *inputs: bytes) -> tuple[RunResult, ...]:
        tests = tuple(OneTest(stdin) for stdin in inputs)
        job = Job(Program("python", source), limits=LIMITS, account=self.name, tests=tests)
        return self.evaluator.evaluate(job, Cancellation()).tests

    @property
    def sandboxes(self) -> list[Sandbox]:
        """Of each lease so far."""
        return self.watch.of(self.name)


@pytest.fixture
def new_customer(evaluator: DockerEvaluator, watch: Watch) -> Callable[[], Customer]:
    return lambda: Customer(f"customer-{uuid.uuid4().hex}", evaluator, watch)


@pytest.fixture
def customer(new_customer: Callable[[], Customer]) -> Customer:
    return new_customer()


def in_turn(customer: Customer, way: str, plant: str, look: str) -> tuple[RunResult | Result, RunResult | Result]:
    """What came of planting and of looking, one behind the other in the same sandbox."""
    program = (
        "import ctypes, os, resource, signal, socket, sys, time\n"
        "libc = ctypes.CDLL(None, use_errno=True)\n"
        "def daemon():\n"
        "    'Whether we are the one that stays behind.'\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() == 0: return True\n"
        "        os._exit(0)\n"
        "    os.wait()\n"
        "    time.sleep(0.1)\n"
        "    return False\n"
        "if input() == 'plant':\n"
        + textwrap.indent(textwrap.dedent(plant).strip(), "    ")
        + "\n    os.write(1, b'planted'); os._exit(0)\nfound = []\n"
        + textwrap.dedent(look)
        + "\nprint(found or 'clean')\n"
    )
    if way == "the next test":
        planted, looked = customer.test(program, b"plant\n", b"look\n")
        return planted, looked
    first = customer.run(program, b"plant\n")
    second = customer.run(program, b"look\n")
    one, other = customer.sandboxes
    assert one is other, "not the same sandbox: nothing was shown"
    return first, second


STATES = {
    "files": (
        """
        made = 0
        for folder, _, _ in os.walk("/", onerror=lambda _: None):
            if not folder.startswith("/proc"):
                try:
                    open(os.path.join(folder, ".planted"), "w").close()
                    made += 1
                except OSError: pass
        assert made >= 4
        """,
        """
        for folder, folders, names in os.walk("/", onerror=lambda _: None):
            if folder == "/proc": folders.clear()
            found += [os.path.join(folder, name) for name in names if name == ".planted"]
        """,
    ),
    "changed files of its own": (
        'open("main.py", "a").write("\\nraise SystemExit(9)")',
        'found = ["changed"] if "SystemExit(9)" in open("main.py").read().split("open(")[-1][20:] else []',
    ),
    "processes": (
        "if os.fork() == 0: time.sleep(60)",
        'found = sorted(name for name in os.listdir("/proc") if name.isdigit() and name not in ("1", "2"))',
    ),
    "daemons": (
        """
        if daemon():
            for n in range(1, 65): signal.signal(n, signal.SIG_IGN) if n not in (9, 19, 32, 33) else None
            while True: time.sleep(60)
        """,
        'found = sorted(name for name in os.listdir("/proc") if name.isdigit() and name not in ("1", "2"))',
    ),
    "System V shared memory": (
        "assert libc.shmget(0x1234, 4096, 0o1666) >= 0",
        'found = ["shared memory"] if libc.shmget(0x1234, 0, 0) >= 0 else []',
    ),
    "System V semaphores": (
        "assert libc.semget(0x1234, 1, 0o1666) >= 0",
        'found = ["semaphore"] if libc.semget(0x1234, 0, 0) >= 0 else []',
    ),
    "System V message queues": (
        """
        queue = libc.msgget(0x1234, 0o1666)
        assert queue >= 0 and libc.msgsnd(queue, ctypes.create_string_buffer(b"\\1" + bytes(7) + b"planted"), 7, 0) == 0
        """,
        'found = ["messages"] if libc.msgget(0x1234, 0) >= 0 else []',
    ),
    "POSIX shared memory": (
        """
        from multiprocessing import shared_memory
        shared_memory.SharedMemory("planted", create=True, size=4096, track=False)
        """,
        'found = os.listdir("/dev/shm")',
    ),
    "POSIX semaphores": (
        'assert libc.sem_open(b"/planted", os.O_CREAT, 0o666, 1)',
        """
        libc.sem_open.restype = ctypes.c_void_p
        found = ["semaphore"] if libc.sem_open(b"/planted", 0) else []
        """,
    ),
    "POSIX message queues": (
        # A kernel without them has none to leave.
        'assert libc.mq_open(b"/planted", os.O_CREAT | os.O_RDWR, 0o666, None) >= 0 or ctypes.get_errno() == 38',
        'found = ["queue"] if libc.mq_open(b"/planted", os.O_RDWR) >= 0 else []',
    ),
    "abstract sockets": (
        """
        if daemon():
            with socket.socket(socket.AF_UNIX) as server:
                server.bind("\\0planted"); server.listen(); time.sleep(60)
        with socket.socket(socket.AF_UNIX) as client: client.connect("\\0planted")
        """,
        """
        with socket.socket(socket.AF_UNIX) as client:
            if client.connect_ex("\\0planted") == 0: found = ["somebody listens"]
        with socket.socket(socket.AF_UNIX) as server: server.bind("\\0planted")
        """,
    ),
    "TCP ports": (
        """
        if daemon():
            with socket.create_server(("0.0.0.0", 4444)): time.sleep(60)
        socket.create_connection(("127.0.0.1", 4444))
        """,
        """
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", 4444)) == 0: found = ["somebody listens"]
        socket.create_server(("0.0.0.0", 4444))
        """,
    ),
    "UDP ports": (
        """
        if daemon():
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server: server.bind(("", 4444)); time.sleep(60)
        """,
        'socket.socket(socket.AF_INET, socket.SOCK_DGRAM).bind(("", 4444))',
    ),
    "mounts": (
        """
        for kind in (b"tmpfs", b"proc", None):
            libc.mount(b"/work", b"/tmp", kind, 0 if kind else 4096, None)
        libc.umount2(b"/tmp", 2); libc.umount2(b"/proc", 2)
        """,
        """
        places = [line.split()[4] for line in open("/proc/self/mountinfo")]
        assert {"/work", "/tmp", "/dev/shm", "/run/report", "/proc"} <= set(places)
        ours = ("/work", "/tmp", "/run")
        found = [place for place in set(places) if place.startswith(ours) and places.count(place) > 2]
        found += os.listdir("/tmp")
        """,
    ),
    "files of the next uid": (
        """
        own = os.getuid()
        for path in ("/work/trap", "/tmp/trap", "/dev/shm/trap"):
            open(path, "w").close()
            os.chmod(path, 0o6777)
            for uid in range(own + 1, own + 9):
                try: os.chown(path, uid, uid); assert False, "given away"
                except PermissionError: pass
        """,
        """
        found = [path for path in ("/work/trap", "/tmp/trap", "/dev/shm/trap") if os.path.exists(path)]
        found += [path for path in ("/work", "/run/report") if os.stat(path).st_uid != os.getuid()]
        """,
    ),
    "closed folders": (
        """
        for path in ("/work", "/run/report"): os.chmod(path, 0)
        os.mkdir("/tmp/closed", 0)
        """,
        """
        for path in ("/work", "/tmp", "/dev/shm", "/run/report"): open(path + "/probe", "w").close()
        modes = {"/work": 0o700, "/tmp": 0o1777}
        found = [path for path, mode in modes.items() if os.stat(path).st_mode & 0o7777 != mode]
        """,
    ),
    "timers and alarms": (
        "signal.alarm(1); signal.setitimer(signal.ITIMER_REAL, 0.3, 0.3); signal.setitimer(signal.ITIMER_PROF, 0.1)",
        """
        found = [timer for timer in range(3) if signal.getitimer(timer) != (0, 0)]
        time.sleep(1.1)
        """,
    ),
    "signals blocked and ignored": (
        """
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 64))
        os.kill(os.getpid(), signal.SIGUSR1)
        """,
        """
        found = [signal.pthread_sigmask(signal.SIG_BLOCK, []), signal.sigpending()]
        found = [x for x in found if x] + ([1] if signal.getsignal(signal.SIGTERM) != signal.SIG_DFL else [])
        """,
    ),
    "limits of resources": (
        """
        for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_NPROC, resource.RLIMIT_FSIZE, resource.RLIMIT_STACK):
            resource.setrlimit(kind, (1, 1))
        """,
        """
        limits = {"NOFILE": 1024, "NPROC": 32, "FSIZE": 16 << 20, "STACK": 8 << 20}
        found = [(name, resource.getrlimit(getattr(resource, "RLIMIT_" + name))) for name, limit in limits.items()
                 if resource.getrlimit(getattr(resource, "RLIMIT_" + name)) != (limit, limit)]
        """,
    ),
    "the nice value": ("os.nice(10)", "found = [os.nice(0)] if os.nice(0) else []"),
    "the umask": ("os.umask(0o777)", "found = [n] if (n := os.umask(0)) != 0o22 else []"),
    "the environment": (
        'os.environ["PLANTED"] = "1"; libc.setenv(b"PLANTED", b"1", 1)',
        """
        ours = {"LANG", "PATH", "HOME", "TZ", "OMP_NUM_THREADS", "PYTHONHASHSEED", "LC_CTYPE"}
        found = sorted(set(os.environ) - ours)
        """,
    ),
    "the working directory": (
        'os.mkdir("below"); os.chdir("below")',
        'found = [p] if (p := os.getcwd()) != "/work" else []',
    ),
    "the processors": (
        "os.sched_setaffinity(0, {0})",
        "found = [seen] if (seen := len(os.sched_getaffinity(0))) != os.cpu_count() else []",
    ),
    "the personality": (
        "libc.personality(0x0040000)",
        "found = [seen] if (seen := libc.personality(0xFFFFFFFF)) not in (0, -1) else []",
    ),
    "the cgroup": (
        """
        for folder in ("/sys/fs/cgroup/pids", "/sys/fs/cgroup/cpuacct", "/tmp"):
            try: open(folder + "/cgroup.procs", "w").write(str(os.getpid()))
            except OSError: pass
        """,
        """
        for line in open("/proc/self/cgroup"):
            _, controller, path = line.strip().split(":")
            if controller in ("pids", "cpuacct") and not path.endswith("/cell"): found.append(line)
        """,
    ),
    "locks on files of the image": (
        """
        import fcntl
        if daemon(): fcntl.flock(kept := open("/etc/passwd"), fcntl.LOCK_EX); time.sleep(60)
        """,
        'import fcntl; fcntl.flock(open("/etc/passwd"), fcntl.LOCK_EX | fcntl.LOCK_NB)',
    ),
    "terminals": (
        """
        if daemon():
            ends = os.openpty(); time.sleep(60)
        """,
        'found = [name for name in os.listdir("/dev/pts") if name != "ptmx"]',
    ),
    "a name for the host": (
        'libc.sethostname(b"planted", 7)',
        'found = [name] if (name := socket.gethostname()) != "sandbox" else []',
    ),
    "unread input": ("pass", "found = [rest] if (rest := sys.stdin.read()) else []"),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("state", STATES)
def test_what_one_cell_plants_the_next_does_not_see(customer: Customer, state: str, way: str) -> None:
    planted, looked = in_turn(customer, way, *STATES[state])
    assert (planted.verdict, planted.stdout.content) == (Verdict.SUCCEEDED, b"planted"), planted.stderr.content.decode()
    assert (looked.verdict, looked.stdout.content) == (Verdict.SUCCEEDED, b"clean\n"), looked.stderr.content.decode()


@pytest.mark.parametrize("way", WAYS)
def test_what_burns_behind_one_cell_is_not_charged_to_the_next(customer: Customer, way: str) -> None:
    burn = """
    for _ in range(8):
        if daemon():
            while True: pass
    """
    _, after = in_turn(customer, way, burn, "time.sleep(1.5)")
    assert after.stdout.content == b"clean\n"
    assert after.usage.cpu_time_ms is not None
    assert after.usage.cpu_time_ms < 1_000


@pytest.mark.parametrize("way", WAYS)
def test_memory_that_one_cell_leaves_is_not_charged_to_the_next(customer: Customer, way: str) -> None:
    leave = """
    libc.shmat.restype = ctypes.c_void_p
    ctypes.memset(libc.shmat(libc.shmget(0x1234, 40 << 20, 0o1666), None, 0), 1, 40 << 20)
    open("/dev/shm/full", "wb").write(b"x" * (14 << 20))
    """
    _, after = in_turn(customer, way, leave, 'kept = b"x" * (40 << 20); open("/tmp/full", "wb").write(kept[:14 << 20])')
    assert (after.verdict, after.stdout.content) == (Verdict.SUCCEEDED, b"clean\n")


def test_every_cell_has_a_uid_that_none_had_before(customer: Customer) -> None:
    program = "import os; print(os.getuid(), os.getgid())"
    seen = [test.stdout.content.split() for test in customer.test(program, *[b""] * 5)]
    seen += [customer.run(program).stdout.content.split() for _ in range(5)]
    assert all(uid == gid for uid, gid in seen)
    assert len({uid for uid, _ in seen[:5]}) == 5
    assert len({uid for uid, _ in seen[5:]}) == 5
    assert min(int(uid) for uid, _ in seen) >= 60_000


# --- When a sandbox is used again, and when it is not -----------------------------------------------------------------

HARMLESS = {
    "a success": ("print(24)", Verdict.SUCCEEDED),
    "a runtime error": ("raise SystemExit(3)", Verdict.RUNTIME_ERROR),
    "a crash": ("import os; os.abort()", Verdict.RUNTIME_ERROR),
    "a compile error": ("def f(:", Verdict.COMPILE_ERROR),
}
LIMITED = {
    "CPU time": ("while True: pass", Verdict.TIMEOUT, {"cpu_time_ms": 300}),
    "wall time": ("import time; time.sleep(60)", Verdict.TIMEOUT, {"wall_time_ms": 800}),
    "memory": ("kept = []\nwhile True: kept.append(b'x' * 100_000)", Verdict.MEMORY_LIMIT, {}),
    "output": ("while True: print('x' * 1000)", Verdict.OUTPUT_LIMIT, {}),
}


@pytest.mark.parametrize("how", HARMLESS)
def test_a_sandbox_is_used_again_after(customer: Customer, how: str) -> None:
    source, verdict = HARMLESS[how]
    for _ in range(2):
        assert customer.run(source).verdict is verdict
    assert customer.run("print(24)").stdout.content == b"24\n"
    assert len({sandbox.name for sandbox in customer.sandboxes}) == 1


@pytest.mark.parametrize("limit", LIMITED)
def test_a_sandbox_is_destroyed_after_a_limit_of(customer: Customer, limit: str) -> None:
    source, verdict, limits = LIMITED[limit]
    assert customer.run(source, limits=replace(LIMITS, **limits)).verdict is verdict
    assert customer.run("print(24)").stdout.content == b"24\n"
    first, second = customer.sandboxes
    assert first is not second


def test_a_sandbox_is_destroyed_when_any_of_its_tests_reached_a_limit(customer: Customer) -> None:
    source = "if input() == 'long':\n    while True: pass"
    tests = (OneTest(b"short\n"), OneTest(b"long\n", limits=replace(LIMITS, cpu_time_ms=300)), OneTest(b"short\n"))
    job = Job(Program("python", source), limits=LIMITS, account=customer.name, isolation=Isolation.ACCOUNT, tests=tests)
    customer.evaluator.evaluate(job, Cancellation())
    customer.run("print(24)")
    first, second = customer.sandboxes
    assert first is not second


def test_without_reuse_every_execution_has_a_sandbox_of_its_own(customer: Customer) -> None:
    for _ in range(3):
        customer.run("print(24)", reuse=False)
    customer.run("print(24)")
    assert len({sandbox.name for sandbox in customer.sandboxes}) == 4


def test_each_language_has_its_own_sandbox(customer: Customer) -> None:
    customer.run("print(24)")
    assert customer.run("console.log(24)", language="javascript").stdout.content == b"24\n"
    customer.run("print(24)")
    first, other, second = customer.sandboxes
    assert first is second is not other


def kill(sandbox: Sandbox) -> None:
    """As the kernel would: all that the sandbox is on the host."""
    assert sandbox.cgroup is not None
    for pid in Cgroup(sandbox.cgroup.path).processes():
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_a_sandbox_that_died_while_it_was_kept_is_replaced_and_nobody_notices(customer: Customer) -> None:
    customer.run("print(24)")
    kill(customer.sandboxes[0])
    assert customer.run("print(24)").stdout.content == b"24\n"
    assert customer.sandboxes[-1] is not customer.sandboxes[0]


def test_a_sandbox_that_is_lost_while_it_runs_is_our_failure_and_not_used_again(customer: Customer) -> None:
    customer.run("print(24)")
    with ThreadPoolExecutor(1) as pool:
        (sandbox,) = customer.sandboxes
        lost = pool.submit(customer.run, "import time; time.sleep(60)")
        while sandbox._cells < 2:  # until it has been told to run the second program
            assert not lost.done()
            time.sleep(0.01)
        kill(sandbox)
        with pytest.raises(SandboxError) as caught:
            lost.result(timeout=60)
    assert isinstance(caught.value, SandboxLost)
    assert customer.run("print(24)").stdout.content == b"24\n"
    assert customer.sandboxes[-1] is not sandbox


def test_a_large_program_and_a_small_one_take_turns(customer: Customer) -> None:
    large = replace(LIMITS, memory_mb=700)
    for _ in range(3):
        assert customer.run("print(len(b'x' * (600 << 20)))", limits=large).stdout.content == b"629145600\n"
        assert customer.run("print(24)").stdout.content == b"24\n"
    assert customer.run("kept = []\nwhile True: kept.append(b'x' * 100_000)").verdict is Verdict.MEMORY_LIMIT


def test_what_a_compiler_left_deep_below_is_gone_for_the_next(customer: Customer) -> None:
    package = ".".join(["a"] * 600)
    main = "public class Main { public static void main(String[] a) { System.out.print(24); } }"
    assert customer.run(f"package {package};\n{main}", language="java").verdict is Verdict.RUNTIME_ERROR
    assert customer.run(main, language="java").stdout.content == b"24"
    first, second = customer.sandboxes
    assert first is second


def test_two_accounts_never_share_however_they_take_turns(new_customer: Callable[[], Customer], watch: Watch) -> None:
    customers = [new_customer() for _ in range(3)]
    chance = random.Random(24)
    turns = [(chance.choice(customers), chance.choice(list(HARMLESS))) for _ in range(30)]
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda turn: turn[0].run(HARMLESS[turn[1]][0]), turns))
    assert [result.verdict for result in results] == [HARMLESS[how][1] for _, how in turns]
    owners: dict[str, set[str]] = {}
    for sandbox, account in watch.claims:
        owners.setdefault(sandbox.name, set()).add(account)
    assert all(len(accounts) == 1 for accounts in owners.values())
    assert len(owners) < len(turns), "nothing was used again: nothing was shown"
