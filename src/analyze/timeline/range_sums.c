#include "analyze/timeline/range_sums.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/timeline/spans.h"
#include "base/alloc.h"
#include "base/run/pool.h"
#include "model/contexts/database.h"

enum {
    CHUNK = 1024,              /* samples read at a time */
    PIECE_LEN = 1 << 20,       /* samples of a job */
    LOOK_MIN = 16,             /* samples read of a piece of an estimate */
    THREAD_MAX = 256,          /* threads of an estimate */
    LOOK_LEN = 128 << 10,      /* bytes that are mapped around a piece, about */
    UNFORGOTTEN_MAX = 8 << 20, /* bytes of a worker before pages are given back */
};

/* Samples of one thread from `first` on, and the one after them. `read_count` of them, from
 * `read_from` on, stand for all. */
struct piece {
    struct cn_timeline timeline;
    uint32_t profile;
    uint64_t first, count, read_from, read_count;
};

struct sums_worker {
    uint64_t *ns;
    uint64_t sample_count, unforgotten_len;
    bool has_failed; /* in the piece that it has read last */
    struct cn_error err;
};

struct sums_build {
    struct cn_database *db;
    const struct cn_range_request *request;
    struct piece *pieces;
    size_t piece_count, piece_capacity;
    uint64_t sample_count; /* in all pieces */
    size_t thread_step;    /* one thread in so many is read, and stands for the others */
    uint64_t sample_step;  /* the same of samples */
    struct sums_worker *workers;
    const struct cn_progress *progress;
    bool is_over; /* the first piece that failed ends it */
    struct cn_error err;
};

static void add_piece(struct sums_build *build, const struct piece *piece)
{
    CN_PUSH(build->pieces, build->piece_count, build->piece_capacity, *piece);
}

/* One piece a thread: the samples that begin in the range, and the one before; the last one
 * of all lasts no time. */
static bool find_samples(struct sums_build *build, struct cn_error *err)
{
    enum { FORGET_EVERY = 64 }; /* threads: looking for times maps pages here and there */
    const struct cn_range_request *request = build->request;

    for (size_t i = 0; i < request->profile_count; i += build->thread_step) {
        struct piece piece = {.profile = request->profiles[i]};
        uint64_t last;

        if (!cn_timeline_open(build->db, piece.profile, &piece.timeline, err) ||
            !cn_timeline_find(build->db, &piece.timeline, request->begin_ns, &piece.first,
                              err) ||
            !cn_timeline_find(build->db, &piece.timeline, request->end_ns, &last, err))
            return cn_timeline_fail_in(build->db, piece.profile, err);
        last = last + 1 < piece.timeline.count ? last + 1 : last;
        piece.count = last > piece.first ? last - piece.first : 0;
        build->sample_count += piece.count;
        add_piece(build, &piece);
        if (build->piece_count % FORGET_EVERY == 0)
            cn_database_forget(build->db);
    }
    return true;
}

/* A number below `count`, as if at random: what repeats is not met in step. */
static uint64_t choose(size_t number, uint64_t count)
{
    return ((uint64_t)number * UINT64_C(0x9e3779b97f4a7c15) >> 20) % count;
}

/* Cut the pieces of threads into those of jobs. */
static void cut(struct sums_build *build)
{
    uint64_t step = build->sample_step;
    struct piece *threads = build->pieces;
    size_t thread_count = build->piece_count;
    uint64_t piece_len = step > 1 ? CHUNK * step : PIECE_LEN;

    build->pieces = NULL;
    build->piece_count = build->piece_capacity = 0;
    for (size_t i = 0; i < thread_count; i++) {
        uint64_t end = threads[i].first + threads[i].count;

        for (struct piece piece = threads[i]; piece.first < end;
             piece.first += piece.count) {
            uint64_t rest = end - piece.first;

            piece.count = rest < piece_len ? rest : piece_len;
            piece.read_count = piece.count / step;
            if (piece.read_count < LOOK_MIN)
                piece.read_count = piece.count < LOOK_MIN ? piece.count : LOOK_MIN;
            piece.read_from = piece.first + choose(build->piece_count,
                                                   piece.count - piece.read_count + 1);
            add_piece(build, &piece);
        }
    }
    free(threads);
}

static bool divide(struct sums_build *build, struct cn_error *err)
{
    uint64_t max = build->request->sample_max;

    build->thread_step = build->sample_step = 1;
    if (max > 0 && build->request->profile_count > THREAD_MAX)
        build->thread_step =
            (build->request->profile_count + THREAD_MAX - 1) / THREAD_MAX;
    if (!find_samples(build, err))
        return false;
    if (max > 0 && build->sample_count > max)
        build->sample_step = build->sample_count / max + 1;
    cut(build);
    return true;
}

/* What stands for more samples than it has counts for more. */
static uint64_t scale(const struct sums_build *build, const struct piece *piece,
                      uint64_t value)
{
    if (piece->read_count < piece->count)
        value =
            (uint64_t)((double)value * (double)piece->count / (double)piece->read_count);
    return value * build->thread_step;
}

static bool add_samples(const struct sums_build *build, struct sums_worker *worker,
                        const struct piece *piece, const struct cn_sample *samples,
                        size_t count, struct cn_error *err)
{
    const struct cn_range_request *request = build->request;
    uint64_t counted = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t begin_ns = samples[i].time_ns, end_ns = samples[i + 1].time_ns;

        if (end_ns < begin_ns)
            return cn_fail(err, CN_ERR_FORMAT,
                           "time runs backwards: %" PRIu64 " after %" PRIu64, end_ns,
                           begin_ns);
        begin_ns = begin_ns > request->begin_ns ? begin_ns : request->begin_ns;
        end_ns = end_ns < request->end_ns ? end_ns : request->end_ns;
        if (begin_ns < end_ns && samples[i].context < request->id_limit) {
            worker->ns[samples[i].context] += scale(build, piece, end_ns - begin_ns);
            counted += samples[i].context != 0;
        }
    }
    worker->sample_count += scale(build, piece, counted);
    return true;
}

static bool read_piece(struct sums_build *build, struct sums_worker *worker,
                       const struct piece *piece, struct cn_error *err)
{
    struct cn_sample samples[CHUNK + 1];
    size_t count;

    for (uint64_t at = 0; at < piece->read_count; at += count) {
        uint64_t rest = piece->read_count - at;

        count = rest < CHUNK ? (size_t)rest : CHUNK;
        if (!cn_timeline_read(build->db, &piece->timeline, piece->read_from + at,
                              count + 1, samples, err) ||
            !add_samples(build, worker, piece, samples, count, err))
            return cn_timeline_fail_in(build->db, piece->profile, err);
    }
    return true;
}

static void run(void *arg, size_t number, unsigned w)
{
    struct sums_build *build = arg;
    struct sums_worker *worker = &build->workers[w];
    const struct piece *piece = &build->pieces[number];

    worker->has_failed =
        !cn_progress_check(build->progress, "adding up samples", &worker->err) ||
        !read_piece(build, worker, piece, &worker->err);
    worker->unforgotten_len += piece->read_count * sizeof(struct cn_sample) + LOOK_LEN;
    if (worker->unforgotten_len > UNFORGOTTEN_MAX) {
        cn_database_forget(build->db);
        worker->unforgotten_len = 0;
    }
}

static void take(void *arg, size_t number, unsigned w)
{
    struct sums_build *build = arg;
    const struct sums_worker *worker = &build->workers[w];

    if (build->is_over)
        return;
    build->is_over = worker->has_failed;
    if (build->is_over)
        build->err = worker->err;
    else
        build->is_over =
            !cn_progress_report(build->progress, "adding up samples", number + 1,
                                build->piece_count, "pieces", &build->err);
}

static struct cn_range_sums add_up(struct sums_build *build, unsigned workers)
{
    struct cn_range_sums sums = {
        .ns = build->workers[0].ns,
        .sample_count = build->workers[0].sample_count,
        .is_estimate = build->thread_step > 1 || build->sample_step > 1,
    };

    for (unsigned w = 1; w < workers; w++) {
        for (size_t i = 0; i < build->request->id_limit; i++)
            sums.ns[i] += build->workers[w].ns[i];
        sums.sample_count += build->workers[w].sample_count;
        free(build->workers[w].ns);
    }
    return sums;
}

bool cn_range_sums_build(struct cn_range_sums *out, struct cn_database *db,
                         const struct cn_range_request *request,
                         const struct cn_progress *progress, struct cn_error *err)
{
    struct sums_build build = {.db = db, .request = request, .progress = progress};
    unsigned workers = cn_pool_default_workers();
    struct cn_range_sums sums;

    if (!divide(&build, err)) {
        free(build.pieces);
        return false;
    }
    if (build.piece_count < workers) /* each has room for all contexts */
        workers = build.piece_count > 0 ? (unsigned)build.piece_count : 1;
    build.workers = cn_alloc(workers, sizeof(*build.workers));
    for (unsigned i = 0; i < workers; i++)
        build.workers[i].ns = cn_alloc(request->id_limit, sizeof(uint64_t));
    cn_pool_run(&(struct cn_jobs){build.piece_count, &build, run, take, NULL}, workers);
    sums = add_up(&build, workers);
    free(build.workers);
    free(build.pieces);
    cn_database_forget(db);
    if (build.is_over) {
        cn_range_sums_done(&sums);
        *err = build.err;
        return false;
    }
    *out = sums;
    return true;
}

void cn_range_sums_done(struct cn_range_sums *sums)
{
    free(sums->ns);
    *sums = (struct cn_range_sums){0};
}
