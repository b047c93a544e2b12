/* Processes that mpirun has started, as base/run/ranks.h wants them.
 *
 * This is a shared object of its own, loaded only where it is needed, so that the
 * program itself runs without MPI. What it exports is cn_ranks_connect().
 */
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/alloc.h"
#include "base/run/lock.h"
#include "base/run/ranks.h"

enum {
    TAG = 1,             /* of channel 0; the others follow */
    PIECE_LEN = 1 << 30, /* MPI counts with int */
    SPINS = 200,         /* before a wait gives the processor away, */
    YIELDS = 2000,       /* and before it sleeps */
    NAP_NS = 50000,      /* turns pass from rank to rank: each would wait as long */
};

struct mpi_ranks {
    struct cn_ranks ranks; /* channel 0; its `group` is this */
    struct cn_lock lock;   /* MPI serves one thread at a time */
    bool is_broken;        /* something is still on its way, and never will arrive */
};

__attribute__((visibility("default"))) bool cn_ranks_connect(struct cn_ranks **out,
                                                             struct cn_error *err);

static void note_broken(const struct cn_ranks *ranks)
{
    struct mpi_ranks *self = ranks->group;

    cn_lock_take(&self->lock);
    self->is_broken = true;
    cn_lock_release(&self->lock);
}

/* Whether a message is delivered; false also if it never will be. */
static bool is_delivered(const struct cn_ranks *ranks, MPI_Request *request,
                         bool *has_failed)
{
    struct mpi_ranks *self = ranks->group;
    int is_done = 0;

    cn_lock_take(&self->lock);
    *has_failed = MPI_Test(request, &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    cn_lock_release(&self->lock);
    return !*has_failed && is_done;
}

/* MPI's own waiting keeps a processor busy that others could use, and does not end
 * when this process is asked to stop. */
static bool wait_for(struct cn_ranks *ranks, MPI_Request *request, struct cn_error *err)
{
    struct timespec nap = {.tv_nsec = NAP_NS};
    bool has_failed;

    for (unsigned i = 0;; i++) {
        if (is_delivered(ranks, request, &has_failed))
            return true;
        if (has_failed) {
            note_broken(ranks);
            return cn_fail(err, CN_ERR_IO, "rank %u has lost the others", ranks->rank);
        }
        if (ranks->is_stopped && ranks->is_stopped()) {
            note_broken(ranks);
            return cn_fail(err, CN_ERR_INTERRUPTED,
                           "interrupted while waiting for other processes");
        }
        if (i < SPINS)
            continue;
        if (i < YIELDS)
            (void)sched_yield();
        else
            (void)nanosleep(&nap, NULL);
    }
}

/* Sends to another rank, or receives from it. */
struct message {
    bool is_sent;
    void *data; /* of a message that is sent: only read */
    unsigned other;
};

/* Begin with `len` bytes at an offset; MPI serves one thread at a time. */
static bool begin(const struct cn_ranks *ranks, const struct message *message, size_t off,
                  size_t len, MPI_Request *request)
{
    struct mpi_ranks *self = ranks->group;
    char *at = (char *)message->data + off;
    int other = (int)message->other, tag = TAG + (int)ranks->channel, status;

    cn_lock_take(&self->lock);
    status = message->is_sent
                 ? MPI_Isend(at, (int)len, MPI_BYTE, other, tag, MPI_COMM_WORLD, request)
                 : MPI_Irecv(at, (int)len, MPI_BYTE, other, tag, MPI_COMM_WORLD, request);
    cn_lock_release(&self->lock);
    return status == MPI_SUCCESS;
}

static bool transfer(struct cn_ranks *ranks, const struct message *message, size_t len,
                     struct cn_error *err)
{
    for (size_t off = 0; off < len;) {
        size_t piece = len - off < PIECE_LEN ? len - off : PIECE_LEN;
        MPI_Request request;

        if (!begin(ranks, message, off, piece, &request)) {
            note_broken(ranks);
            return cn_fail(err, CN_ERR_IO, "cannot %s rank %u",
                           message->is_sent ? "send to" : "receive from", message->other);
        }
        if (!wait_for(ranks, &request, err))
            return false;
        off += piece;
    }
    return true;
}

static bool mpi_send(struct cn_ranks *ranks, unsigned to, const void *data, size_t len,
                     struct cn_error *err)
{
    return transfer(ranks, &(struct message){true, (void *)(uintptr_t)data, to}, len,
                    err);
}

static bool mpi_receive(struct cn_ranks *ranks, unsigned from, void *data, size_t len,
                        struct cn_error *err)
{
    return transfer(ranks, &(struct message){false, data, from}, len, err);
}

/* Finalising waits for the others: not where they will not come. */
static void mpi_close(struct cn_ranks *ranks)
{
    struct mpi_ranks *self = ranks->group;

    if (!self->is_broken)
        (void)MPI_Finalize();
    cn_lock_done(&self->lock);
    free(self);
}

static const struct cn_ranks_ops ops = {mpi_send, mpi_receive, mpi_close};

/* Where all ranks are on this machine, shared memory carries their messages. Open MPI starts its
 * network transports first, which takes 0.2 s of 0.45 s with 16 ranks. A choice of the user wins. */
static void skip_networks(void)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    const char *local_size = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");

    if (size && local_size && strcmp(size, local_size) == 0)
        (void)setenv("OMPI_MCA_pml", "^ucx,cm", 0);
}

bool cn_ranks_connect(struct cn_ranks **out, struct cn_error *err)
{
    int provided, rank, size;

    skip_networks();
    /* Any thread may talk, one at a time. */
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
        return cn_fail(err, CN_ERR_IO, "MPI does not start");
    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (provided < MPI_THREAD_SERIALIZED ||
        MPI_Comm_rank(MPI_COMM_WORLD, &rank) != MPI_SUCCESS ||
        MPI_Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS ||
        size > CN_RANKS_COUNT_MAX) {
        (void)MPI_Finalize();
        return cn_fail(err, CN_ERR_USAGE,
                       "MPI without threads, or more than %d processes",
                       CN_RANKS_COUNT_MAX);
    }
    /* Naps as short as they say. */
    (void)prctl(PR_SET_TIMERSLACK, 1UL);
    struct mpi_ranks *self = cn_alloc(1, sizeof(*self));
    cn_lock_init(&self->lock);
    self->ranks = (struct cn_ranks){
        .ops = &ops, .rank = (unsigned)rank, .size = (unsigned)size, .group = self};
    *out = &self->ranks;
    return true;
}
