#define _GNU_SOURCE
#include "frame.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Without memory for the worker's words there is nothing left to do in this sandbox. */
static void *need(void *memory)
{
    if (!memory)
        _exit(4);
    return memory;
}

static bool read_fully(unsigned char *into, size_t length)
{
    while (length) {
        ssize_t got = read(STDIN_FILENO, into, length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        into += got;
        length -= (size_t)got;
    }
    return true;
}

enum { PUT_OFF_MAX = 8 }; /* the worker orders two cells ahead at most, each with its stdin */

static struct {
    struct frame frames[PUT_OFF_MAX];
    size_t first, count;
} put_off;

void frame_put_off(const struct frame *frame)
{
    if (put_off.count == PUT_OFF_MAX)
        _exit(5);
    unsigned char *copy = need(malloc(frame->length + 1));
    memcpy(copy, frame->payload, frame->length + 1); /* and the NUL behind it */
    put_off.frames[(put_off.first + put_off.count++) % PUT_OFF_MAX] = (struct frame){frame->type, copy, frame->length};
}

bool frame_receive(struct frame *frame)
{
    static void *given; /* what was given last time is of no more use */
    free(given);
    given = NULL;
    if (!put_off.count)
        return frame_read(frame);
    *frame = put_off.frames[put_off.first];
    given = (void *)frame->payload;
    put_off.first = (put_off.first + 1) % PUT_OFF_MAX;
    put_off.count--;
    return true;
}

bool frame_read(struct frame *frame)
{
    static unsigned char *buffer;
    static size_t room;
    unsigned char head[5];
    if (!read_fully(head, sizeof head))
        return false;
    size_t length = (size_t)head[1] << 24 | (size_t)head[2] << 16 | (size_t)head[3] << 8 | head[4];
    if (length > FRAME_MAX)
        return false;
    if (length + 1 > room)
        buffer = need(realloc(buffer, room = length + 1));
    if (!read_fully(buffer, length))
        return false;
    buffer[length] = 0; /* so that a last field without its NUL ends all the same */
    *frame = (struct frame){(char)head[0], buffer, length};
    return true;
}

static struct {
    unsigned char *bytes;
    size_t start, end, room;
} queue;

void frame_queue(char type, const void *payload, size_t length)
{
    size_t wanted = queue.end + length + 5;
    if (wanted > queue.room)
        queue.bytes = need(realloc(queue.bytes, queue.room = wanted * 2));
    unsigned char head[5] = {(unsigned char)type, (unsigned char)(length >> 24), (unsigned char)(length >> 16),
                             (unsigned char)(length >> 8), (unsigned char)length};
    memcpy(queue.bytes + queue.end, head, 5);
    memcpy(queue.bytes + queue.end + 5, payload, length);
    queue.end = wanted;
}

bool frame_pending(void)
{
    return queue.start < queue.end;
}

size_t frame_queue_kb(void)
{
    return queue.room / 1024;
}

void frame_push(void)
{
    struct pollfd wanted = {.fd = STDOUT_FILENO, .events = POLLOUT};
    while (frame_pending() && poll(&wanted, 1, 0) == 1) {
        /* 4 KiB: what a pipe that is ready takes without blocking. Larger single writes to a host pipe were seen cut. */
        size_t left = queue.end - queue.start, piece = left < 4096 ? left : 4096;
        ssize_t wrote = write(STDOUT_FILENO, queue.bytes + queue.start, piece);
        if (wrote < 0 && errno != EINTR && errno != EAGAIN)
            _exit(0);
        if (wrote > 0)
            queue.start += (size_t)wrote;
    }
    if (!frame_pending())
        queue.start = queue.end = 0;
}

void frame_flush(void)
{
    struct pollfd wanted = {.fd = STDOUT_FILENO, .events = POLLOUT};
    while (frame_pending()) {
        poll(&wanted, 1, -1);
        frame_push();
    }
}

void frame_send(char type, const void *payload, size_t length)
{
    frame_queue(type, payload, length);
    frame_flush();
}

void frame_fail(const char *why)
{
    frame_send(FRAME_FAILED, why, strlen(why));
}
