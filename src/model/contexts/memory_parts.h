/* The structs of a database in memory, shared by the files that implement it.
 * Threads: as memory.h.
 */
#ifndef CN_MODEL_CONTEXTS_MEMORY_PARTS_H
#define CN_MODEL_CONTEXTS_MEMORY_PARTS_H

#include "base/map.h"
#include "model/contexts/memory.h"
#include "model/contexts/points.h"
#include "model/thread_runs.h"
#include "model/thread_states.h"

/* The arrays of a struct cn_metric. */
struct cn_memory_metric {
    struct cn_scope_instance *instances;
    struct cn_statistic *statistics;
    size_t instance_capacity, statistic_capacity;
};

struct cn_memory_context {
    struct cn_context context;
    size_t parent; /* position; of an entry point its own */
    size_t next_sibling, first_child, last_child; /* position + 1, or 0 */
    bool is_hidden;
};

struct cn_memory_value {
    uint32_t profile;
    struct cn_value value; /* the key is the context */
};

struct cn_memory_profile {
    struct cn_profile profile;
    size_t first_value; /* position in by_profile, once finished */
    struct cn_sample *samples;
    size_t sample_count, sample_capacity;
    struct cn_thread_states states;
    struct cn_thread_runs runs;
};

struct cn_memory_database {
    struct cn_database db; /* first: operations receive a pointer to it */
    bool is_finished;

    const char **kinds;
    struct cn_scope *scopes;
    struct cn_metric *metrics;
    struct cn_memory_metric *metric_parts;
    struct cn_module *modules;
    struct cn_source_file *files;
    struct cn_function *functions;
    struct cn_memory_profile *profiles;
    size_t kind_capacity, scope_capacity, metric_capacity, metric_parts_capacity;
    size_t module_capacity, file_capacity, function_capacity, profile_capacity;
    uint16_t next_prop_id, next_stat_id; /* of usual metrics */

    struct cn_memory_context *contexts; /* parents before children */
    size_t context_count, context_capacity, listed_count;
    size_t first_entry, last_entry, entry_count; /* position + 1, or 0 */
    struct cn_map positions;                     /* context id -> position */
    uint32_t next_id;

    struct cn_memory_value *values; /* in the order of adding, until finished */
    size_t value_count, value_capacity;

    struct cn_value *by_profile; /* sorted by (profile, context, metric) */
    struct cn_value *by_context; /* sorted by (context, metric, profile) */
    struct cn_points points;
    struct cn_thread_states *states; /* by profile, borrowed from them, once finished */
    struct cn_thread_runs *runs;     /* the same */
    struct cn_wakeup *wakeups;
    size_t wakeup_count, wakeup_capacity;
    struct cn_locks locks;
    size_t *context_starts; /* context_limit + 1 positions in by_context */
};

/* Add the statistics of profile 0 over the values of threads. */
CN_CHECK bool cn_memory_summarise(struct cn_memory_database *m, struct cn_error *err);

#endif
