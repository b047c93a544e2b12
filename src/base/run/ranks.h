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

#include "base/bytes/wire.h"
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

/* Send the messages of all ranks to rank 0, which takes them in the order of ranks. All fail
 * if a message is not taken. */
CN_CHECK bool cn_ranks_collect(struct cn_ranks *ranks, const struct cn_text *message,
                               cn_wire_take take, void *arg, struct cn_error *err);

/* The same, and all ranks take them. */
CN_CHECK bool cn_ranks_share(struct cn_ranks *ranks, const struct cn_text *message,
                             cn_wire_take take, void *arg, struct cn_error *err);

/* A reduction in pairs along a tree, lower ranks before higher ones; rank 0 has the
 * result. All fail if one does. */
CN_CHECK bool cn_ranks_reduce(struct cn_ranks *ranks, cn_wire_encode encode,
                              cn_wire_take merge, void *arg, struct cn_error *err);

/* Combine numbers element by element; all ranks get the result. Sums that do not
 * fit are a failure. */
enum cn_ranks_rule { CN_RANKS_ADD, CN_RANKS_MAX, CN_RANKS_MIN };
CN_CHECK bool cn_ranks_combine(struct cn_ranks *ranks, enum cn_ranks_rule rule,
                               uint64_t *values, size_t count, struct cn_error *err);

/* Add up counts of values, by context; fails on all ranks if one is not `ok`. */
CN_CHECK bool cn_ranks_add_counts(struct cn_ranks *ranks, bool ok, uint32_t *counts,
                                  size_t count, struct cn_error *err);

/* The jobs of this rank, from `*first` up to `*end`: all ranks have about the same sum of
 * weights, and lower ranks the earlier jobs. */
void cn_ranks_split(const struct cn_ranks *ranks, const uint64_t *weights, size_t count,
                    size_t *first, size_t *end);

/* Jobs in turns, job i on rank i % size, which reserve consecutive numbers in the order of
 * jobs. `end` is the first number, and at last the end of those that this rank knows of. */
struct cn_ranks_turns {
    struct cn_ranks *ranks;
    uint64_t end;
    size_t job_count; /* of this rank, so far */
    bool is_lost;     /* the other ranks cannot be reached */
};

/* Reserve `len` numbers for the next job of this rank; wait for the job before, on another
 * rank. A job that has failed must call it as well, without `ok`. False if this job or one
 * before it has failed, without a message if that is on another rank. */
CN_CHECK bool cn_ranks_turns_reserve(struct cn_ranks_turns *turns, bool is_last, bool ok,
                                     uint64_t len, uint64_t *first, struct cn_error *err);

#endif
