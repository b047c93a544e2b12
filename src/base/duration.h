/* Durations as text.
 * Threads: any thread, each with a text of its own.
 */
#ifndef CN_BASE_DURATION_H
#define CN_BASE_DURATION_H

#include <stdint.h>

#include "base/error.h"

struct cn_text;

/* The units that messages name. Parsing also takes "min", "sec", "msec" and the like. */
#define CN_DURATION_UNITS "ns, us, ms, s, m, h, d, w"

/* The nanoseconds of a unit, "ms" or "milliseconds"; 0 if it is not a unit of time. */
double cn_duration_unit_ns(const char *name);

/* What a number without a unit is. */
enum cn_duration_bare {
    CN_BARE_REFUSED, /* an error, except 0 */
    CN_BARE_NS,      /* nanoseconds, as in options of uftrace */
    CN_BARE_S,       /* seconds, as in queries */
};

/* "1.5s", "20ms", "7us", "300ns", "2m", "1h", "30d", "1w". A failure leaves *out_ns alone. */
CN_CHECK bool cn_duration_parse(const char *text, enum cn_duration_bare bare,
                                uint64_t *out_ns, struct cn_error *err);

/* The same, or a share: "12.5%" of `whole_ns`, unless that is 0. */
CN_CHECK bool cn_duration_parse_share(const char *text, uint64_t whole_ns,
                                      uint64_t *out_ns, struct cn_error *err);

/* Append "1.25 s": up to three decimals, without trailing zeros. */
void cn_duration_print(struct cn_text *text, uint64_t ns);

/* Append "1250ms": exact, in the largest unit without decimals, as options take it. */
void cn_duration_print_exactly(struct cn_text *text, uint64_t ns);

#endif
