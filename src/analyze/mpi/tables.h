/* The table of calls of MPI that wait, see analyze/listed.h. Threads: one thread at a time. */
#ifndef CN_ANALYZE_MPI_TABLES_H
#define CN_ANALYZE_MPI_TABLES_H

#include "analyze/listed.h"
#include "base/error.h"

struct cn_database;
struct cn_recording;

/* Each call that waits, or of which that is unknown: `wait_ns`, `late_rank` and `late_path` are then unknown. */
#define CN_MPI_WAITS_COLUMNS(F) \
    F("rank", INTEGER)          \
    F("begin_ns", INTEGER)      \
    F("end_ns", INTEGER)        \
    F("wait_ns", INTEGER)       \
    F("cause", TEXT)            \
    F("function", TEXT)         \
    F("path", TEXT)             \
    F("late_rank", INTEGER)     \
    F("late_path", TEXT)

/* Of a database, or, if that is NULL, of a recording. Without timelines, or calls of MPI, there are no rows. */
CN_CHECK bool cn_list_mpi_waits(struct cn_database *db, const struct cn_recording *rec,
                                const struct cn_listed_rows *rows, struct cn_error *err);

#endif
