/* A database whose tree is a binary meta.db: what v4 and the prototype share.
 *
 * A format has a struct on the heap that starts with struct cn_hpc_database, fills it in,
 * and uses the operations below.
 * Threads: immutable after open; any thread may read, each with cursors of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_VALUES_DATABASE_H
#define CN_FORMATS_HPCTOOLKIT_VALUES_DATABASE_H

#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/span.h"
#include "formats/hpctoolkit/values/reader.h"

/* The context tree of meta.db: lists of siblings in one section, each record with the
 * offset of its children. A context is found again by its offset in the file; that of an
 * entry point has CN_HPC_AT_ENTRY added. */
#define CN_HPC_AT_ENTRY (UINT64_C(1) << 63)

struct cn_hpc_tree {
    const char *section_name;
    struct cn_hpc_span section;
    struct cn_hpc_span roots;
    bool are_entries;   /* the roots are entry points */
    bool are_functions; /* without records of their own: see entries.h */
    uint32_t idle;      /* the root that means "not running" in samples; 0: none */

    /* Decode the record at the start of `rest`, what is left of its list, and its length;
     * `at` is set by the caller. `is_entry`: a record of an entry point. */
    bool (*decode)(struct cn_database *db, bool is_entry, struct cn_bytes rest,
                   struct cn_context *out, uint64_t *len, struct cn_error *err);
};

struct cn_hpc_database {
    struct cn_database base; /* first, so that one points to both */
    struct cn_hpc_tree tree;
    struct cn_hpc_values values;
    struct cn_hpc_maps maps; /* none when bytes were given */
};

/* Where the tree has no records of entry points: if the function of a root represents one, all
 * roots are entry points. Also sets `idle`. Damage ends the search; walking the tree reports
 * it. */
void cn_hpc_database_name_roots(struct cn_database *db);

/* Operations of struct cn_database_ops. `close` releases the struct, its arena and maps. */
CN_CHECK bool cn_hpc_database_children(struct cn_database *db,
                                       const struct cn_context *parent,
                                       struct cn_context_cursor *out,
                                       struct cn_error *err);
CN_CHECK enum cn_step cn_hpc_database_child_next(struct cn_database *db,
                                                 struct cn_context_cursor *cursor,
                                                 struct cn_context *out,
                                                 struct cn_error *err);
CN_CHECK bool cn_hpc_database_context_at(struct cn_database *db, uint64_t at,
                                         struct cn_context *out, struct cn_error *err);
CN_CHECK bool cn_hpc_database_profile(struct cn_database *db, uint32_t index,
                                      struct cn_profile *out, struct cn_error *err);
CN_CHECK bool cn_hpc_database_values_begin(struct cn_database *db,
                                           struct cn_value_cursor *cursor,
                                           struct cn_error *err);
CN_CHECK enum cn_step cn_hpc_database_values_next(struct cn_value_cursor *cursor,
                                                  struct cn_value_batch *out,
                                                  struct cn_error *err);
CN_CHECK bool cn_hpc_database_timeline(struct cn_database *db, uint32_t profile,
                                       struct cn_timeline *out, struct cn_error *err);
CN_CHECK bool cn_hpc_database_samples(struct cn_database *db,
                                      const struct cn_timeline *timeline, uint64_t first,
                                      size_t count, struct cn_sample *out,
                                      struct cn_error *err);
void cn_hpc_database_forget(struct cn_database *db);
void cn_hpc_database_close(struct cn_database *db);

/* The database takes over the maps it was opened from, and the damage of its trace.db. */
void cn_hpc_database_take_maps(struct cn_database *db, const struct cn_hpc_maps *maps,
                               const struct cn_hpc_damage *damage);

#endif
