/* The default options of a recording (uftrace's default.opts), as far as they choose calls:
 * -F, -N, -C, -H, -T, -L, -t, -Z, -D, --match, --trace and --no-*. All views apply them
 * before their own.
 * Threads: as of the filter.
 */
#ifndef CN_ANALYZE_CALLS_DEFAULTS_H
#define CN_ANALYZE_CALLS_DEFAULTS_H

#include "analyze/calls/filter.h"
#include "base/arena.h"
#include "model/calls/query.h"

/* Add the default options of the filter's recording, before cn_call_filter_ready(). Other
 * options are skipped. */
CN_CHECK bool cn_call_filter_add_defaults(struct cn_call_filter *filter,
                                          struct cn_error *err);

/* The last value of any option among the default ones, in `memory`, "" for a flag; NULL if it
 * is not among them. */
const char *cn_call_default_find(const struct cn_recording *rec, const char *name,
                                 char letter, bool is_flag, struct cn_arena *memory);

/* A query for all calls of all tasks, with the default options of the recording. It refers to
 * itself: it stays where it is. */
struct cn_all_calls {
    struct cn_call_query query;
    struct cn_call_filter filter;
    uint32_t *tasks; /* of the query */
};

/* Ends with cn_all_calls_done(), also after a failure. */
CN_CHECK bool cn_all_calls_init(struct cn_all_calls *all, const struct cn_recording *rec,
                                struct cn_error *err);
void cn_all_calls_done(struct cn_all_calls *all);

#endif
