/* Dates and times of day as text, in UTC.
 * Threads: any thread, each with a text of its own.
 */
#ifndef CN_BASE_DATE_H
#define CN_BASE_DATE_H

#include <stdint.h>

#include "base/error.h"

struct cn_text;

/* "2026-01-01", "2026-01-01 10:00", "2026-01-01T10:00:05.25Z", "...+02:00"; UTC without a zone.
 * The result is a range, both ends included: "2026-01-01" is a whole day. */
CN_CHECK bool cn_date_parse(const char *text, uint64_t *first_ns, uint64_t *last_ns,
                            struct cn_error *err);

/* Append nanoseconds since the epoch as "2026-01-01 10:00:00.123", with 1 to 9 decimals. */
void cn_date_print(struct cn_text *text, uint64_t time_ns, unsigned decimals);

#endif
