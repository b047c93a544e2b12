/* An overview of a database, made without reading values or contexts.
 *
 * Memory belongs to the overview's arena or, like names, to the database.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_VIEWS_OVERVIEW_H
#define CN_ANALYZE_VIEWS_OVERVIEW_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "model/contexts/database.h"

enum { CN_OVERVIEW_SHAPES_MAX = 32, CN_OVERVIEW_ENTRIES_MAX = 16 };

/* The numbers that one kind of id has in the threads of one shape. */
struct cn_id_range {
    uint8_t kind;
    bool is_physical;     /* every thread gives a physical id, and all the same one */
    uint32_t first, last; /* logical */
    uint64_t physical;    /* of the first thread */
};

/* Threads whose identities name the same kinds: "NODE RANK THREAD". */
struct cn_thread_shape {
    size_t id_count;
    struct cn_id_range ids[CN_IDENTITY_MAX];
    uint64_t thread_count;
};

struct cn_overview {
    uint64_t thread_count, summary_count; /* profiles */
    struct cn_thread_shape *shapes;
    size_t shape_count; /* what comes after the last possible one is not listed */
    uint64_t value_count, summary_value_count;
    uint64_t timeline_count;                      /* timelines with samples */
    uint64_t sample_count;                        /* taken, or of timelines if unknown */
    const char *entries[CN_OVERVIEW_ENTRIES_MAX]; /* names of entry points */
    uint64_t entry_count;
    struct cn_arena arena;
};

/* On failure nothing is left to release. */
CN_CHECK bool cn_overview_build(struct cn_overview *out, struct cn_database *db,
                                struct cn_error *err);
void cn_overview_done(struct cn_overview *overview);

#endif
