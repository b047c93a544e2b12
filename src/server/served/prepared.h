/* What is worked out about a database before anybody asks: the stacks behind its contexts, the
 * rows of the flat and the bottom-up view, the labels to search through.
 *
 * A thread of its own works out one piece after the other, next always one that somebody waits
 * for. Pieces stay once they are there.
 * Threads: any thread.
 */
#ifndef CN_SERVER_SERVED_PREPARED_H
#define CN_SERVER_SERVED_PREPARED_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyze/views/context_labels.h"
#include "analyze/views/frames.h"
#include "analyze/views/view.h"
#include "base/error.h"

struct cn_database;

/* All but the first are made with the frames. */
enum cn_piece {
    CN_PIECE_FRAMES,
    CN_PIECE_DEPTH,
    CN_PIECE_FLAT,
    CN_PIECE_CALLERS,
    CN_PIECE_LABELS,
    CN_PIECE_COUNT,
};

struct cn_prepared {
    struct cn_database *db;

    /* Each written once, before its state says that it is there. */
    struct cn_frames frames;
    uint32_t depth; /* at which the threads of the database differ */
    struct cn_view_shape *flat, *callers;
    struct cn_context_labels labels;

    /* Under the lock. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    enum { CN_PIECE_MISSING, CN_PIECE_THERE, CN_PIECE_FAILED } states[CN_PIECE_COUNT];
    struct cn_error failures[CN_PIECE_COUNT];
    bool is_wanted[CN_PIECE_COUNT];
    double share_done; /* of the piece that is worked at */
    bool is_stopping;

    void (*after)(void *arg); /* called when all pieces are there; may be NULL */
    void *arg;
    pthread_t thread;
    bool has_thread;
};

void cn_prepared_init(struct cn_prepared *prepared);
void cn_prepared_stop(struct cn_prepared *prepared); /* and wait until it has */
void cn_prepared_done(struct cn_prepared *prepared);

/* Begin, with a database that outlives it; by one thread, once. */
CN_CHECK bool cn_prepared_start(struct cn_prepared *prepared, struct cn_database *db,
                                struct cn_error *err);

/* Wait until a piece is there. Fails when it cannot be made, or after a moment with
 * CN_ERR_INTERRUPTED and how far the work is. */
CN_CHECK bool cn_prepared_wait(struct cn_prepared *prepared, enum cn_piece piece,
                               struct cn_error *err);

/* The depth at which the threads of a database differ, worked out from some of them. */
CN_CHECK bool cn_prepared_find_depth(struct cn_database *db,
                                     const struct cn_frames *frames, uint32_t *out,
                                     struct cn_error *err);

#endif
