/* The default options of a recording (uftrace's default.opts), as far as they choose calls:
 * -F, -N, -C, -H, -T, -L, -t, -Z, -D, --match, --trace and --no-*. All views apply them
 * before their own.
 * Threads: as of the filter.
 */
#ifndef CN_ANALYZE_CALLS_CALL_DEFAULTS_H
#define CN_ANALYZE_CALLS_CALL_DEFAULTS_H

#include "analyze/calls/call_filter.h"

/* Add the default options of the filter's recording, before cn_call_filter_ready(). Other
 * options are skipped. */
CN_CHECK bool cn_call_filter_add_defaults(struct cn_call_filter *filter,
                                          struct cn_error *err);

#endif
