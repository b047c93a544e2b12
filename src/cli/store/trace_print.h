/* A stored trace as a tree, a table of methods, JSON, or in a format of other tools.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_STORE_TRACE_PRINT_H
#define CN_CLI_STORE_TRACE_PRINT_H

#include <stdint.h>

#include "base/error.h"

struct cn_args;
struct cn_trace_branch;
struct cn_trace_set;

/* Which calls to hide, with all calls below them. */
struct cn_trace_cut {
    uint32_t depth;  /* calls nested deeper; UINT32_MAX: none */
    uint64_t min_ns; /* shorter calls */
};

/* True if a call is hidden. */
bool cn_trace_is_cut(const struct cn_trace_cut *cut, const struct cn_trace_branch *branch,
                     uint32_t node, uint32_t depth);

void cn_trace_print_tree(const struct cn_trace_set *set, const struct cn_args *args,
                         const struct cn_trace_cut *cut);
/* The calls on the critical path, with the time that it spends in each. */
void cn_trace_print_path(const struct cn_trace_set *set, const struct cn_args *args);

void cn_trace_print_methods(const struct cn_trace_set *set, const struct cn_args *args,
                            const struct cn_trace_cut *cut);
void cn_trace_print_json(const struct cn_trace_set *set, const struct cn_args *args,
                         const struct cn_trace_cut *cut);

/* OpenTelemetry JSON, with all calls. */
void cn_trace_print_otlp(const struct cn_trace_set *set, const struct cn_args *args);

/* The calls as Chrome's trace events or folded stacks on stdout. */
CN_CHECK bool cn_trace_export(const struct cn_trace_set *set, const char *format,
                              const struct cn_trace_cut *cut, struct cn_error *err);

#endif
