/* What is computed once of the waits of a database, and the answers about times and threads that follow
 * from it. `cairn waits`, the server and comparisons ask here.
 *
 *     cn_wait_study_build(&study, db, &frames, codes, err)
 *     cn_wait_study_path(&study, profile, begin_ns, end_ns, &sums, err)      the critical path
 *     cn_wait_study_waits(&study, is_chosen, begin_ns, end_ns, &sums, err)   all waits
 *     cn_wait_sums_done(&sums);
 *     cn_wait_study_done(&study);
 *
 * Borrows database, frames and codes. Threads: immutable after it was built; each answer is of one thread.
 */
#ifndef CN_ANALYZE_WAKERS_STUDY_H
#define CN_ANALYZE_WAKERS_STUDY_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/lens/code.h"
#include "analyze/views/frames.h"
#include "analyze/wakers/blocks.h"
#include "analyze/wakers/graph.h"
#include "analyze/wakers/lock_names.h"
#include "analyze/wakers/sites.h"
#include "analyze/wakers/sums.h"
#include "base/error.h"

struct cn_wait_study {
    struct cn_database *db;
    bool tells_threads; /* that have one name; false, until it is set */
    struct cn_wait_sites sites;
    struct cn_wait_graph graph;
    struct cn_lock_names locks;
    struct cn_wait_blocks blocks; /* empty without an index */
};

/* Fails if it is not known when threads wait; then nothing is left to release. */
CN_CHECK bool cn_wait_study_build(struct cn_wait_study *study, struct cn_database *db,
                                  const struct cn_frames *frames,
                                  const struct cn_codes *codes, struct cn_error *err);
void cn_wait_study_done(struct cn_wait_study *study); /* a zeroed one is fine */

/* Add up the waits once, so that cn_wait_study_waits() of any range takes little time. */
CN_CHECK bool cn_wait_study_index(struct cn_wait_study *study, struct cn_error *err);

/* A study with the names that it borrows. Released also after a failure. */
struct cn_wait_source {
    struct cn_frames frames;
    struct cn_codes codes;
    struct cn_wait_study study;
};

CN_CHECK bool cn_wait_source_build(struct cn_wait_source *source, struct cn_database *db,
                                   struct cn_error *err);
void cn_wait_source_done(struct cn_wait_source *source);

/* The thread that began first, of those chosen by profile (NULL: all); 0: of none is it known when it
 * waits. */
uint32_t cn_wait_study_first(const struct cn_wait_study *study, const bool *is_chosen);

/* Sums of the critical path to the end of a range of a thread; of the waits that chosen threads have in a
 * range. Released also after a failure. */
CN_CHECK bool cn_wait_study_path(const struct cn_wait_study *study, uint32_t profile,
                                 uint64_t begin_ns, uint64_t end_ns,
                                 struct cn_wait_sums *out, struct cn_error *err);
CN_CHECK bool cn_wait_study_waits(const struct cn_wait_study *study,
                                  const bool *is_chosen, uint64_t begin_ns,
                                  uint64_t end_ns, struct cn_wait_sums *out,
                                  struct cn_error *err);

#endif
