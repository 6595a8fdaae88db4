/* A cell: one run of one program or compiler, in namespaces, a cgroup, a file system and a uid of its own. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { ARGS_MAX = 256 };

struct cell_limits {
    uint64_t wall_ms, cpu_ms, memory_kb, processes, output_bytes, disk_kb, stack_kb;
};

/* What the worker asks for. On the wire: NUL-terminated fields in this order, argv and environment each preceded by
 * their number. */
struct cell_order {
    bool compile; /* works in the staging directory itself, so that what it makes is there for the cells to come */
    bool check;   /* the program's first act is to say on descriptor 3 whether its syntax is right */
    uid_t uid;
    struct cell_limits limits;
    char *argv[ARGS_MAX + 1], *environment[ARGS_MAX + 1];
};

bool cell_order_parse(struct cell_order *order, const unsigned char *payload, size_t length);

/* Only the language's own start-up, before it closes descriptor 3, can say something here; the program never holds it. */
enum cell_check { CHECK_NONE, CHECK_PENDING, CHECK_PASSED, CHECK_FAILED, CHECK_SILENT };

struct cell {
    pid_t init;
    enum cell_check check;
    int stdin_descriptor, stdout_descriptor, stderr_descriptor, status_descriptor, check_descriptor;
    int root_descriptor;        /* the cell's tmpfs */
    uint64_t cpu_before_us;     /* what the cgroup had used before: one serves all cells, one after the other */
    uint64_t memory_before_kb;  /* what we used ourselves when it began */
};

enum cell_news { CELL_NOTHING, CELL_STARTED, CELL_FAILED, CELL_ENDED };

struct cell_end {
    int exit_code, signal; /* of the program; -1 and 0 when its init did not live to tell */
    uint64_t wall_us, cpu_us, memory_kb;
    char failure[80];
};

bool cell_prepare(void); /* once, before the first cell; false when there are no cgroups */
bool cell_start(struct cell *cell, const struct cell_order *order);
enum cell_news cell_read_status(struct cell *cell, struct cell_end *end);
void cell_read_check(struct cell *cell);
const char *cell_check_name(enum cell_check check);
uint64_t cell_cpu_us(const struct cell *cell);
uint64_t cell_memory_kb(const struct cell *cell);
bool cell_left_report(const struct cell *cell); /* whether the language runtime left a report: its heap was full */
void cell_kill(const struct cell *cell);
/* False when something of the cell could not be removed. `wait`: for the end of its init, which has been told to end. */
bool cell_remove(struct cell *cell, bool wait);
