/* Printable names of a recording's functions: control characters and bytes that are not
 * UTF-8 appear as \xHH. Names that are printable are borrowed.
 * Threads: immutable after init.
 */
#ifndef CN_CLI_RECORDING_CALL_NAMES_H
#define CN_CLI_RECORDING_CALL_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct cn_recording;

struct cn_call_names {
    const struct cn_recording *rec;
    const char **list; /* by function */
    size_t *lens;
    struct cn_arena arena;
};

void cn_call_names_init(struct cn_call_names *names, const struct cn_recording *rec);
void cn_call_names_done(struct cn_call_names *names);

/* A function's name, or one made from the address in `buffer`; see cn_call_name(). */
const char *cn_call_names_at(const struct cn_call_names *names, uint32_t function,
                             uint64_t address, char *buffer, size_t *len);

#endif
