/* Ranks from the timelines of a database: what each thread did between its samples. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/mpi/builder.h"
#include "analyze/timeline/spans.h"
#include "analyze/views/frames.h"
#include "base/alloc.h"
#include "model/contexts/database.h"

struct timelines_reader {
    struct cn_mpi_run *run;
    struct cn_database *db;
    const struct cn_frames *frames;
    uint32_t *path_of; /* by frame */
    struct cn_mpi_builder builder;
    uint64_t end_ns;
};

/* The thread with the most calls of a rank so far. */
struct timeline_rank {
    uint64_t key;
    struct cn_mpi_builder builder;
    struct cn_error err;
    uint64_t samples, span_ns;
};

static void take_span(void *arg, uint32_t context, uint64_t begin_ns, uint64_t end_ns)
{
    struct timelines_reader *r = arg;
    uint32_t frame = context == 0 ? 0 : cn_frames_find(r->frames, context);

    /* A thread that does not run is where it was. */
    if (context != 0)
        cn_mpi_builder_move(&r->builder, frame == 0 ? CN_NONE : r->path_of[frame],
                            begin_ns);
    if (r->builder.path != CN_NONE)
        r->end_ns = end_ns;
}

/* Entry points, and what calls main, are not part of paths. */
static void make_paths(struct timelines_reader *r)
{
    r->path_of = cn_alloc(r->frames->count, sizeof(*r->path_of));
    for (uint32_t i = 0; i < r->frames->count; i++) {
        const struct cn_frame *it = &r->frames->list[i];
        const char *name = r->frames->names.list[it->place];
        uint32_t parent = it->parent == CN_NONE || strcmp(name, "main") == 0
                              ? CN_NONE
                              : r->path_of[it->parent];

        r->path_of[i] =
            it->depth == 0
                ? CN_NONE
                : cn_mpi_run_path(r->run, parent, cn_names_add(&r->run->names, name));
    }
}

/* The number of a kind in an identity; false if it has none. */
static bool find_kind(const struct cn_database *db,
                      const struct cn_identity_tuple *identity, const char *name,
                      uint64_t *out)
{
    for (size_t i = 0; i < identity->count; i++) {
        const struct cn_identity *id = &identity->ids[i];

        if (id->kind < db->kinds.count && db->kinds.list[id->kind] &&
            strcmp(db->kinds.list[id->kind], name) == 0) {
            *out = id->logical;
            return true;
        }
    }
    return false;
}

static bool find_rank(struct timelines_reader *r, uint32_t profile, bool *is_rank,
                      uint64_t *key, struct cn_error *err)
{
    struct cn_profile it;

    *is_rank = false;
    if (!cn_database_profile(r->db, profile, &it, err))
        return false;
    if (it.is_summary)
        return true;
    *is_rank = find_kind(r->db, &it.identity, "RANK", key) ||
               find_kind(r->db, &it.identity, "PROCESS", key);
    return true;
}

static void read_profile(struct timelines_reader *r, uint32_t profile,
                         struct timeline_rank *rank)
{
    struct cn_timeline timeline;
    struct cn_error err;
    bool ok;

    cn_mpi_builder_init(&r->builder, r->run);
    r->end_ns = 0;
    ok = cn_timeline_open(r->db, profile, &timeline, &err) &&
         cn_spans_visit(r->db, profile, 0, UINT64_MAX, take_span, r, &err);
    if (!ok) {
        (void)cn_timeline_fail_in(r->db, profile, &err);
        rank->err = err;
    }
    cn_mpi_builder_end(&r->builder, r->end_ns);
    if (ok && r->builder.rank.seen_calls > rank->builder.rank.seen_calls) {
        cn_mpi_builder_done(&rank->builder);
        rank->builder = r->builder;
        rank->samples = timeline.count;
        rank->span_ns = r->end_ns - r->builder.rank.span.begin_ns;
    } else {
        cn_mpi_builder_done(&r->builder);
    }
}

/* How far samples are apart: the mean of the rank with the fewest. */
static void note_resolution(struct timelines_reader *r, const struct timeline_rank *rank)
{
    bool is_exact = cn_metrics_find(&r->db->metrics, "calls") != CN_NO_ID;
    uint64_t ns = is_exact || rank->samples < 2 ? r->db->timeline_resolution_ns
                                                : rank->span_ns / (rank->samples - 1);

    if (ns > r->run->resolution_ns)
        r->run->resolution_ns = ns;
}

static int by_key(const void *a, const void *b)
{
    const struct timeline_rank *x = a, *y = b;

    return (x->key > y->key) - (x->key < y->key);
}

static void take_ranks(struct timelines_reader *r, struct timeline_rank *list,
                       size_t count, bool has_numbers)
{
    if (count > 1)
        qsort(list, count, sizeof(*list), by_key);
    for (size_t i = 0; i < count; i++) {
        uint32_t number = has_numbers ? (uint32_t)list[i].key : (uint32_t)r->run->count;

        if (list[i].err.kind != CN_ERR_NONE) {
            r->run->is_damaged = true;
            cn_mpi_run_add_unknown(r->run, number, list[i].err.text);
        } else if (list[i].builder.rank.seen_calls > 0) {
            note_resolution(r, &list[i]);
            cn_mpi_builder_take(&list[i].builder, number);
        } else if (has_numbers) {
            cn_mpi_run_add_unknown(r->run, number, "no call of MPI is in its timeline");
        }
        cn_mpi_builder_done(&list[i].builder);
    }
    if (!has_numbers && r->run->count > 1)
        cn_text_str_add(&r->run->notes,
                        "the numbers of ranks are not recorded: processes "
                        "are numbered by their ids\n");
}

static bool has_kind(const struct cn_database *db, const char *name)
{
    for (size_t i = 0; i < db->kinds.count; i++)
        if (db->kinds.list[i] && strcmp(db->kinds.list[i], name) == 0)
            return true;
    return false;
}

static bool read_ranks(struct timelines_reader *r, struct cn_error *err)
{
    struct timeline_rank *list = NULL;
    struct cn_map at = {0};
    size_t count = 0, capacity = 0;
    bool ok = true;

    make_paths(r);
    for (uint32_t i = 0; ok && i < r->db->profile_count; i++) {
        uint64_t key;
        bool is_rank;

        ok = find_rank(r, i, &is_rank, &key, err);
        if (!ok || !is_rank)
            continue;
        uint32_t k = *cn_map_at(&at, key, (uint32_t)count);
        if (k == count)
            CN_PUSH(list, count, capacity, (struct timeline_rank){.key = key});
        read_profile(r, i, &list[k]);
    }
    if (ok)
        take_ranks(r, list, count, has_kind(r->db, "RANK"));
    for (size_t i = 0; !ok && i < count; i++)
        cn_mpi_builder_done(&list[i].builder);
    free(list);
    free(r->path_of);
    cn_map_done(&at);
    return ok;
}

bool cn_mpi_run_add_timelines(struct cn_mpi_run *run, struct cn_database *db,
                              const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_frames frames;
    struct timelines_reader r = {.run = run, .db = db, .frames = &frames};
    bool ok;

    if (!cn_frames_build(&frames, db, progress, err))
        return false;
    ok = read_ranks(&r, err);
    cn_frames_done(&frames);
    return ok;
}
