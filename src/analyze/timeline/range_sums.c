#include "analyze/timeline/range_sums.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/timeline/spans.h"
#include "base/alloc.h"
#include "base/run/pool.h"
#include "model/contexts/database.h"

enum {
    CHUNK = 1024,               /* samples read at a time */
    PIECE_LEN = 1 << 20,        /* samples of a job */
    LOOK_LEN = 128 << 10,       /* bytes that are mapped around a piece, about */
    UNFORGOTTEN_MAX = 12 << 20, /* bytes of a worker before pages are given back */
};

/* Samples of one thread from `first` on, and the one after them. */
struct piece {
    struct cn_timeline timeline;
    uint32_t profile;
    uint64_t first, count;
};

struct worker {
    uint64_t *ns;
    uint64_t sample_count, unforgotten_len;
    bool has_failed; /* in the piece that it has read last */
    struct cn_error err;
};

struct build {
    struct cn_database *db;
    const struct cn_range_request *request;
    struct piece *pieces;
    size_t piece_count, piece_capacity;
    struct worker *workers;
    const struct cn_progress *progress;
    bool is_over; /* the first piece that failed ends it */
    struct cn_error err;
};

static void add_pieces(struct build *build, const struct cn_timeline *timeline,
                       uint32_t profile, uint64_t first, uint64_t last)
{
    while (first < last) {
        uint64_t count = last - first < PIECE_LEN ? last - first : PIECE_LEN;

        build->pieces = cn_grow(build->pieces, build->piece_count, &build->piece_capacity,
                                sizeof(*build->pieces));
        build->pieces[build->piece_count++] =
            (struct piece){*timeline, profile, first, count};
        first += count;
    }
}

/* The samples that begin in the range, and the one before; the last one of all lasts no
 * time. */
static bool divide(struct build *build, struct cn_error *err)
{
    enum { FORGET_EVERY = 32 }; /* threads: looking for times maps pages here and there */
    const struct cn_range_request *request = build->request;

    for (size_t i = 0; i < request->profile_count; i++) {
        struct cn_timeline timeline;
        uint64_t first, last;

        if (i % FORGET_EVERY == FORGET_EVERY - 1)
            cn_database_forget(build->db);

        if (!cn_timeline_open(build->db, request->profiles[i], &timeline, err) ||
            !cn_timeline_find(build->db, &timeline, request->begin_ns, &first, err) ||
            !cn_timeline_find(build->db, &timeline, request->end_ns, &last, err))
            return cn_fail_in(err, "timeline of profile %" PRIu32, request->profiles[i]);
        last = last + 1 < timeline.count ? last + 1 : last;
        add_pieces(build, &timeline, request->profiles[i], first, last);
    }
    return true;
}

static bool add_samples(const struct cn_range_request *request, struct worker *worker,
                        const struct cn_sample *samples, size_t count,
                        struct cn_error *err)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t begin_ns = samples[i].time_ns, end_ns = samples[i + 1].time_ns;

        if (end_ns < begin_ns)
            return cn_fail(err, CN_ERR_FORMAT,
                           "time runs backwards: %" PRIu64 " after %" PRIu64, end_ns,
                           begin_ns);
        begin_ns = begin_ns > request->begin_ns ? begin_ns : request->begin_ns;
        end_ns = end_ns < request->end_ns ? end_ns : request->end_ns;
        if (begin_ns < end_ns && samples[i].context < request->id_limit) {
            worker->ns[samples[i].context] += end_ns - begin_ns;
            worker->sample_count += samples[i].context != 0;
        }
    }
    return true;
}

static bool read_piece(struct build *build, struct worker *worker,
                       const struct piece *piece, struct cn_error *err)
{
    struct cn_sample samples[CHUNK + 1];

    for (uint64_t at = 0, count; at < piece->count; at += count) {
        count = piece->count - at < CHUNK ? piece->count - at : CHUNK;
        if (!cn_timeline_read(build->db, &piece->timeline, piece->first + at, count + 1,
                              samples, err) ||
            !add_samples(build->request, worker, samples, count, err))
            return cn_fail_in(err, "timeline of profile %" PRIu32, piece->profile);
    }
    return true;
}

static void run(void *arg, size_t number, unsigned w)
{
    struct build *build = arg;
    struct worker *worker = &build->workers[w];
    const struct piece *piece = &build->pieces[number];

    worker->has_failed =
        !cn_progress_check(build->progress, "adding up samples", &worker->err) ||
        !read_piece(build, worker, piece, &worker->err);
    worker->unforgotten_len += piece->count * sizeof(struct cn_sample) + LOOK_LEN;
    if (worker->unforgotten_len > UNFORGOTTEN_MAX) {
        cn_database_forget(build->db);
        worker->unforgotten_len = 0;
    }
}

static void take(void *arg, size_t number, unsigned w)
{
    struct build *build = arg;
    const struct worker *worker = &build->workers[w];

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

static struct cn_range_sums add_up(struct build *build, unsigned workers)
{
    struct cn_range_sums sums = {build->workers[0].ns, build->workers[0].sample_count};

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
    struct build build = {.db = db, .request = request, .progress = progress};
    unsigned workers = cn_pool_default_workers();
    struct cn_range_sums sums;

    if (!divide(&build, err)) {
        free(build.pieces);
        return false;
    }
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
