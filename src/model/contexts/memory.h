/* A database built in memory, for small imports, tests and demos.
 *
 *     m = cn_memory_database_new("title", "description");
 *     ... cn_memory_database_add_*() ...
 *     cn_memory_database_propagate(m, &err);    if only point values were added
 *     db = cn_memory_database_finish(m);
 *     ... any reader of model/contexts/database.h ...
 *     cn_database_close(db);
 *
 * Strings are copied. Profile 0, the summary, exists from the start. Ids and indices must be
 * results of earlier calls: anything else is an assertion. cn_database_close() on the
 * finished database and cn_memory_database_free() do the same.
 * Threads: one thread builds it; once finished it is immutable.
 */
#ifndef CN_MODEL_CONTEXTS_MEMORY_H
#define CN_MODEL_CONTEXTS_MEMORY_H

#include "model/contexts/database.h"
#include "model/locks.h"

struct cn_memory_database;

struct cn_memory_database *cn_memory_database_new(const char *title,
                                                  const char *description);
void cn_memory_database_free(struct cn_memory_database *m); /* NULL is fine */

/* Tables. Each function returns the index of the new element. */
uint8_t cn_memory_database_add_kind(struct cn_memory_database *m, const char *name);
uint16_t cn_memory_database_add_scope(struct cn_memory_database *m, const char *name,
                                      enum cn_scope_type type, uint8_t propagation);
uint32_t cn_memory_database_add_metric(struct cn_memory_database *m, const char *name);
void cn_memory_database_add_instance(struct cn_memory_database *m, uint32_t metric,
                                     struct cn_scope_instance instance);
void cn_memory_database_add_statistic(struct cn_memory_database *m, uint32_t metric,
                                      struct cn_statistic statistic);
uint32_t cn_memory_database_add_module(struct cn_memory_database *m, const char *path);
void cn_memory_database_set_build_id(struct cn_memory_database *m, uint32_t module,
                                     const char *build_id);
uint32_t cn_memory_database_add_file(struct cn_memory_database *m, const char *path,
                                     bool is_copied);
uint32_t cn_memory_database_add_function(struct cn_memory_database *m,
                                         struct cn_function function);

/* The four scopes of real databases: point, function, lex_aware, execution. */
void cn_memory_database_add_usual_scopes(struct cn_memory_database *m);

/* A metric with an instance in every scope and, in every scope, the statistics count, sum,
 * sum of squares, minimum and maximum. Its ids follow those of the metrics before it. */
uint32_t cn_memory_database_add_usual_metric(struct cn_memory_database *m,
                                             const char *name);

/* A context in `parent`; 0: an entry point. `context.id` 0: the next free id. Returns the
 * id. */
uint32_t cn_memory_database_add_context(struct cn_memory_database *m, uint32_t parent,
                                        struct cn_context context);

/* A context with values and no record, as writers make of instructions: it counts for
 * propagation, lexically inside `parent`, and is not listed among its children. */
uint32_t cn_memory_database_add_hidden(struct cn_memory_database *m, uint32_t parent);

uint32_t cn_memory_database_add_profile(struct cn_memory_database *m,
                                        struct cn_identity_tuple identity);

/* The name of a thread; the last one counts. */
void cn_memory_database_name_profile(struct cn_memory_database *m, uint32_t profile,
                                     const char *name);

/* In any order. `context` may be one without a record. */
void cn_memory_database_add_value(struct cn_memory_database *m, uint32_t profile,
                                  uint32_t context, uint16_t metric, double value);

/* Costs of instructions, to be filled: they are in addition to the values of contexts. */
struct cn_points *cn_memory_database_points(struct cn_memory_database *m);

/* In the order of time. */
void cn_memory_database_add_sample(struct cn_memory_database *m, uint32_t profile,
                                   struct cn_sample sample);

/* The states of a thread over time. Takes the list, and leaves an empty one. */
void cn_memory_database_take_states(struct cn_memory_database *m, uint32_t profile,
                                    struct cn_thread_states *states);

/* On which processors a thread ran. Takes the list, and leaves an empty one. */
void cn_memory_database_take_runs(struct cn_memory_database *m, uint32_t profile,
                                  struct cn_thread_runs *runs);

void cn_memory_database_add_wakeup(struct cn_memory_database *m, struct cn_wakeup wakeup);

/* Add a lock, the name of whose variable is copied, and return its number; a wait for one. */
uint32_t cn_memory_database_add_lock(struct cn_memory_database *m,
                                     struct cn_waited_lock lock);
void cn_memory_database_add_lock_wait(struct cn_memory_database *m,
                                      struct cn_lock_wait wait);

/* Compute the values of the other scopes from the point values of threads, and the
 * statistics of profile 0 from all of them. Fails if a formula cannot be parsed. */
CN_CHECK bool cn_memory_database_propagate(struct cn_memory_database *m,
                                           struct cn_error *err);

/* Sort the values and return the database. Nothing can be added afterwards. */
struct cn_database *cn_memory_database_finish(struct cn_memory_database *m);

#endif
