/* Frames: one byte of type, four bytes of length (big endian), the payload. The worker's side is sandbox/protocol.py. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* from the worker */
    FRAME_PING = 'P',  /* answered with a pong: the sandbox is well */
    FRAME_RESET = 'R', /* empty the staging directory: another program is to come */
    FRAME_FILE = 'F',  /* path, NUL, mode in octal, NUL, content: goes into the staging directory */
    FRAME_EXPORT = 'G', /* send what is staged: what a compiler made, to be staged again elsewhere */
    FRAME_STDIN = 'I', /* what the next cell reads */
    FRAME_CELL = 'C',  /* run a cell: NUL-terminated fields, see cell.h */
    FRAME_STOP = 'K',  /* the cell of this number (in decimal, from 1) has used up its CPU time */
    /* to the worker */
    FRAME_HELLO = 'H',
    FRAME_PONG = 'Q',
    FRAME_ARTEFACT = 'A', /* one staged file, as FRAME_FILE has it */
    FRAME_EXPORTED = 'Z', /* that was all: "complete", or "incomplete" when not everything could be sent */
    FRAME_STDOUT = 'O',
    FRAME_STDERR = 'E',
    FRAME_ENDED = 'D',  /* the report of a cell: lines of key, space, value */
    FRAME_FAILED = 'X', /* we could not do what was asked; the sandbox is of no more use */
};

enum { FRAME_MAX = 16 << 20 };

struct frame {
    char type;
    const unsigned char *payload; /* valid until the next frame is received */
    size_t length;
};

bool frame_receive(struct frame *frame); /* what was put off first; false at the end of the worker's stream */
bool frame_read(struct frame *frame);    /* what comes next from the worker */
void frame_put_off(const struct frame *frame);
void frame_send(char type, const void *payload, size_t length);
void frame_fail(const char *why);

/* Output of a program is queued and pushed when the pipe takes it, so that a slow worker never stops our clock. */
void frame_queue(char type, const void *payload, size_t length);
bool frame_pending(void);
size_t frame_queue_kb(void); /* memory that the queue holds */
void frame_push(void);  /* as much as the pipe takes now */
void frame_flush(void); /* all of it, however long it takes */
