/* The strings of a section being written, each once.
 *
 * Add all strings, then write them at `end_off` as it was set at first. Zero the rest;
 * released with cn_hpc_strings_done().
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_STRINGS_H
#define CN_FORMATS_HPCTOOLKIT_STRINGS_H

#include "base/error.h"
#include "base/map.h"

struct cn_out;

struct cn_hpc_strings {
    uint64_t end_off;     /* set to the offset of the first string */
    bool takes_any_bytes; /* otherwise text that is not UTF-8 is escaped */
    struct cn_names names;
    uint64_t *offs; /* of each name in the file */
    size_t capacity;
};

/* The offset of `text` in the file. */
uint64_t cn_hpc_strings_add(struct cn_hpc_strings *strings, const char *text);
CN_CHECK bool cn_hpc_strings_write(const struct cn_hpc_strings *strings,
                                   struct cn_out *out, struct cn_error *err);
void cn_hpc_strings_done(struct cn_hpc_strings *strings);

#endif
