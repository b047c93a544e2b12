#include "server/served/prepared.h"

#include <errno.h>
#include <time.h>

#include "base/run/progress.h"
#include "model/contexts/database.h"
#include "server/served/chore.h"
#include "server/served/worker.h"

void cn_prepared_init(struct cn_prepared *prepared)
{
    *prepared = (struct cn_prepared){0};
    (void)pthread_mutex_init(&prepared->lock, NULL);
    cn_moment_init(&prepared->changed);
}

void cn_prepared_stop(struct cn_prepared *prepared)
{
    (void)pthread_mutex_lock(&prepared->lock);
    prepared->is_stopping = true;
    (void)pthread_mutex_unlock(&prepared->lock);
    if (prepared->has_thread)
        (void)pthread_join(prepared->thread, NULL);
    prepared->has_thread = false;
}

void cn_prepared_done(struct cn_prepared *prepared)
{
    cn_prepared_stop(prepared);
    cn_context_labels_done(&prepared->labels);
    cn_view_shape_free(prepared->callers);
    cn_view_shape_free(prepared->flat);
    cn_frames_done(&prepared->frames);
    (void)pthread_cond_destroy(&prepared->changed);
    (void)pthread_mutex_destroy(&prepared->lock);
}

static bool note_progress(void *arg, const char *what, uint64_t done, uint64_t total,
                          const char *unit)
{
    struct cn_prepared *prepared = arg;
    bool goes_on;

    (void)what;
    (void)unit;
    (void)pthread_mutex_lock(&prepared->lock);
    if (total > 0)
        prepared->share_done = (double)done / (double)total;
    goes_on = !prepared->is_stopping;
    (void)pthread_mutex_unlock(&prepared->lock);
    return goes_on;
}

/* Timelines are no part of every database. */
static bool find_depth(struct cn_prepared *prepared, struct cn_error *err)
{
    struct cn_database *db = prepared->db;

    prepared->depth = 1;
    return !db->has_timelines || db->end_ns <= db->begin_ns ||
           cn_prepared_find_depth(db, &prepared->frames, &prepared->depth, err);
}

static bool make(struct cn_prepared *prepared, enum cn_piece piece, struct cn_error *err)
{
    struct cn_progress progress = {.report = note_progress, .arg = prepared};
    const struct cn_context_index *index = &prepared->frames.index;
    struct cn_database *db = prepared->db;

    switch (piece) {
    case CN_PIECE_FRAMES:
        return cn_frames_build(&prepared->frames, db, &progress, err);
    case CN_PIECE_DEPTH:
        return find_depth(prepared, err);
    case CN_PIECE_FLAT:
        return cn_view_shape_flat_new(&prepared->flat, db, index, &progress, err);
    case CN_PIECE_CALLERS:
        return cn_view_shape_callers_new(&prepared->callers, db, index, &progress, err);
    case CN_PIECE_LABELS:
        return cn_context_labels_build(&prepared->labels, db, index, &progress, err);
    case CN_PIECE_COUNT:
        break;
    }
    return true;
}

static bool is_complete(struct cn_prepared *prepared)
{
    bool result;

    (void)pthread_mutex_lock(&prepared->lock);
    result = !prepared->is_stopping;
    for (int i = 0; i < CN_PIECE_COUNT; i++)
        result &= prepared->states[i] == CN_PIECE_THERE;
    (void)pthread_mutex_unlock(&prepared->lock);
    return result;
}

/* The next piece to work at; false when there is none left, or it is time to stop. */
static bool choose(struct cn_prepared *prepared, enum cn_piece *out)
{
    enum cn_piece next = CN_PIECE_COUNT;
    bool goes_on;

    (void)pthread_mutex_lock(&prepared->lock);
    for (int i = CN_PIECE_COUNT - 1; i >= 0; i--)
        if (prepared->states[i] == CN_PIECE_MISSING &&
            (next == CN_PIECE_COUNT || i == CN_PIECE_FRAMES || prepared->is_wanted[i] ||
             !prepared->is_wanted[next]))
            next = (enum cn_piece)i;
    prepared->share_done = 0;
    goes_on = next != CN_PIECE_COUNT && !prepared->is_stopping;
    (void)pthread_mutex_unlock(&prepared->lock);
    *out = next;
    return goes_on;
}

static void fail(struct cn_prepared *prepared, enum cn_piece piece,
                 const struct cn_error *err)
{
    prepared->states[piece] = CN_PIECE_FAILED;
    prepared->failures[piece] = *err;
}

static void *work(void *arg)
{
    struct cn_prepared *prepared = arg;
    enum cn_piece piece;

    while (choose(prepared, &piece)) {
        struct cn_error err = {0};
        bool ok = make(prepared, piece, &err);

        (void)pthread_mutex_lock(&prepared->lock);
        if (ok)
            prepared->states[piece] = CN_PIECE_THERE;
        else
            fail(prepared, piece, &err);
        for (int i = 0; !ok && piece == CN_PIECE_FRAMES && i < CN_PIECE_COUNT; i++)
            fail(prepared, (enum cn_piece)i, &err);
        (void)pthread_cond_broadcast(&prepared->changed);
        (void)pthread_mutex_unlock(&prepared->lock);
        cn_database_forget(prepared->db);
    }
    if (prepared->after && is_complete(prepared))
        prepared->after(prepared->arg);
    return NULL;
}

bool cn_prepared_start(struct cn_prepared *prepared, struct cn_database *db,
                       struct cn_error *err)
{
    prepared->db = db;
    prepared->has_thread = cn_worker_start(&prepared->thread, work, prepared, err);
    return prepared->has_thread;
}

/* With the lock held: of what a piece needs, and itself. */
static double share_of(const struct cn_prepared *prepared, enum cn_piece piece)
{
    if (piece == CN_PIECE_FRAMES)
        return prepared->share_done;
    return (prepared->states[CN_PIECE_FRAMES] == CN_PIECE_THERE) * 0.5 +
           prepared->share_done * 0.5;
}

bool cn_prepared_wait(struct cn_prepared *prepared, enum cn_piece piece,
                      struct cn_error *err)
{
    struct timespec end = cn_moment_end();
    int result = 0;
    bool ok;

    (void)pthread_mutex_lock(&prepared->lock);
    prepared->is_wanted[piece] = true;
    while (prepared->states[piece] == CN_PIECE_MISSING && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&prepared->changed, &prepared->lock, &end);
    ok = prepared->states[piece] == CN_PIECE_THERE;
    if (prepared->states[piece] == CN_PIECE_FAILED)
        *err = prepared->failures[piece];
    else if (!ok)
        (void)cn_fail(err, CN_ERR_INTERRUPTED, "contexts are being read: %.0f %% done",
                      share_of(prepared, piece) * 100);
    (void)pthread_mutex_unlock(&prepared->lock);
    return ok;
}
