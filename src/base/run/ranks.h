/* Processes that work on one thing together, each known by its rank.
 *
 * All of them run the same program and call the same functions of this header in the
 * same order; what differs is the part of the work they do in between. One process on
 * its own is the same with a size of 1: then nothing is sent and nothing waits.
 *
 * A failure on one rank must not leave the others waiting: after each step all ranks
 * call cn_ranks_agree(), and go on or give up together.
 * Threads: one thread at a time, which need not always be the same.
 */
#ifndef CN_BASE_RUN_RANKS_H
#define CN_BASE_RUN_RANKS_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/text.h"

struct cn_ranks;

enum { CN_RANKS_COUNT_MAX = 65535 };

/* What an implementation has to do: bytes from one rank to another, in order. Both
 * wait until it is done; they fail when the processes lose each other or this one was
 * asked to stop. */
struct cn_ranks_ops {
    bool (*send)(struct cn_ranks *ranks, unsigned to, const void *data, size_t len,
                 struct cn_error *err);
    bool (*receive)(struct cn_ranks *ranks, unsigned from, void *data, size_t len,
                    struct cn_error *err);
    void (*close)(struct cn_ranks *ranks);
};

struct cn_ranks {
    const struct cn_ranks_ops *ops;
    unsigned rank, size;
    bool (*is_stopped)(void); /* asked while waiting; may be NULL */
};

/* One process on its own. */
extern struct cn_ranks cn_ranks_alone;

/* What shared objects that connect processes export, as "cn_ranks_connect". */
typedef bool (*cn_ranks_connect_fn)(struct cn_ranks **out, struct cn_error *err);

void cn_ranks_close(struct cn_ranks *ranks); /* NULL is fine */

static inline bool cn_ranks_is_first(const struct cn_ranks *ranks)
{
    return ranks->rank == 0;
}

/* One message. */
CN_CHECK bool cn_ranks_send(struct cn_ranks *ranks, unsigned to,
                            const struct cn_text *message, struct cn_error *err);
CN_CHECK bool cn_ranks_receive(struct cn_ranks *ranks, unsigned from,
                               struct cn_text *message, struct cn_error *err);

/* Whether this step went well everywhere. If not, all ranks get false and the failure
 * of the lowest rank that has one: a rank that only stopped because another did has
 * an error of kind CN_ERR_NONE. */
CN_CHECK bool cn_ranks_agree(struct cn_ranks *ranks, bool ok, struct cn_error *err);

/* Rank 0's message reaches all. */
CN_CHECK bool cn_ranks_broadcast(struct cn_ranks *ranks, struct cn_text *message,
                                 struct cn_error *err);

/* The messages of all ranks reach rank 0: in `all`, in the order of ranks, each to be
 * taken with cn_wire_bytes_take(). */
CN_CHECK bool cn_ranks_collect(struct cn_ranks *ranks, const struct cn_text *message,
                               struct cn_text *all, struct cn_error *err);

/* The messages of all ranks reach all ranks: as cn_ranks_collect() has them. */
CN_CHECK bool cn_ranks_share(struct cn_ranks *ranks, const struct cn_text *message,
                             struct cn_text *all, struct cn_error *err);

/* Something that is put together pairwise along a tree, always lower ranks before
 * higher ones, until rank 0 has all of it. */
struct cn_ranks_sum {
    void *arg;
    void (*encode)(void *arg, struct cn_text *message);
    bool (*merge)(void *arg, unsigned from, struct cn_bytes message,
                  struct cn_error *err);
};
/* A rank whose `ok` is false hands on that it failed. To be followed by agreement. */
CN_CHECK bool cn_ranks_reduce(struct cn_ranks *ranks, bool ok,
                              const struct cn_ranks_sum *sum, struct cn_error *err);

/* Numbers put together element by element; all ranks get the result. Sums that do not
 * fit are a failure. */
enum cn_ranks_rule { CN_RANKS_ADD, CN_RANKS_MAX, CN_RANKS_MIN };
CN_CHECK bool cn_ranks_combine(struct cn_ranks *ranks, enum cn_ranks_rule rule,
                               uint64_t *values, size_t count, struct cn_error *err);

/* Jobs first..end of `count` that this rank does: all ranks have about the same sum
 * of weights, and lower ranks the earlier jobs. */
struct cn_ranks_part {
    size_t first, end;
};
struct cn_ranks_part cn_ranks_split(const struct cn_ranks *ranks, const uint64_t *weights,
                                    size_t count);

/* Jobs dealt out one at a time, job i to rank i % size, of which something is done in
 * the order of jobs, whichever rank does them: each waits for its turn and passes it
 * on, with a number that only grows and the news whether something has failed. */
struct cn_ranks_turn {
    uint64_t number;
    bool has_failed;
};
CN_CHECK bool cn_ranks_turn_await(struct cn_ranks *ranks, size_t job,
                                  struct cn_ranks_turn *turn, struct cn_error *err);
CN_CHECK bool cn_ranks_turn_pass(struct cn_ranks *ranks, size_t job, size_t job_count,
                                 const struct cn_ranks_turn *turn, struct cn_error *err);

#endif
