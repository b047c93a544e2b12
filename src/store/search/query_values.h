/* Times and durations, as queries and options take them.
 * Threads: any thread.
 */
#ifndef CN_STORE_SEARCH_QUERY_VALUES_H
#define CN_STORE_SEARCH_QUERY_VALUES_H

#include <stdint.h>

#include "base/error.h"

struct cn_text;

/* "2026-01-01", "2026-01-01 10:00", "2026-01-01T10:00:05.25Z", "...+02:00"; UTC without a zone.
 * The result is a range, both ends included: "2026-01-01" is a whole day. */
CN_CHECK bool cn_query_time_parse(const char *text, uint64_t *first_ns, uint64_t *last_ns,
                                  struct cn_error *err);

/* Append "2026-01-01 10:00:00.123". */
void cn_query_time_print(struct cn_text *text, uint64_t time_ns);

/* "100ms", "1.5s", "2h", "1d"; a bare number counts seconds. */
CN_CHECK bool cn_query_duration_parse(const char *text, uint64_t *ns,
                                      struct cn_error *err);

#endif
