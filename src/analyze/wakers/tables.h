/* The tables of waits and of locks, see analyze/listed.h. Threads: one thread at a time. */
#ifndef CN_ANALYZE_WAKERS_TABLES_H
#define CN_ANALYZE_WAKERS_TABLES_H

#include "analyze/listed.h"
#include "base/error.h"

struct cn_database;
struct cn_recording;

/* Every time that a thread did not run, with what ended it. `woken_ns` is unknown of a wait whose wake-up was not
 * recorded, and of one for nothing but a processor. */
#define CN_WAITS_COLUMNS(F)     \
    F("thread", INTEGER)        \
    F("begin_ns", INTEGER)      \
    F("woken_ns", INTEGER)      \
    F("end_ns", INTEGER)        \
    F("kind", TEXT)             \
    F("context", INTEGER)       \
    F("waker", INTEGER)         \
    F("waker_context", INTEGER) \
    F("is_inferred", INTEGER)   \
    F("lock", TEXT)             \
    F("lock_address", INTEGER)

/* The rows of `cairn waits --locks`. */
#define CN_LOCKS_COLUMNS(F)     \
    F("lock", TEXT)             \
    F("address", INTEGER)       \
    F("process", INTEGER)       \
    F("time_ns", INTEGER)       \
    F("count", INTEGER)         \
    F("threads", INTEGER)       \
    F("longest_ns", INTEGER)    \
    F("longest_at_ns", INTEGER) \
    F("waits_in", TEXT)         \
    F("given_by", TEXT)         \
    F("given_in", TEXT)         \
    F("meanwhile", TEXT)        \
    F("taken_in", TEXT)         \
    F("taken_path", TEXT)       \
    F("kept_count", INTEGER)    \
    F("kept_ns", INTEGER)       \
    F("longest_kept_ns", INTEGER)

/* Without states of threads there are no rows. */
CN_CHECK bool cn_list_waits(struct cn_database *db, const struct cn_listed_rows *rows,
                            struct cn_error *err);
CN_CHECK bool cn_list_locks(struct cn_database *db, const struct cn_listed_rows *rows,
                            struct cn_error *err);
CN_CHECK bool cn_list_recorded_locks(const struct cn_recording *rec,
                                     const struct cn_listed_rows *rows,
                                     struct cn_error *err);

#endif
