/* The header of every view: what was recorded, where and when, what its numbers are, which filters are
 * in force, and how complete the data is. Pages, commands and exports show it, each in its way.
 *
 * Strings are borrowed from the database or the lens, and live as long as these.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_VIEWS_HEADER_H
#define CN_ANALYZE_VIEWS_HEADER_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/time_base.h"
#include "base/error.h"
#include "model/origin.h"

struct cn_arena;
struct cn_database;
struct cn_lens;
struct cn_recording;

struct cn_header {
    struct cn_origin origin;
    const char *title;
    uint64_t start_ns;    /* since the epoch; 0: unknown */
    uint64_t duration_ns; /* of the timelines; 0: unknown */
    uint64_t thread_count, sample_count;

    const char *metric; /* that views show by default; NULL: there is none */
    const char
        *base;    /* what its times are: "corrected running time"; NULL: it is no time */
    double whole; /* of the metric, in all data; NAN if unknown */
    double shown; /* what is left by the filters; percentages are of it */

    uint64_t lost_count; /* records */
    bool is_damaged;     /* part of the data could not be read */
    bool is_unread;      /* how complete it is, is not known */

    const struct cn_lens *lens; /* the filters; NULL: none, or they were closed */
    const char *filters;        /* "focus parse, hide kernel"; NULL: none */
};

/* `db` is what views show: with a lens, the database of it. `lost_count` is what the analysis found,
 * or 0. The second one reads no values: `whole` and `shown` are unknown. */
CN_CHECK bool cn_header_build(struct cn_header *out, struct cn_database *db,
                              const struct cn_lens *lens, uint64_t lost_count,
                              struct cn_error *err);
CN_CHECK bool cn_header_describe(struct cn_header *out, struct cn_database *db,
                                 uint64_t lost_count, struct cn_error *err);

/* The header of what is shown of a recording, of which nothing is read. Texts are in `arena`, or borrowed
 * from the recording. */
void cn_header_of_recording(struct cn_header *out, const struct cn_recording *rec,
                            struct cn_time_base base, struct cn_arena *arena);

/* See each line that is known, as a name and a text for people, in the order in which they are
 * listed. The last one, "data", says how complete it is. */
typedef void (*cn_header_visit)(void *arg, const char *name, const char *text);
void cn_header_each(const struct cn_header *header, cn_header_visit visit, void *arg);

#endif
