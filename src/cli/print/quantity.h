/* Counts, sizes, durations and dates for people.
 * Threads: any thread, each with a text of its own.
 */
#ifndef CN_CLI_PRINT_QUANTITY_H
#define CN_CLI_PRINT_QUANTITY_H

#include <stdint.h>

#include "base/error.h"

struct cn_text;

void cn_count_print(struct cn_text *text, uint64_t count); /* "1,234,567" */

/* "1 thread", "1,234 threads" */
void cn_count_print_of(struct cn_text *text, uint64_t count, const char *singular);

void cn_size_print(struct cn_text *text, uint64_t bytes);        /* "812 B", "1.4 MiB" */
void cn_duration_print(struct cn_text *text, uint64_t duration); /* ns: "1.25 s" */
void cn_date_print(struct cn_text *text,
                   uint64_t time_ns); /* from ns since the epoch, in UTC */

/* "1.5s", "20ms", "7us", "300ns", "2m", "1h"; a bare number is in seconds. If `whole_ns` is
 * not 0, also "12.5%" of it. */
CN_CHECK bool cn_duration_parse(const char *str, uint64_t whole_ns, uint64_t *out,
                                struct cn_error *err);

#endif
