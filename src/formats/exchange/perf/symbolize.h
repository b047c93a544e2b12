/* Puts names of addresses into perf.data files (stored_symbols.h): those that are written, and
 * those that were written earlier or by perf.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_SYMBOLIZE_H
#define CN_FORMATS_EXCHANGE_PERF_SYMBOLIZE_H

#include <stddef.h>

#include "base/error.h"

struct cn_perf_writer;

struct cn_perf_symbolized {
    size_t count;      /* addresses with names */
    size_t line_count; /* of them, those with a line */
    size_t left_out;   /* addresses whose names had no room */
    char *
        hints; /* lines that say what would name others; the caller frees it; NULL: nothing */
};

/* Add the names of what was written, before cn_perf_writer_close(). Servers are not asked. Without
 * them the file is complete as well. */
CN_CHECK bool cn_perf_writer_add_symbols(struct cn_perf_writer *writer,
                                         struct cn_perf_symbolized *out,
                                         struct cn_error *err);

/* Write the file at `path` with names to `target`, which may be the same path. Programs and debug
 * files are looked for in `folders` as well. On failure the target is as it was. */
CN_CHECK bool cn_perf_symbolize(const char *path, const char *target,
                                const char *const *folders, size_t folder_count,
                                struct cn_perf_symbolized *out, struct cn_error *err);

#endif
