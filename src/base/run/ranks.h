/* Processes that work together, each with a rank.
 *
 * All of them run the same program and call the functions of this header in the same
 * order; in between, each does its own part of the work. A single process is a group of
 * size 1: nothing is sent, and nothing waits.
 *
 * A failure on one rank must not leave the others waiting: after each step all ranks
 * call cn_ranks_agree(), and continue or stop together.
 *
 * Work that is independent uses channels: messages of one channel do not meet those of
 * another, so threads may wait on several at a time.
 * Threads: for each channel one thread at a time, which need not always be the same.
 */
#ifndef CN_BASE_RUN_RANKS_H
#define CN_BASE_RUN_RANKS_H

#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/text.h"

struct cn_ranks;

enum { CN_RANKS_COUNT_MAX = 65535, CN_RANKS_CHANNEL_COUNT = 8 };

/* An implementation: sends bytes from one rank to another, in order within a channel. Both
 * functions wait until that is done; they fail if the connection is lost or this process was
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
    unsigned channel;         /* below CN_RANKS_CHANNEL_COUNT */
    void *group;              /* of the implementation: the same for all channels */
    bool (*is_stopped)(void); /* asked while waiting; may be NULL */
};

/* A single process. */
extern struct cn_ranks cn_ranks_alone;

/* Exported by shared objects that connect processes, as "cn_ranks_connect". */
typedef bool (*cn_ranks_connect_fn)(struct cn_ranks **out, struct cn_error *err);

void cn_ranks_close(struct cn_ranks *ranks); /* NULL is fine */

/* The same ranks, on a channel other than 0. Valid as long as `ranks`, and not closed. */
struct cn_ranks cn_ranks_channel(const struct cn_ranks *ranks, unsigned channel);

static inline bool cn_ranks_is_first(const struct cn_ranks *ranks)
{
    return ranks->rank == 0;
}

/* One message. */
CN_CHECK bool cn_ranks_send(struct cn_ranks *ranks, unsigned to,
                            const struct cn_text *message, struct cn_error *err);
CN_CHECK bool cn_ranks_receive(struct cn_ranks *ranks, unsigned from,
                               struct cn_text *message, struct cn_error *err);

/* True if this step succeeded on all ranks. If not, all ranks get false and the failure of
 * the lowest rank that has one: a rank that stopped because another did has an error of
 * kind CN_ERR_NONE. */
CN_CHECK bool cn_ranks_agree(struct cn_ranks *ranks, bool ok, struct cn_error *err);

/* Send the message of rank 0 to all ranks. */
CN_CHECK bool cn_ranks_broadcast(struct cn_ranks *ranks, struct cn_text *message,
                                 struct cn_error *err);

/* Send the messages of all ranks to rank 0: in `all`, in the order of ranks, each taken
 * with cn_wire_bytes_take(). */
CN_CHECK bool cn_ranks_collect(struct cn_ranks *ranks, const struct cn_text *message,
                               struct cn_text *all, struct cn_error *err);

/* Send the messages of all ranks to all ranks, as cn_ranks_collect() orders them. */
CN_CHECK bool cn_ranks_share(struct cn_ranks *ranks, const struct cn_text *message,
                             struct cn_text *all, struct cn_error *err);

/* A reduction in pairs along a tree, lower ranks before higher ones; rank 0 has the
 * result. */
struct cn_ranks_sum {
    void *arg;
    void (*encode)(void *arg, struct cn_text *message);
    bool (*merge)(void *arg, unsigned from, struct cn_bytes message,
                  struct cn_error *err);
};
/* A rank whose `ok` is false passes its failure on. Call cn_ranks_agree() afterwards. */
CN_CHECK bool cn_ranks_reduce(struct cn_ranks *ranks, bool ok,
                              const struct cn_ranks_sum *sum, struct cn_error *err);

/* Combine numbers element by element; all ranks get the result. Sums that do not
 * fit are a failure. */
enum cn_ranks_rule { CN_RANKS_ADD, CN_RANKS_MAX, CN_RANKS_MIN };
CN_CHECK bool cn_ranks_combine(struct cn_ranks *ranks, enum cn_ranks_rule rule,
                               uint64_t *values, size_t count, struct cn_error *err);

/* The jobs first..end of `count` of this rank: all ranks have about the same sum of
 * weights, and lower ranks the earlier jobs. */
struct cn_ranks_part {
    size_t first, end;
};
struct cn_ranks_part cn_ranks_split(const struct cn_ranks *ranks, const uint64_t *weights,
                                    size_t count);

/* Jobs in turns, job i on rank i % size. A part of each job is done in the order of jobs:
 * each rank waits for its turn and passes it on, with a number that only grows and
 * whether something has failed. */
struct cn_ranks_turn {
    uint64_t number;
    bool has_failed;
};
CN_CHECK bool cn_ranks_turn_await(struct cn_ranks *ranks, size_t job,
                                  struct cn_ranks_turn *turn, struct cn_error *err);
CN_CHECK bool cn_ranks_turn_pass(struct cn_ranks *ranks, size_t job, size_t job_count,
                                 const struct cn_ranks_turn *turn, struct cn_error *err);

#endif
