/* The frame of a Firefox profile, and the tables of one of its threads: stacks, frames,
 * functions, strings.
 *
 *     cn_firefox_begin(x, title, start)
 *     for each thread: cn_firefox_thread_begin(); samples; "},\n"; tables
 *     cn_firefox_end(x);
 *
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_STACKS_FIREFOX_TABLES_H
#define CN_FORMATS_EXCHANGE_STACKS_FIREFOX_TABLES_H

#include "base/map.h"
#include "formats/exchange/stacks/stacks.h"

void cn_firefox_begin(struct cn_export *x, const char *title, uint64_t start_ns);
void cn_firefox_end(struct cn_export *x);

/* Up to the opening of the samples. */
void cn_firefox_thread_begin(struct cn_export *x, bool is_first, const char *name,
                             uint32_t pid, uint32_t tid, bool is_main);

/* Set `x`, zero the rest. Add all stacks in order, then write. */
struct cn_firefox_tables {
    struct cn_export *x;
    struct cn_names strings;
    struct cn_map function_of; /* by the caller's number of it */
    struct cn_firefox_stack {
        uint32_t prefix; /* CN_NONE at the top */
        uint32_t function;
    } * stacks;
    struct cn_firefox_function {
        uint32_t name, file; /* strings; a file may be CN_NONE */
        uint32_t line;
    } * functions;
    size_t stack_count, stack_capacity, function_count, function_capacity;
};

void cn_firefox_tables_add(struct cn_firefox_tables *tables, uint32_t prefix,
                           uint32_t function, const struct cn_stack_place *place);

/* Everything of the thread after its samples. */
CN_CHECK bool cn_firefox_tables_write(struct cn_firefox_tables *tables,
                                      struct cn_error *err);
void cn_firefox_tables_done(struct cn_firefox_tables *tables);

#endif
