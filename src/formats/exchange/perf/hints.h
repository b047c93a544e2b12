/* What would name functions that have no name, one line for each module.
 *
 * A zeroed one is ready for use.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_HINTS_H
#define CN_FORMATS_EXCHANGE_PERF_HINTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"

struct cn_text;

struct cn_perf_hints {
    struct cn_names modules;
    uint64_t *counts; /* samples, by module */
    size_t capacity;
    uint64_t total; /* samples */
};

/* Count a sample. `module` is the path of the innermost function of it without a name, "" for code
 * compiled at run time, or NULL: all have names. */
void cn_perf_hints_count(struct cn_perf_hints *hints, const char *module);

/* Append lines: of the modules without names in 1 % of samples or more, the first five. */
void cn_perf_hints_print(const struct cn_perf_hints *hints, struct cn_text *out);
void cn_perf_hints_done(struct cn_perf_hints *hints);

#endif
