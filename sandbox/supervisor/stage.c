#define _GNU_SOURCE
#include "stage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "frame.h"

enum { DEPTH_MAX = 256 }; /* a level costs about 32 KiB and a descriptor; a compiler may have made more, see below */

bool stage_prepare(void)
{
    return mkdir(STAGE, 0700) == 0 || errno == EEXIST;
}

static bool write_fully(int descriptor, const unsigned char *bytes, size_t length)
{
    while (length) {
        ssize_t wrote = write(descriptor, bytes, length);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return false;
        bytes += wrote;
        length -= (size_t)wrote;
    }
    return true;
}

bool stage_file(const unsigned char *payload, size_t length)
{
    size_t path_length = strnlen((const char *)payload, length);
    char path[PATH_MAX];
    int printed = snprintf(path, sizeof path, STAGE "/%s", (const char *)payload);
    if (path_length == length || printed < 0 || (size_t)printed >= sizeof path)
        return false;
    for (char *slash = path + sizeof STAGE; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = 0;
        if (mkdir(path, 0755) != 0 && errno != EEXIST)
            return false;
    }
    const char *mode = (const char *)payload + path_length + 1;
    size_t mode_length = strnlen(mode, length - path_length - 1), head = path_length + 1 + mode_length + 1;
    if (head > length)
        return false;
    mode_t permissions = (mode_t)strtoul(mode, NULL, 8) & 0755;
    int descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, permissions);
    if (descriptor < 0)
        return false;
    bool done = write_fully(descriptor, payload + head, length - head);
    return close(descriptor) == 0 && done;
}

static bool is_zero(const unsigned char *bytes, size_t length)
{
    return !*bytes && !memcmp(bytes, bytes + 1, length - 1);
}

/* As write_fully, but what is zero becomes a hole: a linker leaves holes where alignment asks for them, and a copy that
 * is larger than the original would not fit where there is just room for it. */
static bool write_pages(int descriptor, const unsigned char *bytes, size_t length)
{
    enum { PAGE = 4096 };
    size_t start = 0, end;
    for (size_t page = 0; page < length; page = end) {
        end = page + PAGE < length ? page + PAGE : length;
        if (!is_zero(bytes + page, end - page))
            continue;
        if (!write_fully(descriptor, bytes + start, page - start) || lseek(descriptor, (off_t)(end - page), SEEK_CUR) < 0)
            return false;
        start = end;
    }
    return write_fully(descriptor, bytes + start, length - start);
}

static bool copy_file(int from, int to, const char *name, const struct stat *seen, uid_t uid)
{
    static unsigned char chunk[65536];
    int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (in < 0)
        return false;
    int out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, seen->st_mode & 0755);
    bool done = out >= 0;
    ssize_t got;
    while (done && (got = read(in, chunk, sizeof chunk)) != 0)
        done = got > 0 && write_pages(out, chunk, (size_t)got);
    if (out >= 0) {
        done = done && ftruncate(out, lseek(out, 0, SEEK_CUR)) == 0 && fchown(out, uid, uid) == 0;
        close(out);
    }
    close(in);
    return done;
}

static bool copy_tree(int from, int to, uid_t uid, int depth)
{
    DIR *directory = fdopendir(from);
    if (!directory)
        return false;
    bool done = true;
    struct dirent *entry;
    /* What lies too deep is left out: that the program misses it is its own failure. */
    while (done && depth < DEPTH_MAX && (entry = readdir(directory))) {
        const char *name = entry->d_name;
        struct stat seen;
        if (!strcmp(name, ".") || !strcmp(name, "..") || fstatat(from, name, &seen, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (S_ISREG(seen.st_mode)) {
            done = copy_file(from, to, name, &seen, uid);
        } else if (S_ISDIR(seen.st_mode)) {
            int below = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            int made = mkdirat(to, name, 0755) == 0 ? openat(to, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
            done = below >= 0 && made >= 0 && fchown(made, uid, uid) == 0 && copy_tree(below, made, uid, depth + 1);
            if (made >= 0)
                close(made);
        }
    }
    closedir(directory);
    return done;
}

bool stage_copy(int to, uid_t uid)
{
    int from = open(STAGE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return from >= 0 && copy_tree(from, to, uid, 0);
}

static bool give_tree(int directory_descriptor, uid_t uid, int depth)
{
    DIR *directory = fdopendir(directory_descriptor);
    if (!directory)
        return false;
    bool done = depth < DEPTH_MAX && fchown(directory_descriptor, uid, uid) == 0;
    struct dirent *entry;
    while (done && (entry = readdir(directory))) {
        const char *name = entry->d_name;
        if (!strcmp(name, ".") || !strcmp(name, ".."))
            continue;
        if (fchownat(directory_descriptor, name, uid, uid, AT_SYMLINK_NOFOLLOW) != 0)
            done = false;
        int below = openat(directory_descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0)
            done = give_tree(below, uid, depth + 1) && done;
    }
    closedir(directory);
    return done;
}

bool stage_give(uid_t uid)
{
    int top = open(STAGE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return top >= 0 && give_tree(top, uid, 0);
}

/* What lies too deep is moved to the top, and counted: it wants another round. */
static bool clear_tree(int directory_descriptor, int depth, int top, unsigned *moved)
{
    DIR *directory = fdopendir(directory_descriptor);
    if (!directory)
        return false;
    bool done = true;
    struct dirent *entry;
    while (done && (entry = readdir(directory))) {
        const char *name = entry->d_name;
        if (!strcmp(name, ".") || !strcmp(name, ".."))
            continue;
        if (unlinkat(directory_descriptor, name, 0) == 0)
            continue;
        if (depth == DEPTH_MAX) {
            char deep[32];
            snprintf(deep, sizeof deep, ".deep-%u", ++*moved);
            done = renameat(directory_descriptor, name, top, deep) == 0;
            continue;
        }
        int below = openat(directory_descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        done = below >= 0 && clear_tree(below, depth + 1, top, moved) &&
               unlinkat(directory_descriptor, name, AT_REMOVEDIR) == 0;
    }
    closedir(directory);
    return done;
}

bool stage_clear(void)
{
    int top = open(STAGE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool done = top >= 0 && fchown(top, 0, 0) == 0;
    unsigned moved = 0, moved_before;
    do {
        int again = done ? open(STAGE, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        moved_before = moved;
        done = again >= 0 && clear_tree(again, 0, top, &moved);
    } while (done && moved != moved_before);
    if (top >= 0)
        close(top);
    return done;
}

static bool export_file(int directory, const char *path, const char *name, mode_t mode, size_t *left)
{
    static unsigned char *buffer;
    if (!buffer && !(buffer = malloc(EXPORT_MAX + PATH_MAX + 16)))
        return false;
    int head = sprintf((char *)buffer, "%s%c%o%c", path, 0, mode & 0755, 0);
    int descriptor = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0)
        return false;
    size_t length = 0;
    ssize_t got = 0;
    /* One byte beyond what is left is asked for, to see whether there is more. */
    while (length <= *left && (got = read(descriptor, buffer + head + length, *left - length + 1)) > 0)
        length += (size_t)got;
    close(descriptor);
    if (got < 0 || length > *left)
        return false;
    *left -= length;
    frame_send(FRAME_ARTEFACT, buffer, (size_t)head + length);
    return true;
}

static bool export_tree(int directory_descriptor, const char *path, size_t *left, int depth)
{
    DIR *directory = fdopendir(directory_descriptor);
    if (!directory)
        return false;
    bool done = depth < DEPTH_MAX;
    struct dirent *entry;
    while (done && (entry = readdir(directory))) {
        const char *name = entry->d_name;
        char below_path[PATH_MAX];
        struct stat seen;
        if (!strcmp(name, ".") || !strcmp(name, ".."))
            continue;
        if (snprintf(below_path, sizeof below_path, "%s%s%s", path, *path ? "/" : "", name) >= (int)sizeof below_path ||
            fstatat(directory_descriptor, name, &seen, AT_SYMLINK_NOFOLLOW) != 0) {
            done = false;
        } else if (S_ISREG(seen.st_mode)) {
            done = export_file(directory_descriptor, below_path, name, seen.st_mode, left);
        } else if (S_ISDIR(seen.st_mode)) {
            int below = openat(directory_descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
            done = below >= 0 && export_tree(below, below_path, left, depth + 1);
        } else {
            done = false;
        }
    }
    closedir(directory);
    return done;
}

bool stage_export(void)
{
    size_t left = EXPORT_MAX;
    int top = open(STAGE, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return top >= 0 && export_tree(top, "", &left, 0);
}
