/* The names in files with system calls: strings, each with a NUL, which calls refer to by number.
 *
 * The arena owns the lists and strings.
 * Threads: any thread, each with its own arena.
 */
#ifndef CN_MODEL_IO_NAMES_H
#define CN_MODEL_IO_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"

struct cn_arena;
struct cn_io_call;

struct cn_io_names {
    const char **list;
    uint16_t *calls; /* the system call of this name, or CN_SYSTEM_CALL_NONE */
    size_t count;
};

/* Fails if the last string is cut off. */
CN_CHECK bool cn_io_names_read(struct cn_io_names *out, struct cn_bytes bytes,
                               struct cn_arena *arena, struct cn_error *err);

/* Complete a call that was read from a file: `name` is the number of its name. Fails if that is of no known
 * system call, if its target is none of the names, or if it ends before it begins. */
CN_CHECK bool cn_io_names_settle(const struct cn_io_names *names, uint32_t name,
                                 struct cn_io_call *call, struct cn_error *err);

#endif
