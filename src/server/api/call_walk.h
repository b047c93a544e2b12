/* The records of a task of a recording, piece by piece, from any place on, and which of
 * them are looked for.
 *
 * A long task is made of pieces that can be read without those before them (see
 * call_pieces.h), so that any place is reached quickly in however long a task:
 *
 *     cn_call_walk_init(&walk, rec, task, pieces);
 *     cn_call_walk_seek(&walk, cn_call_walk_piece_at(&walk, time_ns));
 *     while ((step = cn_call_walk_next(&walk, &batch, &first, err)) == CN_ITEM) ...
 *     cn_call_walk_done(&walk);
 *
 * Threads: one thread at a time.
 */
#ifndef CN_SERVER_API_CALL_WALK_H
#define CN_SERVER_API_CALL_WALK_H

#include "model/calls/recording.h"
#include "server/served/call_pieces.h"

struct cn_regex;

/* A record: its piece, and its number there. */
struct cn_call_place {
    uint32_t piece;
    uint64_t index;
};

struct cn_call_walk {
    const struct cn_recording *rec;
    uint32_t task;
    const struct cn_call_pieces *pieces;
    struct cn_call_stream *stream;
    struct cn_call_place next; /* the record after those handed out */
};

/* With the pieces of the task, which outlive it. */
void cn_call_walk_init(struct cn_call_walk *walk, const struct cn_recording *rec,
                       uint32_t task, const struct cn_call_pieces *pieces);
void cn_call_walk_done(struct cn_call_walk *walk);

/* The piece that has the first record of a time or later. */
uint32_t cn_call_walk_piece_at(const struct cn_call_walk *walk, uint64_t time_ns);

/* Go on at the start of a piece; there must be one of this number. */
void cn_call_walk_seek(struct cn_call_walk *walk, uint32_t piece);

/* The next records, to the end of the task; `first` receives the place of the first. */
CN_CHECK enum cn_step cn_call_walk_next(struct cn_call_walk *walk,
                                        struct cn_call_batch *out,
                                        struct cn_call_place *first,
                                        struct cn_error *err);

/* Which calls are looked for. Zeroed: everything, events and ends of calls too. */
struct cn_call_wish {
    const char *function;   /* a name or a regular expression; NULL: any */
    struct cn_regex *regex; /* NULL for a name */
    bool has_limits;        /* only entries, of those that are meant */
    uint64_t longer_ns;     /* calls that took at least so long */
    uint32_t depth_max;     /* not nested deeper than this */
    char *known;            /* by function: 'y' or 'n' once it was asked for */
};

/* A pattern without special characters is the whole name of a function. */
CN_CHECK bool cn_call_wish_init(struct cn_call_wish *wish, const struct cn_recording *rec,
                                const char *function, uint64_t longer_ns,
                                uint32_t depth_max, struct cn_error *err);
void cn_call_wish_done(struct cn_call_wish *wish);

/* Whether a record is meant, as far as can be known before its call has ended. */
bool cn_call_wish_holds(struct cn_call_wish *wish, const struct cn_recording *rec,
                        const struct cn_call *call);

#endif
