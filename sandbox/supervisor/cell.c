#define _GNU_SOURCE
#include "cell.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "frame.h"
#include "stage.h"

#define ROOT "/box/cell" /* where the cell's tmpfs is mounted; its folders are bound to the places the program knows */
#define WORK "/work"
#define REPORT "/run/report"

enum { TASKS_GONE_MS = 2000 }; /* how long the tasks of a cell may take to be gone after its init */

enum { CANNOT_EXECUTE = 126 }; /* as a shell has it */

/* gVisor's kernel has cgroups of its own; all cells, one after the other, use this one. The descriptors are -1 where it
 * cannot be made (the insecure runtime of a developer): resource limits and the container's cgroup are then all there
 * is. `meminfo` is about the whole sandbox, where only the cell and we use memory. */
static struct {
    int tasks_join, cpu_join; /* cgroup.procs of each controller */
    int tasks_limit, tasks_count, cpu_usage, meminfo;
} kernel = {-1, -1, -1, -1, -1, -1};

/* ---- the order ---- */

struct fields {
    const char *next, *end;
};

static const char *field(struct fields *fields)
{
    if (fields->next >= fields->end)
        return NULL;
    const char *found = fields->next;
    size_t length = strnlen(found, (size_t)(fields->end - found));
    fields->next = found + length + 1;
    return found;
}

static bool number(struct fields *fields, uint64_t *into)
{
    const char *text = field(fields);
    char *rest;
    if (!text || !*text)
        return false;
    errno = 0;
    *into = strtoull(text, &rest, 10);
    return !*rest && !errno;
}

static bool strings(struct fields *fields, char **into)
{
    uint64_t count;
    if (!number(fields, &count) || count > ARGS_MAX)
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (!(into[i] = (char *)field(fields)))
            return false;
    into[count] = NULL;
    return true;
}

bool cell_order_parse(struct cell_order *order, const unsigned char *payload, size_t length)
{
    struct fields fields = {(const char *)payload, (const char *)payload + length};
    struct cell_limits *limits = &order->limits;
    uint64_t compile, check, uid;
    bool read = number(&fields, &compile) && number(&fields, &check) && number(&fields, &uid) &&
                number(&fields, &limits->wall_ms) && number(&fields, &limits->cpu_ms) &&
                number(&fields, &limits->memory_kb) && number(&fields, &limits->processes) &&
                number(&fields, &limits->output_bytes) && number(&fields, &limits->disk_kb) &&
                number(&fields, &limits->stack_kb) && strings(&fields, order->argv) &&
                strings(&fields, order->environment);
    order->compile = compile;
    order->check = check;
    order->uid = (uid_t)uid;
    return read && uid >= 1000 && order->argv[0];
}

/* ---- the first process of the cell and the program: both run inside the namespaces ---- */

struct descriptors {
    int in, out, err, check, status, go;
};

static _Noreturn void give_up(int status, const char *what)
{
    struct cell_end end = {.exit_code = -1};
    snprintf(end.failure, sizeof end.failure, "%s: %s", what, strerror(errno));
    char kind = 'X';
    if (write(status, &kind, 1) == 1 && write(status, &end, sizeof end) < 0)
        _exit(1);
    _exit(1);
}

static void bind_or_give_up(int status, const char *from, const char *to)
{
    if (mount(from, to, NULL, MS_BIND, NULL) != 0)
        give_up(status, to);
}

/* The program sees its own processes, its own files, and nothing of the supervisor's. */
static void make_view(int status, bool compile)
{
    bind_or_give_up(status, compile ? STAGE : ROOT "/work", WORK);
    bind_or_give_up(status, ROOT "/tmp", "/tmp");
    bind_or_give_up(status, ROOT "/shm", "/dev/shm");
    bind_or_give_up(status, ROOT "/report", REPORT);
    if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
        give_up(status, "/proc");
    /* The staging directory and the cgroups are closed to the program's uid as it is; out of sight is better still. */
    umount2(ROOT, MNT_DETACH);
    umount2(BOX, MNT_DETACH);
    umount2("/sys", MNT_DETACH);
}

static void limit(int resource, rlim_t value)
{
    setrlimit(resource, &(struct rlimit){value, value});
}

static void set_resource_limits(const struct cell_limits *limits)
{
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_NOFILE, 1024);
    limit(RLIMIT_MEMLOCK, 0);
    limit(RLIMIT_FSIZE, limits->disk_kb * 1024);
    limit(RLIMIT_STACK, limits->stack_kb * 1024);
    /* The cgroup's own limit was seen to let some more through, and does not count zombies. There is none for CPU time:
     * the clock that it would go by runs fast, see supervisor.c. */
    limit(RLIMIT_NPROC, limits->processes);
}

#define SYSCALL(member) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, member))
#define ON(test, value, then, otherwise) BPF_JUMP(BPF_JMP | test | BPF_K, value, then, otherwise)
#define RETURN(value) BPF_STMT(BPF_RET | BPF_K, value)

#ifndef SYS_mknod /* newer architectures have mknodat only */
#define SYS_mknod SYS_mknodat
#endif

/* In a user namespace of its own a program would have every capability: it could mount file systems that no limit
 * holds for. To the others it has no right, but gVisor asks for none when a mount namespace is cloned. clone3 keeps its
 * flags in memory, where no filter sees them; the C library does without it.
 * gVisor lets anybody make device files, and honours no nodev: the devices that remove_devices() takes away would be
 * back. Pipes and sockets have other modes; S_IFCHR is a bit of S_IFBLK. */
enum {
    NEW_NAMESPACES = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS |
                     CLONE_NEWCGROUP,
};
static struct sock_filter forbidden[] = {
    SYSCALL(nr),
    ON(BPF_JEQ, SYS_clone3, 12, 0),
    ON(BPF_JEQ, SYS_unshare, 3, 0),
    ON(BPF_JEQ, SYS_clone, 2, 0),
    ON(BPF_JEQ, SYS_mknodat, 5, 0),
    ON(BPF_JEQ, SYS_mknod, 2, 6),
    SYSCALL(args[0]), /* its lower half: both architectures that gVisor knows are little endian */
    ON(BPF_JSET, NEW_NAMESPACES, 5, 4),
    SYSCALL(args[1]),
    BPF_STMT(BPF_JMP | BPF_JA, 1),
    SYSCALL(args[2]),
    ON(BPF_JSET, S_IFCHR, 1, 0),
    RETURN(SECCOMP_RET_ALLOW),
    RETURN(SECCOMP_RET_ERRNO | EPERM),
    RETURN(SECCOMP_RET_ERRNO | ENOSYS),
};

static bool forbid_calls(void)
{
    struct sock_fprog filter = {sizeof forbidden / sizeof *forbidden, forbidden};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/* Runs between vfork and exec, in the memory of the init: only system calls, and what went wrong as the result. */
static int become_program(const struct cell_order *order, const struct descriptors *descriptors)
{
    if (dup2(descriptors->in, 0) < 0 || dup2(descriptors->out, 1) < 0 || dup2(descriptors->err, 2) < 0)
        return errno;
    int first_closed = 3;
    if (order->check) {
        if (dup2(descriptors->check, 3) < 0)
            return errno;
        first_closed = 4;
    }
    if (syscall(SYS_close_range, first_closed, ~0U, 0) != 0)
        for (int descriptor = first_closed; descriptor < 256; descriptor++)
            close(descriptor);
    setsid();
    set_resource_limits(&order->limits);
    if (chdir(WORK) != 0 || setgroups(0, NULL) != 0 || setresgid(order->uid, order->uid, order->uid) != 0 ||
        setresuid(order->uid, order->uid, order->uid) != 0 || !forbid_calls())
        return errno;
    signal(SIGPIPE, SIG_DFL);
    execve(order->argv[0], order->argv, order->environment);
    /* What the compiler made of the program's own words (a strange .interp section, segments larger than any memory) may
     * be such that no kernel starts it. That is its failure, not ours; a runtime of the image always starts. */
    if (!order->compile && order->argv[0][0] != '/')
        _exit(CANNOT_EXECUTE);
    return errno;
}

static _Noreturn void init_of_cell(const struct cell_order *order, const struct descriptors *descriptors)
{
    char go;
    prctl(PR_SET_DUMPABLE, 0);
    if (read(descriptors->go, &go, 1) != 1) /* wait until we are in the cgroup */
        _exit(1);
    make_view(descriptors->status, order->compile);
    if (write(descriptors->status, "S", 1) != 1)
        _exit(1);

    uint64_t started_us = clock_us();
    volatile int error = 0;
    pid_t program = vfork();
    if (program == 0) {
        error = become_program(order, descriptors);
        _exit(127);
    }
    if (program < 0 || error) {
        errno = error ? error : errno;
        give_up(descriptors->status, "exec");
    }
    /* Our copies would keep the streams open after the program has closed its own. */
    close(descriptors->in);
    close(descriptors->out);
    close(descriptors->err);
    close(descriptors->check);

    struct cell_end end = {0};
    struct rusage usage;
    int status;
    pid_t ended;
    while ((ended = wait4(-1, &status, 0, &usage)) != program)
        if (ended < 0 && errno != EINTR)
            _exit(1);
    end.wall_us = grown(clock_us(), started_us);
    end.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end.memory_kb = (uint64_t)usage.ru_maxrss;

    /* The program has ended, and with it whatever it left running. */
    do
        kill(-1, SIGKILL);
    while ((ended = wait4(-1, NULL, 0, NULL)) > 0 || (ended < 0 && errno == EINTR));
    getrusage(RUSAGE_CHILDREN, &usage);
    end.cpu_us = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
                 (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    if (write(descriptors->status, "D", 1) != 1 || write(descriptors->status, &end, sizeof end) != sizeof end)
        _exit(1);
    _exit(0);
}

/* ---- the supervisor's side ---- */

static int open_control(const char *controller, const char *file, int flags)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/fs/cgroup/%s/cell/%s", controller, file);
    return open(path, flags | O_CLOEXEC);
}

bool cell_prepare(void)
{
    mkdir("/sys/fs/cgroup/pids/cell", 0755);
    mkdir("/sys/fs/cgroup/cpuacct/cell", 0755);
    kernel.tasks_join = open_control("pids", "cgroup.procs", O_WRONLY);
    kernel.tasks_limit = open_control("pids", "pids.max", O_WRONLY);
    kernel.tasks_count = open_control("pids", "pids.current", O_RDONLY);
    kernel.cpu_join = open_control("cpuacct", "cgroup.procs", O_WRONLY);
    kernel.cpu_usage = open_control("cpuacct", "cpuacct.usage", O_RDONLY);
    kernel.meminfo = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
    return kernel.tasks_join >= 0 && kernel.tasks_limit >= 0 && kernel.tasks_count >= 0 && kernel.cpu_join >= 0 &&
           kernel.cpu_usage >= 0 && kernel.meminfo >= 0;
}

static bool write_number(int descriptor, uint64_t value)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    return pwrite(descriptor, text, (size_t)length, 0) == length;
}

static uint64_t read_counter(int descriptor)
{
    char text[32] = "";
    return descriptor >= 0 && pread(descriptor, text, sizeof text - 1, 0) > 0 ? strtoull(text, NULL, 10) : 0;
}

static uint64_t meminfo_kb(const char *text, const char *name)
{
    const char *line = strstr(text, name);
    return line ? strtoull(line + strlen(name), NULL, 10) : 0;
}

/* Anonymous memory of the whole sandbox: pages shared after a fork count once, the read-only pages of the image's files
 * do not count, and files in the cell's tmpfs have a limit of their own. */
static uint64_t anonymous_kb(void)
{
    char text[2048];
    ssize_t got = pread(kernel.meminfo, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = 0;
    return grown(meminfo_kb(text, "AnonPages:"), meminfo_kb(text, "Shmem:"));
}

static bool make_folder(int root, const char *name, mode_t mode, uid_t uid)
{
    /* mkdir honours the umask, chmod does not */
    return mkdirat(root, name, mode) == 0 && fchmodat(root, name, mode, 0) == 0 &&
           fchownat(root, name, uid, uid, 0) == 0;
}

/* One tmpfs holds all that the cell may write, so that its size is the disk limit. What was staged is on top of it. */
static bool make_root(struct cell *cell, const struct cell_order *order)
{
    struct statfs staged;
    char options[64];
    if (statfs(BOX, &staged) != 0)
        return false;
    uint64_t staged_kb = (uint64_t)(staged.f_blocks - staged.f_bfree) * (uint64_t)staged.f_bsize / 1024;
    snprintf(options, sizeof options, "size=%lluk,mode=0755",
             (unsigned long long)(order->limits.disk_kb + staged_kb + 64));
    if (mkdir(ROOT, 0755) != 0 && errno != EEXIST)
        return false;
    if (mount("cell", ROOT, "tmpfs", MS_NOSUID | MS_NODEV, options) != 0)
        return false;
    cell->root_descriptor = open(ROOT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int root = cell->root_descriptor;
    if (root < 0 || !make_folder(root, "work", 0700, order->uid) || !make_folder(root, "tmp", 01777, 0) ||
        !make_folder(root, "shm", 01777, 0) || !make_folder(root, "report", 0700, order->uid))
        return false;
    if (order->compile)
        return stage_give(order->uid);
    int work = openat(root, "work", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool copied = work >= 0 && stage_copy(work, order->uid);
    if (work >= 0)
        close(work);
    return copied;
}

/* A pipe whose end for the program belongs to it, else it could not open /dev/stdin and the like again. The one for
 * the check stays root's, by which the language's start-up knows it from a pipe of the program's own. */
static bool make_pipe(int *ours, int *theirs, bool theirs_reads, uid_t uid)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    *theirs = ends[theirs_reads ? 0 : 1];
    *ours = ends[theirs_reads ? 1 : 0];
    return fchown(*theirs, uid, uid) == 0 && fcntl(*ours, F_SETFL, O_NONBLOCK) == 0;
}

/* gVisor lets any process of the cell open again what /proc/1/fd shows, wherever the file's own permissions allow it:
 * the init keeps nothing of the supervisor's, the stream to the worker least of all. */
static void drop_descriptors(const struct cell *cell)
{
    const int ours[] = {
        STDIN_FILENO,           STDOUT_FILENO,           STDERR_FILENO,          cell->stdin_descriptor,
        cell->stdout_descriptor, cell->stderr_descriptor, cell->check_descriptor, cell->status_descriptor,
        cell->root_descriptor,  kernel.tasks_join,       kernel.tasks_limit,     kernel.tasks_count,
        kernel.cpu_join,        kernel.cpu_usage,        kernel.meminfo,
    };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        close(ours[i]);
}

bool cell_start(struct cell *cell, const struct cell_order *order)
{
    struct descriptors theirs;
    int go[2], status[2];
    *cell = (struct cell){.root_descriptor = -1, .check = order->check ? CHECK_PENDING : CHECK_NONE};
    if (!make_root(cell, order))
        return false;
    if (kernel.tasks_limit >= 0 && !write_number(kernel.tasks_limit, order->limits.processes + 1)) /* and the init */
        return false;
    cell->cpu_before_us = read_counter(kernel.cpu_usage) / 1000;
    cell->memory_before_kb = grown(anonymous_kb(), frame_queue_kb());
    if (!make_pipe(&cell->stdin_descriptor, &theirs.in, true, order->uid) ||
        !make_pipe(&cell->stdout_descriptor, &theirs.out, false, order->uid) ||
        !make_pipe(&cell->stderr_descriptor, &theirs.err, false, order->uid) ||
        !make_pipe(&cell->check_descriptor, &theirs.check, false, 0) || pipe2(status, O_CLOEXEC) != 0 ||
        pipe2(go, O_CLOEXEC) != 0)
        return false;
    cell->status_descriptor = status[0];
    theirs.status = status[1];
    theirs.go = go[0];

    cell->init = (pid_t)syscall(SYS_clone, CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWNET | SIGCHLD, 0, 0, 0, 0);
    if (cell->init == 0) {
        close(go[1]); /* else the init would never see the end of a supervisor that died */
        drop_descriptors(cell);
        init_of_cell(order, &theirs);
    }
    close(theirs.in);
    close(theirs.out);
    close(theirs.err);
    close(theirs.check);
    close(theirs.status);
    close(theirs.go);
    if (cell->init > 0) {
        bool joined = kernel.tasks_join < 0 || (write_number(kernel.tasks_join, (uint64_t)cell->init) &&
                                                write_number(kernel.cpu_join, (uint64_t)cell->init));
        /* A cell that is not in its cgroup would be without limits: it never gets its go. */
        if (!joined || write(go[1], "g", 1) != 1)
            cell_kill(cell);
    }
    close(go[1]);
    return cell->init > 0;
}

enum cell_news cell_read_status(struct cell *cell, struct cell_end *end)
{
    char kind;
    ssize_t got = read(cell->status_descriptor, &kind, 1);
    if (got < 0)
        return CELL_NOTHING;
    if (got == 0) /* the init was killed: by us for a limit, or with the report left out by something we do not know */
        return CELL_ENDED;
    if (kind == 'S')
        return CELL_STARTED;
    if (read(cell->status_descriptor, end, sizeof *end) != sizeof *end)
        *end = (struct cell_end){.exit_code = -1, .failure = "the init of a cell broke off"};
    return kind == 'D' ? CELL_ENDED : CELL_FAILED;
}

void cell_read_check(struct cell *cell)
{
    char said;
    if (cell->check != CHECK_PENDING)
        return;
    ssize_t got = read(cell->check_descriptor, &said, 1);
    if (got == 1)
        cell->check = said == 'P' ? CHECK_PASSED : CHECK_FAILED;
    else if (got == 0)
        cell->check = CHECK_SILENT;
}

const char *cell_check_name(enum cell_check check)
{
    static const char *const names[] = {"none", "silent", "passed", "failed", "silent"};
    return names[check];
}

uint64_t cell_cpu_us(const struct cell *cell)
{
    return grown(read_counter(kernel.cpu_usage) / 1000, cell->cpu_before_us);
}

uint64_t cell_memory_kb(const struct cell *cell)
{
    if (kernel.cpu_usage < 0) /* not gVisor: this would be the memory of the whole machine */
        return 0;
    return grown(anonymous_kb(), cell->memory_before_kb + frame_queue_kb());
}

void cell_kill(const struct cell *cell)
{
    kill(cell->init, SIGKILL);
}

bool cell_left_report(const struct cell *cell)
{
    int folder = openat(cell->root_descriptor, "report", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *directory = folder >= 0 ? fdopendir(folder) : NULL;
    bool found = false;
    if (directory) {
        for (struct dirent *entry; !found && (entry = readdir(directory));)
            found = entry->d_name[0] != '.';
        closedir(directory);
    }
    return found;
}

bool cell_remove(struct cell *cell, bool wait)
{
    bool clean = waitpid(cell->init, NULL, wait ? 0 : WNOHANG) == cell->init;
    close(cell->status_descriptor);
    close(cell->check_descriptor);
    /* The end of its init ends them all, but the last are still on their way out when that is told. */
    for (int look = 0; kernel.tasks_count >= 0 && read_counter(kernel.tasks_count) != 0; look++) {
        if (look == TASKS_GONE_MS) {
            clean = false; /* something of the cell lives on */
            break;
        }
        usleep(1000);
    }
    close(cell->root_descriptor);
    return umount2(ROOT, MNT_DETACH) == 0 && clean;
}
