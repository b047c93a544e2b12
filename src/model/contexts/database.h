/* What a profile database is, whatever format holds it.
 *
 * Metrics, kinds and the taxonomy are in memory. Everything that grows with the data is
 * asked for piece by piece: profiles by index, contexts by walking, values by plane.
 *
 * Profile 0 is the summary over all threads; the others are threads, except those that say
 * `is_summary`. Context 0 is the global context above all others: it has values, but no record.
 * Values may name contexts that no record describes (instructions left out by the
 * writer); readers skip them.
 *
 * Strings that a database returns are borrowed and live as long as it.
 * Threads: immutable after open; any thread may read, each with cursors of its own.
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
#include "model/step.h"

struct cn_database;
struct cn_ranks;

struct cn_profile {
    bool is_summary;
    struct cn_identity_tuple identity; /* empty for the summary over all threads */
    uint64_t value_count;              /* in this profile */
    uint32_t context_count;            /* that have values in this profile */
};

/* One value. In the plane of a profile `key` is the context, and values come sorted by
 * (context, metric). In the plane of a context `key` is the profile, sorted by
 * (metric, profile). */
struct cn_value {
    double value;
    uint32_t key;
    uint16_t metric; /* a prop_id, or in a summary profile a stat_id */
};

struct cn_value_batch {
    const struct cn_value *values;
    size_t count;
};

enum { CN_VALUE_BATCH = 512 };

/* Position in a plane of values; `batch` is the room that formats decode into. */
struct cn_value_cursor {
    struct cn_database *db;
    enum { CN_PLANE_OF_PROFILE, CN_PLANE_OF_CONTEXT } plane;
    uint32_t owner;               /* the profile or context */
    uint32_t first_key, last_key; /* only keys in this range are delivered */
    uint64_t at, end;             /* the format's business, as are the next ones */
    uint64_t index_at, index_end;
    uint32_t key;
    uint16_t metric;
    uint64_t run_end;
    uint32_t as_key; /* of a database that shows another: the key to deliver, or 0 */
    struct cn_value batch[CN_VALUE_BATCH];
};

/* Siblings being listed. */
struct cn_context_cursor {
    uint64_t at, end; /* the format's business */
    uint64_t size;    /* what this list weighs against the database's context_weight */
    bool is_entry_list;
};

struct cn_sample {
    uint64_t time_ns; /* since the epoch */
    uint32_t context; /* 0: the thread does not run */
};

/* The samples of one thread, in time order. */
struct cn_timeline {
    uint64_t count;
    uint64_t at;        /* the format's business */
    size_t piece_count; /* that can be read side by side; 0: read it in one go */
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

    /* Values. `begin` sets up the cursor for its owner and key range. */
    bool (*values_begin)(struct cn_database *db, struct cn_value_cursor *cursor,
                         struct cn_error *err);
    enum cn_step (*values_next)(struct cn_value_cursor *cursor,
                                struct cn_value_batch *out, struct cn_error *err);

    /* Timelines; a profile without samples has one of count 0. */
    bool (*timeline)(struct cn_database *db, uint32_t profile, struct cn_timeline *out,
                     struct cn_error *err);
    bool (*samples)(struct cn_database *db, const struct cn_timeline *timeline,
                    uint64_t first, size_t count, struct cn_sample *out,
                    struct cn_error *err);

    /* The first sample of a piece. NULL: no timeline has pieces. */
    uint64_t (*piece)(struct cn_database *db, const struct cn_timeline *timeline,
                      size_t number);

    /* Give back memory that reading has brought in and that can be had again (pages of mapped
     * files). Called now and then by long walks. NULL: nothing to give back. */
    void (*forget)(struct cn_database *db);
    void (*close)(struct cn_database *db);
};

struct cn_database {
    const struct cn_database_ops *ops;
    const char *path; /* the directory; "" for one that lives in memory */
    const char *title, *description;
    struct cn_kinds kinds;
    struct cn_metrics metrics;
    struct cn_taxonomy taxonomy;
    uint32_t profile_count, module_count, file_count, function_count;
    const struct cn_module *modules; /* these three NULL: the operation is called */
    const struct cn_source_file *files;
    const struct cn_function *functions;
    uint32_t context_limit;  /* every context id with values is below this */
    uint64_t context_weight; /* the sizes of all context lists add up to at most this:
                                more means that lists overlap or form a cycle */
    bool has_context_values; /* planes of contexts can be read */
    bool has_timelines;
    bool has_exact_counts; /* those of profiles are right: no value is 0 */

    /* Processes that have this database together; NULL: it is all in this one. Every
     * one of them reads all values, but contexts only rank 0, and each the timelines
     * of its own profiles only: those from own_first on, below own_end. */
    struct cn_ranks *ranks;
    uint32_t own_first, own_end;
    uint64_t begin_ns, end_ns;   /* of the timelines, as declared */
    struct cn_warning *warnings; /* what opening found odd but could do with */
    struct cn_arena arena;       /* of everything above */
};

struct cn_warning {
    struct cn_warning *next;
    const char *text;
};

/* Who has the database: never NULL. Profiles of this process, in the order of ranks;
 * the summary is rank 0's. */
struct cn_ranks *cn_database_ranks(const struct cn_database *db);
uint32_t cn_database_own_first(const struct cn_database *db);
uint32_t cn_database_own_end(const struct cn_database *db);

/* For formats: remember something worth telling the user once. */
CN_PRINTF(2, 3) void cn_database_warn(struct cn_database *db, const char *fmt, ...);

void cn_database_close(struct cn_database *db); /* NULL is fine */

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
CN_CHECK bool cn_context_children(struct cn_database *db, const struct cn_context *parent,
                                  struct cn_context_cursor *out, struct cn_error *err);
CN_CHECK enum cn_step cn_context_next(struct cn_database *db,
                                      struct cn_context_cursor *cursor,
                                      struct cn_context *out, struct cn_error *err);

/* The context that was listed with this `at`. */
CN_CHECK bool cn_context_at(struct cn_database *db, uint64_t at, struct cn_context *out,
                            struct cn_error *err);

/* All values of a profile whose context lies in first..last (0..UINT32_MAX: all). */
CN_CHECK bool cn_profile_values(struct cn_database *db, uint32_t profile,
                                uint32_t first_context, uint32_t last_context,
                                struct cn_value_cursor *out, struct cn_error *err);

/* All values of a context over threads; needs has_context_values. */
CN_CHECK bool cn_context_values(struct cn_database *db, uint32_t context,
                                struct cn_value_cursor *out, struct cn_error *err);

/* The next values, borrowed until the next call. A batch is never empty. */
CN_CHECK enum cn_step cn_values_next(struct cn_value_cursor *cursor,
                                     struct cn_value_batch *out, struct cn_error *err);

/* For formats whose planes are arrays sorted by key: position the cursor on its key range,
 * and deliver at most `max` values of that range. */
void cn_values_seek(struct cn_value_cursor *cursor, const struct cn_value *plane,
                    uint64_t count);
enum cn_step cn_values_take(struct cn_value_cursor *cursor, const struct cn_value *plane,
                            size_t max, struct cn_value_batch *out);

CN_CHECK bool cn_timeline_open(struct cn_database *db, uint32_t profile,
                               struct cn_timeline *out, struct cn_error *err);

/* `count` samples from number `first` on; both must lie inside the timeline. */
CN_CHECK bool cn_timeline_read(struct cn_database *db, const struct cn_timeline *timeline,
                               uint64_t first, size_t count, struct cn_sample *out,
                               struct cn_error *err);

/* The samples of a piece: from `first` on, `count` of them. No two samples in a row of
 * a timeline with pieces say that the thread does not run. */
void cn_timeline_piece(struct cn_database *db, const struct cn_timeline *timeline,
                       size_t number, uint64_t *first, uint64_t *count);

/* Give back memory of mapped files; see `forget` above. */
void cn_database_forget(struct cn_database *db);

#endif
