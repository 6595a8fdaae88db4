"""What a hostile program can see, reach, use up and pretend: nothing that is not its own.

Every attack opens with a comment that says how it works and what must stop it.
"""

import json
import time
from collections.abc import Callable

import pytest

from sandbox.catalogue import catalogue
from sandbox.protocol import FrameType, encode_frame
from sandbox.result import Stream
from sandbox.verdict import Phase, Verdict
from tests.real.conftest import Run
from tests.real.programs import cpp, java

pytestmark = pytest.mark.real

MIB = 1 << 20
every_language = pytest.mark.parametrize("language", ["python", "javascript", "java", "cpp"])

Inside = Callable[[str], object]


@pytest.fixture
def inside(run: Run) -> Inside:
    """``inside(program)``: what a Python program that succeeds prints as JSON."""

    def inside(program: str) -> object:
        result = run("python", program)
        assert result.verdict is Verdict.SUCCEEDED, result.stderr.content.decode()
        return json.loads(result.stdout.content)

    return inside


# --- The network ------------------------------------------------------------------------------------------------------

# Each tries names, TCP, UDP and the address where clouds keep credentials, and says what it reached, its interfaces,
# and whether all was over at once. A network of its own with loopback only must stop it.
REACH_OUT = {
    "python": """
import socket, time
slowest, reached = 0, []
def attempt(name, act):
    global slowest
    start = time.monotonic()
    try:
        act()
        reached.append(name)
    except OSError:
        pass
    slowest = max(slowest, time.monotonic() - start)
def udp(address):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (address, 53))
attempt("dns", lambda: socket.getaddrinfo("example.com", 80))
attempt("tcp", lambda: socket.create_connection(("1.1.1.1", 443), 10))
attempt("tcp6", lambda: socket.create_connection(("2606:4700:4700::1111", 443), 10))
attempt("metadata", lambda: socket.create_connection(("169.254.169.254", 80), 10))
attempt("private", lambda: socket.create_connection(("172.17.0.1", 80), 10))
attempt("udp", lambda: udp("8.8.8.8"))
attempt("raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3))
print(*reached, *(name for _, name in socket.if_nameindex()), "fast" if slowest < 1 else slowest)
""",
    "javascript": """
const net = require('net'), dns = require('dns'), dgram = require('dgram');
const reached = [], start = Date.now();
const connect = (name, address) => new Promise(done => net.connect(443, address)
  .on('connect', () => { reached.push(name); done(); }).on('error', done));
Promise.all([
  new Promise(done => dns.lookup('example.com', (error) => { if (!error) reached.push('dns'); done(); })),
  connect('tcp', '1.1.1.1'), connect('metadata', '169.254.169.254'),
  new Promise(done => { const s = dgram.createSocket('udp4');
    s.send('x', 53, '8.8.8.8', (error) => { if (!error) reached.push('udp'); s.close(); done(); }); }),
]).then(() => { const took = Date.now() - start;
  console.log(...reached, ...Object.keys(require('os').networkInterfaces()), took < 1000 ? 'fast' : took); });
""",
    "java": """
import java.net.*; import java.util.*;
public class Main {
  interface Act { void run() throws Exception; }
  static List<String> said = new ArrayList<>(); static long slowest = 0;
  static void attempt(String name, Act act) {
    long start = System.nanoTime();
    try { act.run(); said.add(name); } catch (Exception e) { }
    slowest = Math.max(slowest, System.nanoTime() - start);
  }
  public static void main(String[] args) throws Exception {
    attempt("dns", () -> InetAddress.getByName("example.com"));
    attempt("tcp", () -> new Socket("1.1.1.1", 443));
    attempt("metadata", () -> new Socket("169.254.169.254", 80));
    attempt("udp", () -> { var s = new DatagramSocket();
      s.send(new DatagramPacket(new byte[1], 1, new InetSocketAddress("8.8.8.8", 53))); });
    NetworkInterface.networkInterfaces().forEach(i -> said.add(i.getName()));
    said.add(slowest < 1_000_000_000L ? "fast" : "slow");
    System.out.println(String.join(" ", said));
  }
}
""",
    "cpp": """
#include <arpa/inet.h>
#include <chrono>
#include <cstdio>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>
static void attempt(const char *name, int kind, const char *address) {
  sockaddr_in to{AF_INET, htons(53), {inet_addr(address)}, {}};
  int s = socket(AF_INET, kind, 0);
  if (connect(s, (sockaddr *)&to, sizeof to) == 0 && send(s, "x", 1, 0) == 1) printf("%s ", name);
}
int main() {
  auto start = std::chrono::steady_clock::now();
  addrinfo *found;
  if (getaddrinfo("example.com", "80", nullptr, &found) == 0) printf("dns ");
  attempt("tcp", SOCK_STREAM, "1.1.1.1");
  attempt("metadata", SOCK_STREAM, "169.254.169.254");
  attempt("udp", SOCK_DGRAM, "8.8.8.8");
  for (auto *i = if_nameindex(); i->if_index; i++) printf("%s ", i->if_name);
  puts(std::chrono::steady_clock::now() - start < std::chrono::seconds(1) ? "fast" : "slow");
}
""",
}


@every_language
def test_nothing_but_loopback_is_there_and_all_else_fails_at_once(run: Run, language: str) -> None:
    result = run(language, REACH_OUT[language])
    assert result.stdout.content == b"lo fast\n", result.stderr.content.decode()


def test_a_program_may_be_its_own_server(run: Run) -> None:
    program = """
import socket
for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    with socket.create_server((address, 0), family=family) as server:
        client = socket.create_connection(server.getsockname()[:2])
        server.accept()[0].sendall(b"pong")
        print(client.recv(4))
"""
    assert run("python", program).stdout.content == b"b'pong'\nb'pong'\n"


# --- What is to be seen -----------------------------------------------------------------------------------------------

SHOW_ENVIRONMENT = {
    "python": "import os\nfor name, value in os.environ.items(): print(f'{name}={value}')",
    "javascript": "for (const [name, value] of Object.entries(process.env)) console.log(`${name}=${value}`)",
    "java": java('System.getenv().forEach((name, value) -> System.out.println(name + "=" + value));'),
    "cpp": cpp("for (char **each = environ; *each; each++) puts(*each);", "cstdio", "unistd.h"),
}


@every_language
def test_the_environment_is_what_the_runtime_declares_and_nothing_else(run: Run, language: str) -> None:
    declared = {f"{name}={value}" for name, value in catalogue()[language].run.environment.items()}
    assert set(run(language, SHOW_ENVIRONMENT[language]).stdout.content.decode().splitlines()) == declared


def test_the_first_process_of_a_cell_gives_nothing_away(inside: Inside) -> None:
    program = """
# Opens whatever /proc shows of the process that started this one: its environment, memory, files and the pipes it
# reports over. Its uid, its not being dumpable, and that it keeps nothing there must stop it.
import json, os
opened = {}
def attempt(path, flags):
    try:
        with open(os.open(path, flags | os.O_NONBLOCK), "rb" if flags == os.O_RDONLY else "wb", 0) as file:
            opened[path] = file.read(100).strip(b"\\0").decode("latin-1") if flags == os.O_RDONLY else "written"
    except OSError:
        pass
for flags in (os.O_RDONLY, os.O_WRONLY):
    for name in ("environ", "mem", "root/box", "cwd/box", "root/etc/shadow"):
        attempt("/proc/1/" + name, flags)
    for descriptor in os.listdir("/proc/1/fd"):
        attempt("/proc/1/fd/" + descriptor, flags)
print(json.dumps([opened, [pid for pid in os.listdir("/proc") if pid.isdigit()]]))
"""
    assert inside(program) == [{"/proc/1/environ": ""}, ["1", "2"]]


def test_files_of_the_supervisor_and_of_the_system_stay_closed(inside: Inside) -> None:
    program = """
# Reads what belongs to the supervisor, to the system and to the hardware. Permissions, or that it is not there, must
# stop it.
import json, os
seen = []
for path in ("/box", "/sys", "/sys/fs/cgroup", "/run/secrets", "/var/run/docker.sock", "/root", "/home", "/mnt"):
    try:
        seen += [f"{path}/{name}" for name in os.listdir(path)]
    except OSError:
        pass
for path in ("/etc/shadow", "/dev/mem", "/dev/kmem", "/dev/port", "/dev/sda", "/dev/kvm", "/proc/kcore", "/proc/kmsg"):
    try:
        seen.append(path + str(open(path, "rb").read(1)))
    except OSError:
        pass
print(json.dumps(seen))
"""
    assert inside(program) == []


def test_nothing_of_the_compilers_cell_is_left_but_its_product(run: Run) -> None:
    program = cpp(
        'for (auto place : {"/tmp", "/dev/shm", "/run/report", "/work"})\n'
        "    for (auto &entry : std::filesystem::directory_iterator(place)) puts(entry.path().c_str());",
        "cstdio",
        "filesystem",
    )
    found = run("cpp", program).stdout.content.decode().split()
    assert sorted(found) == ["/work/main", "/work/main.cpp"]


def test_a_program_can_write_nowhere_but_in_its_own_places(inside: Inside) -> None:
    program = """
# Creates a file in every directory there is, and opens for writing every file of /proc and /dev that is not meant for
# it. A root file system that is read-only, and permissions, must stop it.
import json, os
writable = set()
for folder, folders, files in os.walk("/", onerror=lambda _: None):
    if folder == "/proc":
        folders[:] = [name for name in folders if not name.isdigit() and name not in ("self", "thread-self")]
    if folder.startswith("/dev/fd"):
        continue
    probe = os.path.join(folder, "probe")
    try:
        os.close(os.open(probe, os.O_CREAT | os.O_WRONLY))
        os.unlink(probe)
        writable.add(folder)
    except OSError:
        pass
    for name in files if folder.startswith(("/proc", "/sys", "/dev", "/etc", "/codeforge")) else ():
        path = os.path.join(folder, name)
        if path not in ("/dev/stdin", "/dev/stdout", "/dev/stderr") and not path.startswith("/proc/sys/fs/mqueue"):
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY))
                writable.add(path)
            except OSError:
                pass
print(json.dumps(sorted(writable)))
"""
    own = {"/dev/shm", "/run/report", "/tmp", "/work"}
    harmless = {"/dev/full", "/dev/null", "/dev/ptmx", "/dev/pts/ptmx", "/dev/random", "/dev/tty", "/dev/urandom"}
    found = inside(program)
    assert isinstance(found, list)
    assert set(found) - harmless - {"/dev/zero"} == own


# --- Rights -----------------------------------------------------------------------------------------------------------


def test_a_program_has_no_rights_and_no_way_to_any(inside: Inside) -> None:
    program = """
# Asks the kernel for everything that needs a right, for rights themselves, and for name spaces in which it would have
# them. No capabilities, no_new_privs and the filter of system calls must stop it.
import ctypes, json, os, subprocess
libc = ctypes.CDLL(None, use_errno=True)
status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
found = [status[name].strip("0") for name in ("CapEff", "CapPrm", "CapInh")] + [libc.prctl(39, 0, 0, 0, 0)]
found.append(sorted({os.getuid(), os.geteuid(), os.getgid(), os.getegid(), *os.getgroups()}))
granted = []
def attempt(name, call, *arguments):
    if call(*arguments) != -1:
        granted.append(name)
NEW = {"mount": 0x20000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000}
for name, flag in NEW.items():
    attempt("unshare " + name, libc.unshare, flag)
    attempt("unshare user and " + name, libc.unshare, flag | NEW["user"])
    attempt("clone " + name, libc.syscall, 56, flag | NEW["user"] | 17, 0, 0, 0, 0)
attempt("clone3", libc.syscall, 435, 0, 0)
attempt("mount", libc.mount, b"none", b"/work", b"tmpfs", 0, b"")
attempt("remount", libc.mount, b"none", b"/", b"", 32, b"")
attempt("bind", libc.mount, b"/", b"/work", b"", 4096, b"")
attempt("umount", libc.umount2, b"/proc", 2)
attempt("chroot", libc.chroot, b"/work")
attempt("setuid", libc.setuid, 0)
attempt("setgid", libc.setgid, 0)
attempt("setns", libc.setns, os.open("/proc/1/ns/pid", os.O_RDONLY) if os.path.exists("/proc/1/ns/pid") else 0, 0)
attempt("ptrace", libc.ptrace, 16, 1, 0, 0)
attempt("hostname", libc.sethostname, b"other", 5)
def device(kind, number):
    libc.mknod(b"/work/device", kind | 0o666, number)
    try: os.close(os.open("/work/device", os.O_RDWR))
    except OSError: return -1
    finally: os.path.exists("/work/device") and os.unlink("/work/device")
attempt("memory as a device", device, 0o20000, 0x101)
attempt("disk as a device", device, 0o60000, 0x800)
attempt("chown", libc.chown, b"/work/main.py", 0, 0)
attempt("reboot", libc.reboot, 0x1234567)
attempt("higher limits", libc.setrlimit, 6, (ctypes.c_ulong * 2)(100_000, 100_000))
attempt("kill init", libc.kill, 1, 9)
attempt("stop init", libc.kill, 1, 19)
for command in (["umount", "/tmp"], ["mount", "-t", "tmpfs", "none", "/work"], ["su", "-c", "true"]):
    if subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True).returncode == 0:
        granted.append(command[0])
print(json.dumps([*found, granted]))
"""
    assert inside(program) == ["", "", "", 1, [60_001], []]


# --- Exhaustion -------------------------------------------------------------------------------------------------------

TIGHT = {"wall_time_ms": 6_000, "cpu_time_ms": 2_000, "memory_mb": 64, "processes": 32, "disk_mb": 16}

EXHAUSTING = {
    "fork bomb": (
        "python",
        """
# Forks for ever from every process. The limit of processes must stop its growth, that of time end it.
import os
while True:
    try: os.fork()
    except OSError: pass
""",
        {Verdict.TIMEOUT, Verdict.MEMORY_LIMIT},
    ),
    "fork bomb in C++": (
        "cpp",
        "// Forks for ever from every process. The limit of processes must stop its growth, that of time end it.\n"
        + cpp("for (;;) fork();", "unistd.h"),
        {Verdict.TIMEOUT},
    ),
    "fork bomb whose every process leaves its session": (
        "python",
        """
# As above, but parents end and children leave the session, so that nobody knows them. The end of the name space must
# reach them all.
import os
while True:
    try:
        if os.fork() and os.getpid() != 2: os._exit(0)
        if os.getpid() != 2: os.setsid()
    except OSError: pass
""",
        {Verdict.TIMEOUT, Verdict.MEMORY_LIMIT},
    ),
    "thread bomb": (
        "python",
        """
# Starts threads that wait, for ever. Threads count as processes; the CPU limit ends the asking.
import threading, time
while True:
    try: threading.Thread(target=time.sleep, args=(60,)).start()
    except RuntimeError: pass
""",
        {Verdict.TIMEOUT},
    ),
    "thread bomb in Java": (
        "java",
        "// Starts threads that wait, for ever. Threads count as processes; a limit of time ends it.\n"
        + java(
            "while (true) try { new Thread(() -> { try { Thread.sleep(60000); } catch (Exception e) { } }).start(); }\n"
            "    catch (Throwable e) { }"
        ),
        {Verdict.TIMEOUT, Verdict.MEMORY_LIMIT},
    ),
    "shared memory": (
        "python",
        """
# Fills memory that belongs to no process in particular: shared, without a file. The cell's memory limit must see it.
import mmap
kept = []
while True:
    kept.append(mmap.mmap(-1, 1 << 20)); kept[-1].write(b"x" * (1 << 20))
""",
        {Verdict.MEMORY_LIMIT},
    ),
    "files without a name": (
        "python",
        """
# Fills files in memory that lie in no file system. Their size is limited, their number is by descriptors, and the
# container's memory is the wall.
import os
kept = []
while True:
    kept.append(os.memfd_create("kept")); os.write(kept[-1], b"x" * (8 << 20))
""",
        {Verdict.MEMORY_LIMIT},
    ),
    "million files": (
        "python",
        """
# Creates empty files for ever: they use no space of the file system, but memory of gVisor's kernel. Limits of time, and
# the container's memory, must stop it.
import itertools, os
for number in itertools.count():
    os.close(os.open(f"/tmp/{number}", os.O_CREAT))
""",
        {Verdict.TIMEOUT, Verdict.MEMORY_LIMIT},
    ),
    "full pipes": (
        "python",
        """
# Fills as many pipes as it can open, in as many processes as it can have: memory of gVisor's kernel that no process
# owns. The container's memory is the wall.
import fcntl, os, time
for _ in range(28):
    if os.fork() == 0: break
kept = []
try:
    while True:
        kept.append(os.pipe()); os.set_blocking(kept[-1][1], False)
        fcntl.fcntl(kept[-1][1], 1031, 1 << 20); os.write(kept[-1][1], b"x" * (1 << 20))
except OSError:
    time.sleep(60)
""",
        {Verdict.TIMEOUT, Verdict.MEMORY_LIMIT},
    ),
    "full sockets": (
        "python",
        """
# Fills the buffers of sockets that nobody reads. The container's memory is the wall.
import os, socket, time
for _ in range(28):
    if os.fork() == 0: break
kept = []
try:
    while True:
        pair = socket.socketpair(); pair[0].setblocking(False); kept.append(pair)
        try:
            while True: pair[0].send(b"x" * 65536)
        except BlockingIOError: pass
except OSError:
    time.sleep(60)
""",
        {Verdict.TIMEOUT, Verdict.MEMORY_LIMIT},
    ),
    "stop of itself": (
        "python",
        """
# Stops itself, and everything else that it may. A stopped process uses no CPU time: the clock on the wall must end it.
import os, signal
os.kill(0, signal.SIGSTOP)
""",
        {Verdict.TIMEOUT},
    ),
}


@pytest.mark.parametrize("attack", EXHAUSTING)
def test_using_everything_up_has_a_verdict_of_its_own_and_harms_nobody(run: Run, attack: str) -> None:
    language, program, verdicts = EXHAUSTING[attack]
    started = time.monotonic()
    result = run(language, program, **TIGHT)
    assert result.verdict in verdicts, result
    assert time.monotonic() - started < 45
    after = run("python", "print(24)")
    assert (after.verdict, after.stdout.content) == (Verdict.SUCCEEDED, b"24\n")


def test_a_full_disk_is_the_programs_own_error_and_no_larger_than_it_may_be(run: Run) -> None:
    program = """
# Fills all places that it may write to, and counts. One file system of the size of the disk limit must stop it.
import itertools, os
written = 0
for place in ("/work", "/tmp", "/dev/shm", "/run/report"):
    try:
        for number in itertools.count():
            with open(f"{place}/{number}", "wb", 0) as file:
                for _ in range(8): written += file.write(bytes(65536))
    except OSError as error:
        assert error.errno == 28
print(written)
"""
    result = run("python", program, **TIGHT)
    assert result.verdict is Verdict.SUCCEEDED, result.stderr.content.decode()
    assert 15 * MIB < int(result.stdout.content) <= 17 * MIB


def test_descriptors_end_before_anything_else_does(inside: Inside) -> None:
    program = """
# Opens descriptors and closes none. Their limit must stop it.
import os
kept = []
try:
    while True: kept.append(os.dup(0))
except OSError as error:
    assert error.errno == 24
print(len(kept))
"""
    assert inside(program) in range(1_000, 1_024)


# --- What is left running ---------------------------------------------------------------------------------------------

LEFT_BEHIND = {
    "a child": "if os.fork() == 0: time.sleep(60)",
    "a child in a session of its own": "if os.fork() == 0: os.setsid(); time.sleep(60)",
    "an orphan": "if os.fork() == 0:\n    if os.fork() == 0: os.setsid(); time.sleep(60)\n    os._exit(0)",
    "a child that minds no signal": "if os.fork() == 0:\n    for s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)\n"
    "    time.sleep(60)",
    "a child that is stopped": "if os.fork() == 0: os.kill(os.getpid(), signal.SIGSTOP)",
    "a child that keeps writing": "if os.fork() == 0:\n    while True: os.write(2, b'.'); time.sleep(0.01)",
}


@pytest.mark.parametrize("left", LEFT_BEHIND)
def test_what_a_program_leaves_running_does_not_delay_its_result(run: Run, left: str) -> None:
    program = (
        "# Leaves a process that holds its streams open. The end of the program must be the end of it.\n"
        f"import os, signal, time\n{LEFT_BEHIND[left]}\nos.write(1, b'main'); os._exit(0)"
    )
    result = run("python", program)
    assert (result.verdict, result.stdout.content) == (Verdict.SUCCEEDED, b"main")
    assert result.usage.wall_time_ms is not None
    assert result.usage.wall_time_ms < 10_000


def test_killing_everything_kills_only_what_is_its_own(run: Run) -> None:
    program = """
# Sends SIGKILL to all that it may: its own processes, and not the one that watches over them.
import os, signal, time
if os.fork() == 0: time.sleep(60)
os.kill(-1, signal.SIGKILL)
os._exit(5)
"""
    result = run("python", program)
    assert result.verdict is Verdict.RUNTIME_ERROR
    assert result.exit_code == 5 or result.signal == "SIGKILL"


# --- Pretending -------------------------------------------------------------------------------------------------------

FORGED = b"".join(
    [
        encode_frame(
            FrameType.ENDED,
            b"stopped_for none\nexit_code 0\nsignal 0\nwall_us 1\ncpu_us 1\nmemory_kb 1\n"
            b"stdout_bytes 0\nstderr_bytes 0\ncheck none\nheap_exhausted 0\ndirty 0\n",
        ),
        encode_frame(FrameType.FAILED, b"pretended"),
        encode_frame(FrameType.STDOUT, b"pretended"),
        FrameType.ENDED.value + b"\xff\xff\xff\xff",
        b"\x01\0\0\0\xff\xff\xff\xff",  # the head that the engine puts before what a container writes
        b"D" + bytes(8) + b"S",  # and what the first process of a cell says to the supervisor
    ]
)

PRETEND = {
    "python": f"""
# Speaks as the supervisor, to every descriptor and every path that leads to one. That none of them leads to the worker
# must stop it: all is output.
import glob, os
forged = {FORGED!r}
for descriptor in range(256):
    try: os.write(descriptor, forged)
    except OSError: pass
for path in glob.glob("/proc/*/fd/*") + glob.glob("/proc/*/task/*/fd/*") + glob.glob("/dev/std*"):
    try: os.write(os.open(path, os.O_WRONLY | os.O_NONBLOCK), forged)
    except OSError: pass
os._exit(5)
""",
    "javascript": f"""
// Speaks as the supervisor, to every descriptor below the first of Node's own. That none of them leads to the worker
// must stop it: all is output.
const fs = require('fs'), forged = Buffer.from('{FORGED.hex()}', 'hex');
for (const path of [0, 1, 2, '/proc/self/fd/1', '/proc/1/fd/1', '/proc/1/fd/15'])
  try {{ fs.writeSync(typeof path === 'number' ? path : fs.openSync(path, 'r+'), forged); }} catch {{ }}
process.exit(5);
""",
    "java": "// Speaks as the supervisor, to all paths of descriptors. That none leads to the worker must stop it.\n"
    + java(
        f'var forged = java.util.HexFormat.of().parseHex("{FORGED.hex()}");\n'
        '    for (var pid : new String[] {"self", "1", "2"}) for (int d = 0; d < 20; d++)\n'
        '      if (!(pid.equals("2") && d > 2) && !(pid.equals("self") && d > 2))\n'
        '        try (var out = new java.io.FileOutputStream("/proc/" + pid + "/fd/" + d)) { out.write(forged); }\n'
        "        catch (java.io.IOException e) { }\n"
        "    Runtime.getRuntime().halt(5);"
    ),
    "cpp": "// Speaks as the supervisor, to every descriptor. That none of them leads to the worker must stop it.\n"
    + cpp(
        "const unsigned char forged[] = {" + ", ".join(map(str, FORGED)) + "};\n"
        "  for (int d = 0; d < 256; d++) if (write(d, forged, sizeof forged) < 0) continue;\n  return 5;",
        "unistd.h",
    ),
}


@every_language
def test_frames_of_the_supervisor_are_only_output_when_a_program_writes_them(run: Run, language: str) -> None:
    result = run(language, PRETEND[language])
    assert (result.verdict, result.phase, result.exit_code) == (Verdict.RUNTIME_ERROR, Phase.RUN, 5)
    for stream in (result.stdout, result.stderr):
        assert FORGED in stream.content
        assert stream.content.replace(FORGED, b"") == b""
        assert not stream.truncated


@pytest.mark.parametrize(
    ("language", "program"),
    [
        (
            "python",
            (
                "# Says on every descriptor that its syntax is wrong. That the right one is closed must stop it.\n"
                "import os\nfor d in range(3, 64):\n    try: os.write(d, b'F')\n    except OSError: pass"
            ),
        ),
        (
            "python",
            (
                "# Takes its own place, with a pipe of its own as descriptor 3. That it is not root's must stop it.\n"
                "import os, sys\nif len(sys.argv) == 1:\n    ends = os.pipe(); os.dup2(ends[1], 3)\n"
                "    os.execv(sys.executable, [sys.executable, '-s', '-B', 'main.py', 'again'])\n"
                "os.fstat(3)"
            ),
        ),
        (
            "javascript",
            (
                "// Says on a descriptor that its syntax is wrong. That the one for it is closed by now must stop it.\n"
                "try { require('fs').writeSync(3, 'F'); } catch { }"
            ),
        ),
    ],
)
def test_a_running_program_cannot_pass_for_a_syntax_error(run: Run, language: str, program: str) -> None:
    result = run(language, program)
    assert (result.verdict, result.phase) == (Verdict.SUCCEEDED, Phase.RUN)
    assert (result.stdout, result.stderr) == (Stream(), Stream())


def test_a_program_in_the_place_of_the_first_is_left_in_peace(run: Run) -> None:
    program = (
        "import os, sys\nif len(sys.argv) == 1: os.execv(sys.executable, [sys.executable, 'main.py', '2'])\nprint(24)"
    )
    assert run("python", program).stdout.content == b"24\n"
    assert run("python", program).stderr.content == b""


@pytest.mark.parametrize(
    ("language", "program"),
    [
        ("python", "open('/run/report/heap-exhausted', 'w').close(); raise SystemExit(3)"),
        ("cpp", cpp('fclose(fopen("/run/report/heap-exhausted", "w")); return 3;', "cstdio")),
    ],
)
def test_a_program_cannot_pass_for_one_whose_heap_was_full(run: Run, language: str, program: str) -> None:
    # It puts a file where other languages' runtimes report that; these two have no such report to be believed.
    result = run(language, program)
    assert (result.verdict, result.exit_code) == (Verdict.RUNTIME_ERROR, 3)


# --- Compilers --------------------------------------------------------------------------------------------------------

REFUSED = {Verdict.COMPILE_ERROR}
BOUNDED = {Verdict.COMPILE_ERROR, Verdict.TIMEOUT, Verdict.MEMORY_LIMIT}
EMPTY = {Verdict.SUCCEEDED}


@pytest.mark.parametrize(
    ("program", "verdicts"),
    [
        ('// Has the compiler read for ever. Its limits must stop it.\n#include "/dev/zero"', BOUNDED),
        ('// Has the compiler wait for input. It has none: end of file.\n#include "/dev/stdin"', EMPTY),
        (
            '// Has the compiler quote a file in its errors. The image\'s own is no secret.\n#include "/etc/passwd"',
            REFUSED,
        ),
        (
            '// Has the compiler quote the environment of the first process. It is empty.\n#include "/proc/1/environ"',
            EMPTY,
        ),
        ('// Has the compiler quote a file of root\'s. Permissions must stop it.\n#include "/etc/shadow"', REFUSED),
        (
            "// Includes itself twice, without end. Depth, then time, must stop it.\n" + '#include "main.cpp"\n' * 2,
            BOUNDED,
        ),
        (
            "// Makes a program larger than the disk. The limit of files must stop it.\nchar a[200 << 20] = {1};",
            BOUNDED,
        ),
        ('// Assembles a file of the system. Permissions must stop it.\nasm(".incbin \\"/etc/shadow\\"");', REFUSED),
    ],
)
def test_a_compiler_is_no_way_out(run: Run, program: str, verdicts: set[Verdict]) -> None:
    result = run("cpp", program + "\nint main() {}", compile_time_ms=4_000)
    assert result.verdict in verdicts, result
    assert (result.phase is Phase.COMPILE) is (result.verdict is not Verdict.SUCCEEDED)
    assert result.compilation is not None
    for secret in (b"HOSTNAME", b"/usr/local/sbin", b"root:*"):
        assert secret not in result.compilation.stderr.content
    assert (result.stdout, result.stderr) == (Stream(), Stream())


def test_what_a_compiler_prints_is_cut_and_not_punished(run: Run) -> None:
    errors = run("cpp", "// Makes errors without end.\n" + "int f() { return x; }\n" * 1_500)
    assert errors.verdict is Verdict.COMPILE_ERROR
    assert errors.compilation is not None
    assert len(errors.compilation.stderr.content) == 256 << 10 < errors.compilation.stderr.total

    warnings = run("cpp", "// Makes warnings without end.\n" + f"#warning {'again' * 50}\n" * 800 + "int main() {}")
    assert warnings.verdict is Verdict.SUCCEEDED
    assert warnings.compilation is not None
    assert warnings.compilation.stderr.truncated


def test_files_cannot_take_part_in_the_compilation_of_java(run: Run) -> None:
    # Declares an annotation processor, which javac would run. That processing is off must stop it.
    files = {
        "META-INF/services/javax.annotation.processing.Processor": b"Evil",
        "Evil.java": b"this is no Java",
    }
    result = run("java", java("System.out.print(24);"), files=files)
    assert (result.verdict, result.stdout.content) == (Verdict.SUCCEEDED, b"24")


def test_a_compiled_program_is_the_one_that_was_sent(run: Run) -> None:
    # Sends files with the names of the source and of the product along. Neither may stand in for them.
    files = {"main": b"#!/bin/sh\necho forged\n", "main.cpp": b"int main() { return 9; }"}
    result = run("cpp", cpp('puts("24");', "cstdio"), files=files)
    assert (result.verdict, result.stdout.content) == (Verdict.SUCCEEDED, b"24\n")


def test_a_limit_that_was_not_reached_is_never_named(run: Run) -> None:
    result = run("python", "import resource, os; resource.setrlimit(resource.RLIMIT_CPU, (1, 1))\nwhile True: pass")
    assert (result.verdict, result.limit_exceeded) == (Verdict.RUNTIME_ERROR, None)
    assert result.signal in ("SIGXCPU", "SIGKILL")
