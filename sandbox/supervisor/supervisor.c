/* The supervisor: process 1 of a sandbox.
 *
 * Theory of operation
 * -------------------
 * The worker starts one container under gVisor whose only process is this one, and speaks with it in frames over the
 * container's stdin and stdout (see frame.h). It stages files, then asks for cells. A cell is one run of one program
 * or compiler:
 *
 *     supervisor (uid 0, this file)        watches: clock, CPU, memory, output; kills; measures; reports
 *       └── init of the cell (cell.c)      first process of a fresh PID, mount, IPC and network namespace:
 *             │                            mounts, starts the program, reaps orphans, ends everything with the program
 *             └── the program              a uid of its own, no capabilities, no descriptor but 0, 1, 2
 *                   └── whatever it starts
 *
 * Who ends whom: the program ends → its init kills and reaps all that is left in the cell, reports, and ends. A limit
 * is reached → the supervisor kills the init, and with it the kernel ends the whole PID namespace. The worker goes
 * away → end of file on our stdin → we end, and with process 1 the sandbox ends. We hang or lie → the worker's own
 * clock ends the container from outside.
 *
 * Each cell has a cgroup of its own *inside* gVisor (gVisor's kernel accounts CPU, memory and tasks by cgroup), so a
 * program cannot hide work in processes that nobody waits for. The container's cgroup on the host is the wall behind.
 *
 * CPU time is the one limit that we do not keep: gVisor counts a task that waits for a core of the host as running, so
 * its clock was seen 2.5 times too fast on a busy machine and 4 times too fast for 6 threads. The worker goes by the
 * host's count, which has gVisor's own work in it, and tells us when that is used up; we stop the cell when ours is, too.
 *
 * Nothing here reads or interprets what a program prints. All memory that grows is bounded by the limits of the cell.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cell.h"
#include "clock.h"
#include "frame.h"
#include "stage.h"

enum {
    WATCH_INTERVAL_MS = 20,     /* how often CPU and memory of a cell are looked at */
    TEARDOWN_MS = 5000,         /* how long a killed cell may take to be gone before the sandbox is called dirty */
    CHUNK = 65536,
};

/* The stdin of the next cell, as the worker sent it. */
static struct {
    unsigned char *bytes;
    size_t length, given;
} input;

/* One stream of the program on its way to the worker. */
struct stream {
    int descriptor; /* -1 once it has ended */
    char frame_type;
    uint64_t total, limit;
};

static void hello(bool cgroups)
{
    char log[256] = "", version[256] = "", text[600];
    klogctl(3 /* SYSLOG_ACTION_READ_ALL */, log, sizeof log - 1);
    int descriptor = open("/proc/version", O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0) {
        if (read(descriptor, version, sizeof version - 1) < 0)
            version[0] = 0;
        close(descriptor);
    }
    version[strcspn(version, "\n")] = 0;
    log[strcspn(log, "\n")] = 0;
    snprintf(text, sizeof text, "protocol 1\nkernel_log %s\nkernel_version %s\ncgroups %d\n", log, version, cgroups);
    frame_send(FRAME_HELLO, text, strlen(text));
}

/* Pass on what the program wrote: at most `limit` bytes travel, all are counted. */
static void pass_on(struct stream *stream)
{
    static unsigned char chunk[CHUNK];
    ssize_t got = read(stream->descriptor, chunk, sizeof chunk);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got <= 0) {
        close(stream->descriptor);
        stream->descriptor = -1;
        return;
    }
    uint64_t room = stream->total < stream->limit ? stream->limit - stream->total : 0;
    size_t passed = (uint64_t)got < room ? (size_t)got : (size_t)room;
    if (passed)
        frame_queue(stream->frame_type, chunk, passed);
    stream->total += (uint64_t)got;
}

static void feed(int *descriptor)
{
    ssize_t gave = write(*descriptor, input.bytes + input.given, input.length - input.given);
    if (gave > 0)
        input.given += (size_t)gave;
    bool gone = gave < 0 && errno != EAGAIN && errno != EINTR; /* EPIPE: the program closed its stdin, which it may */
    if (gone || input.given == input.length) {
        close(*descriptor);
        *descriptor = -1;
    }
}

struct watch {
    struct cell cell;
    struct cell_end end;
    const char *stopped_for;
    uint64_t number, started_us, killed_us, memory_peak_kb, cpu_us;
    bool ended, heap_exhausted, cpu_used_up;
};

static void stop(struct watch *watch, const char *limit)
{
    if (watch->stopped_for)
        return;
    watch->stopped_for = limit;
    watch->killed_us = clock_us();
    cell_kill(&watch->cell);
}

/* While a cell runs: the word to stop it, or an order for later. */
static void listen_to_worker(struct watch *watch)
{
    struct frame frame;
    if (!frame_read(&frame))
        _exit(0); /* the worker is gone */
    if (frame.type != FRAME_STOP)
        frame_put_off(&frame);
    else if (!watch->ended && strtoull((const char *)frame.payload, NULL, 10) == watch->number)
        watch->cpu_used_up = true; /* by its number: the cell that was meant may have ended, and another have begun */
}

static void measure(struct watch *watch, const struct cell_limits *limits)
{
    watch->cpu_us = cell_cpu_us(&watch->cell);
    uint64_t memory_kb = cell_memory_kb(&watch->cell);
    if (memory_kb > watch->memory_peak_kb)
        watch->memory_peak_kb = memory_kb;
    if (memory_kb > limits->memory_kb)
        stop(watch, "memory");
    else if (watch->cpu_used_up && watch->cpu_us > limits->cpu_ms * 1000) /* by both counts, see above */
        stop(watch, "cpu");
    else if (watch->started_us && grown(clock_us(), watch->started_us) > limits->wall_ms * 1000)
        stop(watch, "wall");
}

static void report(const struct watch *watch, const struct stream *out, const struct stream *err, bool dirty)
{
    char text[512];
    const struct cell_end *end = &watch->end;
    snprintf(text, sizeof text,
             "stopped_for %s\nexit_code %d\nsignal %d\nwall_us %llu\ncpu_us %llu\nmemory_kb %llu\nstdout_bytes %llu\n"
             "stderr_bytes %llu\ncheck %s\nheap_exhausted %d\ndirty %d\n",
             watch->stopped_for ? watch->stopped_for : "none", end->exit_code, end->signal,
             (unsigned long long)end->wall_us, (unsigned long long)watch->cpu_us,
             (unsigned long long)watch->memory_peak_kb, (unsigned long long)out->total, (unsigned long long)err->total,
             cell_check_name(watch->cell.check), watch->heap_exhausted, dirty);
    frame_queue(FRAME_ENDED, text, strlen(text));
    frame_flush();
}

/* Run one cell from its start to its report. */
static void run_cell(const struct cell_order *order)
{
    static uint64_t cells;
    struct watch watch = {.number = ++cells, .end = {.exit_code = -1}};
    if (!cell_start(&watch.cell, order)) {
        frame_fail("a cell could not be started");
        return;
    }
    struct stream out = {watch.cell.stdout_descriptor, FRAME_STDOUT, 0, order->limits.output_bytes};
    struct stream err = {watch.cell.stderr_descriptor, FRAME_STDERR, 0, order->limits.output_bytes};
    int in = watch.cell.stdin_descriptor;
    bool dirty = false;
    if (!input.length) {
        close(in);
        in = -1;
    }
    uint64_t next_measure_us = clock_us();

    /* The cell is over when its init has ended and nobody holds its streams any more. */
    while (!(watch.ended && out.descriptor < 0 && err.descriptor < 0)) {
        struct pollfd wanted[] = {
            {.fd = STDIN_FILENO, .events = POLLIN},
            {.fd = frame_pending() ? STDOUT_FILENO : -1, .events = POLLOUT},
            {.fd = watch.ended ? -1 : watch.cell.status_descriptor, .events = POLLIN},
            {.fd = out.descriptor, .events = POLLIN},
            {.fd = err.descriptor, .events = POLLIN},
            {.fd = in, .events = POLLOUT},
            {.fd = watch.cell.check == CHECK_PENDING ? watch.cell.check_descriptor : -1, .events = POLLIN},
        };
        if (poll(wanted, sizeof wanted / sizeof *wanted, WATCH_INTERVAL_MS) < 0 && errno != EINTR)
            _exit(3);
        if (wanted[0].revents)
            listen_to_worker(&watch);
        if (wanted[1].revents)
            frame_push();
        if (wanted[6].revents)
            cell_read_check(&watch.cell);
        if (wanted[3].revents)
            pass_on(&out);
        if (wanted[4].revents)
            pass_on(&err);
        if (wanted[5].revents)
            feed(&in);
        /* What a compiler prints is cut, not punished. */
        if (!watch.ended && !order->compile && (out.total > out.limit || err.total > err.limit))
            stop(&watch, "output");
        if (wanted[2].revents) {
            enum cell_news news = cell_read_status(&watch.cell, &watch.end);
            if (news == CELL_STARTED) {
                watch.started_us = clock_us();
            } else if (news == CELL_FAILED) {
                cell_kill(&watch.cell);
                cell_remove(&watch.cell, true);
                frame_fail(watch.end.failure);
                return;
            } else if (news == CELL_ENDED) {
                watch.ended = true;
                watch.killed_us = watch.killed_us ? watch.killed_us : clock_us();
            }
        }
        uint64_t now_us = clock_us();
        if (!watch.ended && now_us >= next_measure_us) {
            measure(&watch, &order->limits);
            next_measure_us = now_us + WATCH_INTERVAL_MS * 1000;
        }
        /* Not `now_us`: it may have been killed since. */
        if (watch.killed_us && grown(clock_us(), watch.killed_us) > TEARDOWN_MS * 1000ULL) {
            dirty = true;
            break;
        }
    }
    if (in >= 0)
        close(in);
    if (out.descriptor >= 0)
        close(out.descriptor);
    if (err.descriptor >= 0)
        close(err.descriptor);
    cell_read_check(&watch.cell);

    /* The last word on CPU time is the cgroup's: it counts also what ended between two looks. */
    watch.cpu_us = cell_cpu_us(&watch.cell);
    if (watch.end.cpu_us > watch.cpu_us)
        watch.cpu_us = watch.end.cpu_us;
    if (!watch.memory_peak_kb) /* it ended before the first look */
        watch.memory_peak_kb = watch.end.memory_kb;
    if (!watch.end.wall_us && watch.started_us)
        watch.end.wall_us = grown(watch.killed_us, watch.started_us);
    if (!watch.stopped_for && watch.end.wall_us > order->limits.wall_ms * 1000)
        watch.stopped_for = "wall";
    if (!watch.stopped_for && !order->compile && (out.total > out.limit || err.total > err.limit))
        watch.stopped_for = "output";
    watch.heap_exhausted = cell_left_report(&watch.cell);
    if (!cell_remove(&watch.cell, !dirty))
        dirty = true;
    report(&watch, &out, &err, dirty);
}

static void keep_input(const struct frame *frame)
{
    if (input.bytes)
        free(input.bytes);
    input.bytes = malloc(frame->length ? frame->length : 1);
    if (!input.bytes)
        frame_fail("no memory for stdin");
    else
        memcpy(input.bytes, frame->payload, frame->length);
    input.length = input.bytes ? frame->length : 0;
    input.given = 0;
}

/* What the engine put into our environment would be seen in /proc/1/environ of every cell. */
static void wipe_environment(void)
{
    for (char **variable = environ; *variable; variable++)
        memset(*variable, 0, strlen(*variable));
    *environ = NULL;
}

/* Devices that gVisor gives to everybody, that no program needs, and that a lot of code stands behind. */
static void remove_devices(void)
{
    unlink("/dev/fuse");
    unlink("/dev/net/tun");
}

int main(void)
{
    wipe_environment();
    remove_devices();
    prctl(PR_SET_DUMPABLE, 0); /* no process of another uid can look into this one, or leave it attached */
    signal(SIGPIPE, SIG_IGN);
    umask(022);
    bool cgroups = cell_prepare();
    if (!stage_prepare()) {
        frame_fail("the staging directory cannot be made");
        return 1;
    }
    hello(cgroups);
    for (;;) {
        struct frame frame;
        if (!frame_receive(&frame))
            return 0;
        if (frame.type == FRAME_FILE) {
            if (!stage_file(frame.payload, frame.length))
                frame_fail("a file could not be staged");
        } else if (frame.type == FRAME_PING) {
            frame_send(FRAME_PONG, "", 0);
        } else if (frame.type == FRAME_RESET) {
            if (!stage_clear())
                frame_fail("the staging directory cannot be emptied");
        } else if (frame.type == FRAME_EXPORT) {
            const char *how = stage_export() ? "complete" : "incomplete";
            frame_send(FRAME_EXPORTED, how, strlen(how));
        } else if (frame.type == FRAME_STDIN) {
            keep_input(&frame);
        } else if (frame.type == FRAME_CELL) {
            struct cell_order order;
            if (cell_order_parse(&order, frame.payload, frame.length))
                run_cell(&order);
            else
                frame_fail("a cell order could not be read");
            input.length = input.given = 0;
        } else if (frame.type != FRAME_STOP) { /* a cell may have ended while we were told to stop it */
            frame_fail("a frame of unknown type");
        }
    }
}
