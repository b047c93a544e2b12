/* Messages with logs of contexts, so that all processes give contexts the same numbers.
 *
 * Steps identify code by module and address, so another process that reads the same files can
 * replay them: first those of earlier profiles, then those of later ones. Contexts then have
 * the numbers that one process would give them.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_SAMPLES_LOG_H
#define CN_ANALYZE_SAMPLES_LOG_H

#include "analyze/samples/contexts.h"
#include "base/text.h"

/* Encode a log:
 *   u64 count, then for each: modules (u64 profile, path), contexts (u32 parent),
 *   steps (u64 address, u32 parent, module, path, last, kind) */
void cn_sampled_log_encode(const struct cn_sampled_log *log,
                           const struct cn_sampled_contexts *contexts,
                           struct cn_text *message);

/* Replay the steps of a message. `is_copy`: contexts are empty, and must get the numbers of
 * the message. Fails when this process finds other code than the sender; some steps may have
 * been replayed then. */
CN_CHECK bool cn_sampled_log_replay(struct cn_sampled_contexts *contexts,
                                    struct cn_bytes message, bool is_copy,
                                    struct cn_error *err);

#endif
