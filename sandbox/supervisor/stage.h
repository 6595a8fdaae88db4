/* The staging directory: the files of a program as the worker sent them and as the compiler left them. Root only. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define BOX "/box" /* a tmpfs of the container, mode 0700 */
#define STAGE "/box/stage"

enum { EXPORT_MAX = 15 << 20 }; /* more than this is not carried to another sandbox */

bool stage_prepare(void);
bool stage_clear(void);
bool stage_file(const unsigned char *payload, size_t length);

/* Copy the staged files into the open directory `to`, owned by `uid`. A compiler wrote here: links, devices and pipes
 * are passed over, never followed, and so is what lies deeper than anything sensible. */
bool stage_copy(int to, uid_t uid);

/* Hand the staging directory itself to a compiler that runs as `uid`. */
bool stage_give(uid_t uid);

/* Send every staged file to the worker. False when there is more than EXPORT_MAX, or something
 * that is no plain file. */
bool stage_export(void);
