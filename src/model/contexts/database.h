/* A profile database, of any format.
 *
 * Metrics, kinds and the taxonomy are in memory. Data that grows is read on demand: profiles
 * by index, contexts by walking, values by plane.
 *
 * Profile 0 is the summary over all threads; the others are threads, except those with
 * `is_summary`. Context 0 is the global context above all others: it has values, but no
 * record. There may be values of contexts without a record (instructions that the writer
 * skipped); readers skip them.
 *
 * Strings are borrowed and live as long as the database.
 * Threads: immutable after open; any thread may read, each with its own cursors.
 */
#ifndef CN_MODEL_CONTEXTS_DATABASE_H
#define CN_MODEL_CONTEXTS_DATABASE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "model/contexts/context.h"
#include "model/contexts/identity.h"
#include "model/contexts/metric.h"
#include "model/contexts/taxonomy.h"
#include "model/origin.h"
#include "model/step.h"
#include "model/thread_runs.h"
#include "model/warning.h"

struct cn_database;
struct cn_heap_history;
struct cn_io_calls;
struct cn_points;
struct cn_thread_states;
struct cn_locks;

struct cn_profile {
    bool is_summary;
    struct cn_identity_tuple identity; /* empty for the summary over all threads */
    const char *name;                  /* of the thread; NULL if unknown */
    uint64_t value_count;
    uint32_t context_count; /* with values in this profile */
};

/* One value. In the plane of a profile `key` is the context, and values are sorted by
 * (context, metric). In the plane of a context `key` is the profile, and values are sorted
 * by (metric, profile); those of latency metrics (bucket.h) may follow by (profile, metric). */
struct cn_value {
    double value;
    uint32_t key;
    uint16_t metric; /* a prop_id, or in a summary profile a stat_id */
};

/* True for a zero that means nothing: a value of something that adds up. */
static inline bool cn_value_is_void(const struct cn_value *value,
                                    const struct cn_zero_ids *zero_ids)
{
    return value->value == 0 && !cn_zero_ids_has(zero_ids, value->metric);
}

struct cn_value_batch {
    const struct cn_value *values;
    size_t count;
};

enum { CN_VALUE_BATCH = 1024, CN_VALUE_SIDE_BATCH = 32 };

/* A position in values of a second file, private to the format that merges them in. */
struct cn_value_side {
    const struct cn_value *rest; /* of the first file, to be delivered later */
    size_t rest_count;
    bool has_ended; /* the first file */
    uint32_t owner, row, key;
    uint64_t at, end;
    struct cn_value batch[CN_VALUE_SIDE_BATCH];
};

/* A position in a plane of values. `batch` is a buffer for formats to decode into. */
struct cn_value_cursor {
    struct cn_database *db;
    enum { CN_PLANE_OF_PROFILE, CN_PLANE_OF_CONTEXT } plane;
    uint32_t owner;               /* the profile or context */
    uint32_t first_key, last_key; /* of the values to deliver */
    uint64_t at, end;             /* private to the format, like the rest */
    uint64_t index_at, index_end;
    uint32_t key;
    uint16_t metric;
    uint64_t run_end;
    uint32_t as_key;   /* of a database that wraps another: the key to deliver, or 0 */
    bool has_stat_ids; /* likewise: the values are those of a summary profile */
    struct cn_value_side side;
    struct cn_value batch[CN_VALUE_BATCH];
};

/* A position in a list of siblings. */
struct cn_context_cursor {
    uint64_t at, end; /* private to the format */
    uint64_t size;    /* of the list, in the unit of context_weight */
    bool is_entry_list;
};

struct cn_sample {
    uint64_t time_ns; /* since the epoch */
    uint32_t context; /* 0: the thread does not run */
};

/* The samples of one thread, in time order. */
struct cn_timeline {
    uint64_t count;
    uint64_t at;       /* private to the format */
    size_t part_count; /* parts that can be read in parallel; 0: there are none */

    /* Of a timeline with fewer samples (thinner.h); 0: it has all that there are. */
    uint64_t resolution_ns;
    uint64_t origin_ns; /* a time at which a cell begins */
};

/* How many values of a metric a context has, over all threads; void values are not counted. */
struct cn_cell {
    uint32_t context;
    uint32_t count; /* at least 1 */
    uint16_t metric;
};

/* Sorted by context and metric, without duplicates. */
struct cn_cells {
    struct cn_cell *list;
    size_t count;
};

struct cn_database_ops {
    bool (*profile)(struct cn_database *db, uint32_t index, struct cn_profile *out,
                    struct cn_error *err);
    /* NULL for a database that has the table in memory. */
    bool (*module)(struct cn_database *db, uint32_t index, struct cn_module *out,
                   struct cn_error *err);
    bool (*file)(struct cn_database *db, uint32_t index, struct cn_source_file *out,
                 struct cn_error *err);
    bool (*function)(struct cn_database *db, uint32_t index, struct cn_function *out,
                     struct cn_error *err);

    /* Contexts: the entry points when `parent` is NULL, else the children of parent. */
    bool (*children)(struct cn_database *db, const struct cn_context *parent,
                     struct cn_context_cursor *out, struct cn_error *err);
    enum cn_step (*child_next)(struct cn_database *db, struct cn_context_cursor *cursor,
                               struct cn_context *out, struct cn_error *err);
    bool (*context_at)(struct cn_database *db, uint64_t at, struct cn_context *out,
                       struct cn_error *err);

    /* Values. `begin` initialises the cursor for its owner and key range. */
    bool (*values_begin)(struct cn_database *db, struct cn_value_cursor *cursor,
                         struct cn_error *err);
    enum cn_step (*values_next)(struct cn_value_cursor *cursor,
                                struct cn_value_batch *out, struct cn_error *err);

    /* Timelines. A profile without samples has one of count 0. */
    bool (*timeline)(struct cn_database *db, uint32_t profile, struct cn_timeline *out,
                     struct cn_error *err);
    bool (*samples)(struct cn_database *db, const struct cn_timeline *timeline,
                    uint64_t first, size_t count, struct cn_sample *out,
                    struct cn_error *err);

    /* The first sample of a part. NULL: no timeline has parts. */
    uint64_t (*part)(struct cn_database *db, const struct cn_timeline *timeline,
                     size_t number);

    /* The cells of all threads, valid as long as the database. NULL: not known. */
    const struct cn_cells *(*cells)(const struct cn_database *db);

    /* Drop pages of mapped files. Long walks call it regularly. NULL: nothing to drop. */
    void (*forget)(struct cn_database *db);
    void (*close)(struct cn_database *db);
};

struct cn_database_loss {
    const char *what; /* a constant */
    uint64_t count;   /* at least 1 */
};

enum { CN_LAUNCH_MAX = 1 << 20 }; /* launches of a database; more are dropped */

/* A call of one thread that started an operation of another profile, a stream of a GPU. */
struct cn_launch {
    uint64_t from_ns,
        to_ns; /* since the epoch: of the call, and of the begin of the operation */
    uint32_t from_profile, to_profile;
};

struct cn_database {
    const struct cn_database_ops *ops;
    const char *path; /* the directory; "" for one that lives in memory */
    const char *title, *description;
    struct cn_origin origin; /* what was run, where and how */
    struct cn_kinds kinds;
    struct cn_metrics metrics;
    struct cn_taxonomy taxonomy;
    uint32_t profile_count, module_count, file_count, function_count;
    const struct cn_module *modules; /* these three NULL: the operation is called */
    const struct cn_source_file *files;
    const struct cn_function *functions;
    const char *const *thread_names; /* by profile, "" or NULL if unknown; or NULL */
    const struct cn_points
        *points; /* costs of instructions; NULL: only those of contexts */
    const struct cn_thread_states *states; /* by profile, over time; NULL: unknown */
    const struct cn_thread_runs *runs;     /* by profile, on processors; NULL: unknown */
    const struct cn_heap_history *heap;    /* allocated bytes over time; NULL: unknown */
    const struct cn_io_calls *io;          /* system calls; NULL: unknown */
    struct cn_wakeups wakeups;
    const struct cn_heap_history *gpu_memory; /* that of GPUs; NULL: unknown */
    const struct cn_locks *locks;             /* that threads waited for; NULL: unknown */
    const struct cn_launch *launches;         /* in any order, the first CN_LAUNCH_MAX */
    size_t launch_count;
    uint32_t context_limit;  /* all ids of contexts with values are below this */
    uint64_t context_weight; /* limit of the sum of the sizes of all context lists; with
                                more, lists overlap or form a cycle */
    bool has_context_values; /* planes of contexts can be read */
    bool has_timelines;
    uint64_t
        timeline_resolution_ns; /* that sums of samples are estimates to, where some were
                                        dropped (thinner.h); 0: none, or unknown */
    const char *contexts_file, *timelines_file; /* for messages; NULL: unknown */
    uint64_t
        sample_count; /* that were taken, where timelines also have times between them; 0:
                              those of the timelines */
    uint64_t trace_count;  /* request traces whose calls it has; 0: none, or unknown */
    bool has_exact_counts; /* value_count and context_count are exact: no value is 0 */

    /* Of a database that several processes make together: the profiles of this one, whose
     * timelines it can read, from own_first up to own_end (0: all profiles). All processes can
     * read all values; only that of profile 0, the first, can read contexts. */
    uint32_t own_first, own_end;
    uint64_t begin_ns, end_ns; /* of the timelines, as declared */

    /* Of a file that has more than this model: the name of the format whose writer copies the
     * file at `path`, or NULL, and what other formats lose. */
    const char *copied_as;
    const struct cn_database_loss *losses;
    size_t loss_count;
    struct cn_warning *warnings;
    struct cn_arena arena; /* of everything above */
};

static inline uint32_t cn_database_own_end(const struct cn_database *db)
{
    return db->own_end > 0 ? db->own_end : db->profile_count;
}

/* For formats: the states of threads over time, which live as long as the database. They are known
 * from the first record about a thread to the last: timelines include both. */
void cn_database_set_states(struct cn_database *db,
                            const struct cn_thread_states *states);

/* How often threads change their states, and on how many times on a processor is known; 0 if these are
 * unknown. */
uint64_t cn_database_state_count(const struct cn_database *db);
uint64_t cn_database_run_count(const struct cn_database *db);

/* For formats: add a warning; `is_damage` if part of the data could not be read. */
CN_PRINTF(3, 4)
void cn_database_warn(struct cn_database *db, bool is_damage, const char *fmt, ...);

static inline void cn_database_close(struct cn_database *db) /* NULL is fine */
{
    if (db)
        db->ops->close(db);
}

/* NULL if they are not known without reading all values. */
static inline const struct cn_cells *cn_database_cells(const struct cn_database *db)
{
    return db->ops->cells ? db->ops->cells(db) : NULL;
}

CN_CHECK bool cn_database_profile(struct cn_database *db, uint32_t index,
                                  struct cn_profile *out, struct cn_error *err);
CN_CHECK bool cn_database_module(struct cn_database *db, uint32_t index,
                                 struct cn_module *out, struct cn_error *err);
CN_CHECK bool cn_database_file(struct cn_database *db, uint32_t index,
                               struct cn_source_file *out, struct cn_error *err);
CN_CHECK bool cn_database_function(struct cn_database *db, uint32_t index,
                                   struct cn_function *out, struct cn_error *err);

/* List the entry points (parent NULL) or the children of a context:
 *     while ((step = cn_context_next(db, &cursor, &child, err)) == CN_ITEM) ... */
CN_CHECK static inline bool cn_context_children(struct cn_database *db,
                                                const struct cn_context *parent,
                                                struct cn_context_cursor *out,
                                                struct cn_error *err)
{
    return db->ops->children(db, parent, out, err);
}

CN_CHECK static inline enum cn_step cn_context_next(struct cn_database *db,
                                                    struct cn_context_cursor *cursor,
                                                    struct cn_context *out,
                                                    struct cn_error *err)
{
    return db->ops->child_next(db, cursor, out, err);
}

/* The context with this `at`. */
CN_CHECK static inline bool cn_context_at(struct cn_database *db, uint64_t at,
                                          struct cn_context *out, struct cn_error *err)
{
    return db->ops->context_at(db, at, out, err);
}

/* The values of a profile for contexts first..last (0..UINT32_MAX: all). */
CN_CHECK bool cn_profile_values(struct cn_database *db, uint32_t profile,
                                uint32_t first_context, uint32_t last_context,
                                struct cn_value_cursor *out, struct cn_error *err);

/* The values of a context over all threads; needs has_context_values. */
CN_CHECK bool cn_context_values(struct cn_database *db, uint32_t context,
                                struct cn_value_cursor *out, struct cn_error *err);

/* The next values, valid until the next call. A batch is never empty. */
CN_CHECK static inline enum cn_step cn_values_next(struct cn_value_cursor *cursor,
                                                   struct cn_value_batch *out,
                                                   struct cn_error *err)
{
    return cursor->db->ops->values_next(cursor, out, err);
}

/* For formats whose planes are arrays sorted by key: position the cursor on its key range,
 * and deliver at most `max` values of that range. */
void cn_values_seek(struct cn_value_cursor *cursor, const struct cn_value *plane,
                    uint64_t count);
enum cn_step cn_values_take(struct cn_value_cursor *cursor, const struct cn_value *plane,
                            size_t max, struct cn_value_batch *out);

CN_CHECK bool cn_timeline_open(struct cn_database *db, uint32_t profile,
                               struct cn_timeline *out, struct cn_error *err);

/* `count` samples from index `first` on; all must be inside the timeline. */
CN_CHECK bool cn_timeline_read(struct cn_database *db, const struct cn_timeline *timeline,
                               uint64_t first, size_t count, struct cn_sample *out,
                               struct cn_error *err);

/* Add the profile of a timeline to a failure, and its file unless the failure names it. Returns
 * false. */
bool cn_timeline_fail_in(const struct cn_database *db, uint32_t profile,
                         struct cn_error *err);

/* The same for the contexts: add their file. */
bool cn_contexts_fail_in(const struct cn_database *db, struct cn_error *err);

/* The samples of a part. In a timeline with parts no two successive samples have context
 * 0. */
void cn_timeline_part(struct cn_database *db, const struct cn_timeline *timeline,
                      size_t number, uint64_t *first, uint64_t *count);

/* Drop pages of mapped files. */
static inline void cn_database_forget(struct cn_database *db)
{
    if (db->ops->forget)
        db->ops->forget(db);
}

#endif
