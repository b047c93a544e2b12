/* The records of a task of a recording, from any position on, and criteria to select some
 * of them.
 *
 * A long task consists of parts that can be read on their own (call_parts.h), so that any
 * position is reached quickly:
 *
 *     cn_call_walk_init(&walk, rec, task, parts);
 *     cn_call_walk_seek(&walk, cn_call_walk_part_at(&walk, time_ns));
 *     while ((step = cn_call_walk_next(&walk, &batch, &first, err)) == CN_ITEM) ...
 *     cn_call_walk_done(&walk);
 *
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_API_CALL_WALK_H
#define CN_SERVER_API_CALL_WALK_H

#include "base/name_filter.h"
#include "base/text.h"
#include "model/calls/recording.h"
#include "server/served/call_parts.h"

/* A record: its part, and its index there. */
struct cn_call_position {
    uint32_t part;
    uint64_t index;
};

struct cn_call_walk {
    const struct cn_recording *rec;
    uint32_t task;
    const struct cn_task_parts *parts;
    struct cn_call_stream *stream;
    struct cn_call_position next; /* the record after the last batch */
};

/* The recording and the parts of the task outlive the walk. */
void cn_call_walk_init(struct cn_call_walk *walk, const struct cn_recording *rec,
                       uint32_t task, const struct cn_task_parts *parts);
void cn_call_walk_done(struct cn_call_walk *walk);

/* The part that contains the first record at or after a time. */
uint32_t cn_call_walk_part_at(const struct cn_call_walk *walk, uint64_t time_ns);

/* Continue at the start of a part; there is one of this number. */
void cn_call_walk_seek(struct cn_call_walk *walk, uint32_t part);

/* The next records, up to the end of the task; `first` receives the position of the
 * first one. */
CN_CHECK enum cn_step cn_call_walk_next(struct cn_call_walk *walk,
                                        struct cn_call_batch *out,
                                        struct cn_call_position *first,
                                        struct cn_error *err);

/* Which records to select. Zeroed: all of them, events and exits included. */
struct cn_call_criteria {
    /* What is wanted, borrowed. */
    const char *function; /* its name or a regular expression; NULL or "": any */
    const char *values;   /* part of its arguments or result; NULL or "": any */
    uint64_t longer_ns;   /* calls that took at least this long */
    uint32_t depth_max;   /* nested at most this deep */

    bool has_limits; /* select entries of functions only, and those within the limits */
    struct cn_name_filter filter; /* the function, if it is a regular expression */
    char *known;                  /* by function: 'y' or 'n' once its name was matched */
    struct cn_text scratch;       /* the values of a call */
};

/* Prepare criteria of which the wanted function, values, duration and depth are set. On failure
 * there is nothing to release. */
CN_CHECK bool cn_call_criteria_begin(struct cn_call_criteria *criteria,
                                     const struct cn_recording *rec,
                                     struct cn_error *err);
void cn_call_criteria_done(struct cn_call_criteria *criteria);

/* True if a record of the walk may match: the duration of its call and its values are still to
 * be checked. */
bool cn_call_criteria_match(struct cn_call_criteria *criteria,
                            const struct cn_call_walk *walk, const struct cn_call *call);

/* True if the values of a record have the text: arguments of an entry, the result of an exit. */
bool cn_call_criteria_has_text(struct cn_call_criteria *criteria,
                               const struct cn_call_walk *walk,
                               const struct cn_call_batch *batch,
                               const struct cn_call *call);

#endif
