/* Several processes, or one, write a database together.
 *
 * The first writes meta.db and the texts, and creates the large files. All of them write
 * these at the same time, each with a thread and a channel of its own: the kernel takes one
 * write at a time to a file, and a process that waits for others continues with another file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/files/outdir.h"
#include "base/files/ranks.h"
#include "base/run/pool.h"
#include "base/run/progress.h"
#include "base/run/ranks.h"
#include "base/text.h"
#include "formats/hpctoolkit/rooted.h"
#include "formats/hpctoolkit/sources.h"
#include "formats/hpctoolkit/v4/write/latency_writer.h"
#include "formats/hpctoolkit/v4/write/writer.h"
#include "formats/hpctoolkit/v4/write/writing.h"
#include "model/contexts/transpose.h"

enum { PROFILES, CONTEXTS, TRACES, LATENCY, FILE_COUNT };

/* A large file. */
struct ranks_file {
    struct cn_hpc_writing w;
    struct cn_ranks ranks;       /* a channel for each file */
    struct cn_ranks_turns turns; /* of ranges of contexts */
    struct cn_out out;
    struct cn_database *all; /* with the metrics that only latency.db contains */
    struct cn_write_options options;
    struct cn_progress_part progress;
    struct cn_error err;
    bool ok;
};

static bool write_profiles(struct ranks_file *file, struct cn_error *err)
{
    return cn_hpc_profiles_write(&file->w, &file->out, err);
}

static bool open_spool(void *arg, struct cn_spool *spool, struct cn_error *err)
{
    struct ranks_file *file = arg;

    return cn_ranks_spool_open(&file->ranks, spool, file->w.dir, file->w.workers, err);
}

static bool share(void *arg, bool ok, const struct cn_text *message, cn_wire_take take,
                  void *take_arg, struct cn_error *err)
{
    struct ranks_file *file = arg;

    return cn_ranks_agree(&file->ranks, ok, err) &&
           cn_ranks_share(&file->ranks, message, take, take_arg, err);
}

static bool reserve(void *arg, bool is_last, bool ok, uint64_t len, uint64_t *off,
                    struct cn_error *err)
{
    struct ranks_file *file = arg;

    return cn_ranks_turns_reserve(&file->turns, is_last, ok, len, off, err);
}

static bool add_counts(void *arg, bool ok, uint32_t *counts, size_t count,
                       struct cn_error *err)
{
    struct ranks_file *file = arg;

    return cn_ranks_add_counts(&file->ranks, ok, counts, count, err);
}

static bool write_contexts(struct ranks_file *file, struct cn_error *err)
{
    struct cn_ranks *ranks = &file->ranks;
    struct cn_hpc_writing *w = &file->w;
    struct cn_transpose_rank rank = {.number = ranks->rank,
                                     .count = ranks->size,
                                     .arg = file,
                                     .add_counts = add_counts,
                                     .open_spool = open_spool,
                                     .share = share,
                                     .reserve = reserve};
    uint64_t workers = w->workers;

    if (!cn_ranks_combine(ranks, CN_RANKS_MAX, &workers, 1, err))
        return false;
    rank.workers = (unsigned)workers;
    w->rank = ranks->size > 1 ? &rank : NULL;
    return cn_ranks_agree(ranks, cn_hpc_cct_write(w, &file->out, err), err) &&
           cn_ranks_combine(ranks, CN_RANKS_MAX, &file->out.end_off, 1, err) &&
           (!w->is_first || cn_hpc_cct_end(w, &file->out, err));
}

static bool combine_lines(struct cn_ranks *ranks, struct cn_hpc_trace_lines *lines,
                          struct cn_error *err)
{
    struct cn_hpc_trace_totals *totals = &lines->totals;
    uint64_t sums[] = {totals->merged_count, totals->unlisted_count};
    uint64_t most[] = {totals->end_ns, totals->resolution_ns};

    if (!cn_ranks_combine(ranks, CN_RANKS_ADD, sums, 2, err) ||
        !cn_ranks_combine(ranks, CN_RANKS_MAX, most, 2, err) ||
        !cn_ranks_combine(ranks, CN_RANKS_MIN, &totals->begin_ns, 1, err) ||
        !cn_ranks_combine(ranks, CN_RANKS_MAX, lines->lens, lines->count, err))
        return false;
    *totals = (struct cn_hpc_trace_totals){sums[0], sums[1], totals->begin_ns, most[0],
                                           most[1]};
    return true;
}

static bool write_traces(struct ranks_file *file, struct cn_error *err)
{
    struct cn_hpc_trace_lines lines = {0};

    if (!file->out.fd)
        return true;
    bool ok =
        cn_ranks_agree(&file->ranks,
                       cn_hpc_traces_encode(&file->w, &lines, &file->out, err), err) &&
        combine_lines(&file->ranks, &lines, err) &&
        cn_hpc_traces_end(&file->w, &lines, &file->out, err);
    file->w.resolution_ns = ok ? lines.totals.resolution_ns : 0;
    cn_hpc_trace_lines_done(&lines);
    return ok;
}

/* latency.db on rank 0, and the lengths of the planes of all ranks. */
struct latency {
    struct cn_hpc_latency_writer *writer;
    uint64_t *lens;
};

static bool add_planes(void *arg, unsigned from, struct cn_bytes message,
                       struct cn_error *err)
{
    const struct latency *latency = arg;

    return from == 0 ||
           cn_hpc_latency_add(latency->writer, message, latency->lens[from], err);
}

/* All ranks write their planes at once; rank 0 learns where they are. */
static bool join_planes(struct cn_ranks *ranks, struct latency *latency, uint64_t off,
                        struct cn_error *err)
{
    struct cn_text own = {0};
    bool ok = true;

    for (unsigned i = 1; i < ranks->rank; i++)
        off += latency->lens[i];
    if (!cn_ranks_is_first(ranks))
        ok = cn_hpc_latency_place(latency->writer, off, &own, err);
    ok = cn_ranks_agree(ranks, ok, err) &&
         cn_ranks_collect(ranks, &own, add_planes, latency, err);
    cn_text_done(&own);
    return ok;
}

static bool write_latency(struct ranks_file *file, struct cn_error *err)
{
    struct cn_ranks *ranks = &file->ranks;
    struct latency latency = {
        .writer = cn_hpc_latency_new(&file->w, file->all),
        .lens = cn_alloc(ranks->size, sizeof(*latency.lens)),
    };
    uint64_t end_off;
    bool ok =
        !latency.writer ||
        (cn_ranks_agree(ranks,
                        cn_hpc_latency_encode(latency.writer, &latency.lens[ranks->rank],
                                              &end_off, err),
                        err) &&
         cn_ranks_combine(ranks, CN_RANKS_ADD, latency.lens, ranks->size, err) &&
         cn_ranks_combine(ranks, CN_RANKS_MAX, &end_off, 1, err) &&
         join_planes(ranks, &latency, end_off, err) &&
         (!file->w.is_first || cn_hpc_latency_end(latency.writer, err)));

    cn_hpc_latency_free(latency.writer);
    free(latency.lens);
    return ok;
}

static const struct {
    const char *name; /* NULL: the writer creates the file */
    size_t section_count;
    bool (*write)(struct ranks_file *file, struct cn_error *err);
} kinds[FILE_COUNT] = {
    [PROFILES] = {"profile.db", CN_HPC_PROFILE_SECTION_COUNT, write_profiles},
    [CONTEXTS] = {"cct.db", CN_HPC_CCT_SECTION_COUNT, write_contexts},
    [TRACES] = {"trace.db", CN_HPC_TRACE_SECTION_COUNT, write_traces},
    [LATENCY] = {NULL, 0, write_latency},
};

static bool begin_files(struct ranks_file *files, struct cn_error *err)
{
    for (size_t i = 0; i < FILE_COUNT; i++) {
        const struct cn_hpc_writing *w = &files[i].w;

        if (!kinds[i].name ||
            (i == TRACES && (w->options->without_timelines || !w->db->has_timelines)))
            continue;
        if (!cn_hpc_file_begin(&files[i].out, w, kinds[i].name, kinds[i].section_count,
                               err))
            return false;
    }
    return true;
}

static void file_run(void *arg, size_t number, unsigned worker)
{
    struct ranks_file *file = (struct ranks_file *)arg + number;

    (void)worker;
    file->ok =
        cn_ranks_agree(&file->ranks, kinds[number].write(file, &file->err), &file->err);
    cn_progress_part_end(&file->progress);
}

/* Rank 0 creates the files, then the others open them. */
static bool write_files(struct cn_hpc_writing *w, struct cn_ranks *ranks,
                        struct cn_database *all, struct cn_error *err)
{
    struct ranks_file files[FILE_COUNT] = {0};
    bool ok;

    for (size_t i = 0; i < FILE_COUNT; i++) {
        struct ranks_file *file = &files[i];

        file->ranks = cn_ranks_channel(ranks, (unsigned)i + 1);
        file->turns.ranks = &file->ranks;
        file->w = *w;
        file->all = all;
        file->w.options = &file->options;
        file->options = *w->options;
        file->options.progress = cn_progress_part_begin(
            &file->progress, w->options->progress, i > 0 ? &files[i - 1].progress : NULL);
    }
    ok = cn_ranks_agree(ranks, !w->is_first || begin_files(files, err), err) &&
         cn_ranks_agree(ranks, w->is_first || begin_files(files, err), err);
    if (ok)
        cn_pool_run(&(struct cn_jobs){.count = FILE_COUNT, .arg = files, .run = file_run},
                    ranks->size > 1 ? FILE_COUNT : w->workers);
    w->resolution_ns = files[TRACES].w.resolution_ns;
    for (size_t i = 0; i < FILE_COUNT; i++) {
        if (ok && !files[i].ok) {
            *err = files[i].err;
            ok = false;
        }
        cn_out_abandon(&files[i].out);
    }
    return ok;
}

static bool make_folder(const char *dir, const char *name, struct cn_error *err)
{
    char *path = cn_strprintf("%s/%s", dir, name);
    bool ok = mkdir(path, 0777) == 0 || cn_fail_errno(err, "%s", path);

    free(path);
    return ok;
}

static bool write_texts(const struct cn_hpc_writing *w, struct cn_error *err)
{
    return cn_hpc_states_write(w, err) && cn_hpc_origin_write(w, err) &&
           make_folder(w->dir, "metrics", err) && cn_hpc_taxonomy_write(w, err) &&
           cn_hpc_documents_write(w, err) &&
           cn_hpc_sources_copy(w->db, w->dir, w->options, err);
}

/* Send what the writer of meta.db has found to the other ranks. */
static bool share_contexts(struct cn_hpc_writing *w, struct cn_ranks *ranks,
                           struct cn_error *err)
{
    size_t len = (size_t)w->db->context_limit / 8 + 1;
    struct cn_text message = {0};
    struct cn_bytes bytes;
    bool ok;

    cn_wire_u64(&message, w->tuples_len);
    cn_wire_u32(&message, w->context_count);
    cn_text_add(&message, (const char *)w->listed, len);
    ok = cn_ranks_broadcast(ranks, &message, err);
    bytes = cn_wire_view(&message);
    if (ok && (!cn_wire_u64_take(&bytes, &w->tuples_len) ||
               !cn_wire_u32_take(&bytes, &w->context_count) || bytes.len != len))
        ok = cn_fail(err, CN_ERR_FORMAT, "rank 0 has other contexts");
    if (ok)
        memcpy(w->listed, bytes.ptr, len);
    cn_text_done(&message);
    return cn_ranks_agree(ranks, ok, err);
}

static bool write_into(struct cn_hpc_writing *w, struct cn_ranks *ranks,
                       struct cn_database *all, struct cn_error *err)
{
    bool ok = !w->is_first || (cn_hpc_tuples_measure(w->db, &w->tuples_len, err) &&
                               cn_hpc_meta_write(w, err));

    return cn_ranks_agree(ranks, ok, err) && share_contexts(w, ranks, err) &&
           write_files(w, ranks, all, err) &&
           cn_ranks_agree(ranks, !w->is_first || write_texts(w, err), err);
}

/* Rank 0 makes the folder and sends its name to the others. */
static bool begin_folder(const struct cn_hpc_writing *w, struct cn_ranks *ranks,
                         struct cn_outdir *dir, const char *path, struct cn_text *name,
                         struct cn_error *err)
{
    bool ok = true;

    if (w->is_first) {
        ok = cn_outdir_begin(dir, path, w->options->replace, err);
        cn_text_str_add(name, ok ? dir->path : "");
    }
    return cn_ranks_agree(ranks, ok, err) && cn_ranks_broadcast(ranks, name, err);
}

/* Leave out what latency.db contains. All ranks must know what remains. */
static bool show(struct cn_hpc_shown *shown, struct cn_ranks *ranks,
                 struct cn_database *all, struct cn_database **db, struct cn_error *err)
{
    cn_hpc_shown_init(shown, all, db);
    return ranks->size == 1 || *db == all ||
           (cn_ranks_agree(ranks, cn_hpc_shown_count(shown, err), err) &&
            cn_ranks_combine(ranks, CN_RANKS_ADD, shown->counts,
                             2 * (size_t)all->profile_count, err));
}

bool cn_hpc_v4_write_together(struct cn_database *db, struct cn_ranks *ranks,
                              const char *path, const struct cn_write_options *options,
                              struct cn_error *err)
{
    struct cn_hpc_rooted rooted;
    struct cn_hpc_shown shown = {.prop_ids = NULL};
    struct cn_outdir dir = {0};
    struct cn_text name = {0};
    struct cn_hpc_writing w = {
        .db = db,
        .is_first = cn_ranks_is_first(ranks),
        .options = options,
        .workers = options->workers ? options->workers : cn_pool_default_workers(),
    };
    /* A database of several ranks comes from an analysis, which makes entry points. */
    bool ok = (ranks->size > 1 || cn_hpc_rooted_init(&rooted, db, &w.db, err)) &&
              begin_folder(&w, ranks, &dir, path, &name, err);

    if (ok) {
        struct cn_database *all = w.db;

        w.dir = cn_text_str(&name);
        w.listed = cn_alloc((size_t)w.db->context_limit / 8 + 1, 1);
        ok = show(&shown, ranks, all, &w.db, err) && write_into(&w, ranks, all, err);
        if (ok && w.is_first)
            ok = cn_outdir_commit(&dir, err);
        ok = cn_ranks_agree(ranks, ok, err);
        free(w.listed);
    }
    cn_hpc_shown_done(&shown);
    cn_outdir_abandon(&dir);
    cn_text_done(&name);
    return ok;
}

bool cn_hpc_v4_write(struct cn_database *db, const char *path,
                     const struct cn_write_options *options, struct cn_error *err)
{
    return cn_hpc_v4_write_together(db, &cn_ranks_alone, path, options, err);
}
