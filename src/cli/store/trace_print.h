/* A stored trace on paper: as a tree, by method, as JSON, for the trace viewer of Chrome, and as
 * folded stacks.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_STORE_TRACE_PRINT_H
#define CN_CLI_STORE_TRACE_PRINT_H

#include <stdint.h>

struct cn_args;
struct cn_trace_set;

/* Which calls to show. */
struct cn_trace_cut {
    uint32_t depth;  /* calls nested deeper are left out; UINT32_MAX: none */
    uint64_t min_ns; /* shorter calls are left out */
};

void cn_trace_print_tree(const struct cn_trace_set *set, const struct cn_args *args,
                         const struct cn_trace_cut *cut);
void cn_trace_print_methods(const struct cn_trace_set *set, const struct cn_args *args,
                            const struct cn_trace_cut *cut);
void cn_trace_print_json(const struct cn_trace_set *set, const struct cn_args *args,
                         const struct cn_trace_cut *cut);
void cn_trace_print_chrome(const struct cn_trace_set *set, const struct cn_args *args,
                           const struct cn_trace_cut *cut);
void cn_trace_print_folded(const struct cn_trace_set *set, const struct cn_args *args,
                           const struct cn_trace_cut *cut);

#endif
