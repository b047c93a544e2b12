#include "formats/exchange/write/spans/writers.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/run/pool.h"
#include "base/run/progress.h"

enum { ROUND_LEN = 1 << 20 }; /* bytes of text per writer and round */

struct rounds {
    struct cn_export *x;
    const struct cn_writer_ops *ops;
    void *arg;
    struct cn_writer writers[CN_WRITERS_MAX];
    size_t writer_max, writer_count;
    uint32_t next_slot, done_count;
    struct cn_span_counts counts;
    bool has_written;
    bool ok;
    struct cn_error err;
};

static void open_writer(struct rounds *rounds)
{
    const struct cn_call_query *query = rounds->x->query;
    struct cn_writer *writer = &rounds->writers[rounds->writer_count++];
    uint32_t slot = rounds->next_slot++;
    uint32_t task = query->tasks[slot];
    struct cn_text text = writer->text, scratch = writer->scratch;

    *writer = (struct cn_writer){
        .x = rounds->x,
        .rec = query->rec,
        .arg = rounds->arg,
        .slot = slot,
        .task = &query->rec->tasks[task],
        .text = text,
        .scratch = scratch,
        .base_ns = cn_export_start_ns(query),
        .step = CN_ITEM,
    };
    if (rounds->ops->begin)
        rounds->ops->begin(writer);
    if (!cn_spans_open(&writer->spans, query, task, &writer->err))
        writer->step = CN_FAIL;
}

static void fill_writer(void *arg, size_t job, unsigned worker)
{
    struct rounds *rounds = arg;
    struct cn_writer *writer = &rounds->writers[job];

    (void)worker;
    while (writer->step == CN_ITEM && writer->text.len < ROUND_LEN)
        writer->step =
            cn_spans_next(writer->spans, rounds->ops->visit, writer, &writer->err);
}

static void close_writer(struct rounds *rounds, struct cn_writer *writer)
{
    if (writer->step == CN_FAIL)
        cn_export_damage(rounds->x, rounds->x->query->tasks[writer->slot], &writer->err);
    if (writer->spans)
        cn_spans_finish(writer->spans, rounds->ops->visit, writer);
    if (rounds->ops->end)
        rounds->ops->end(writer);
    if (writer->spans)
        cn_spans_count(writer->spans, &rounds->counts);
    cn_spans_close(writer->spans);
    writer->spans = NULL;
    rounds->done_count++;
}

static void write_writer(void *arg, size_t job, unsigned worker)
{
    struct rounds *rounds = arg;
    struct cn_writer *writer = &rounds->writers[job];

    (void)worker;
    if (writer->step != CN_ITEM)
        close_writer(rounds, writer);
    if (writer->text.len == 0 || !rounds->ok)
        return;
    if (rounds->ops->is_list && !rounds->has_written)
        writer->text.chars[0] = ' ';
    rounds->has_written = true;
    rounds->ok = cn_sink_text(&rounds->x->sink, &writer->text, &rounds->err);
}

/* Move the writers that have not ended to the front. */
static void drop_ended_writers(struct rounds *rounds)
{
    size_t count = 0;

    for (size_t i = 0; i < rounds->writer_count; i++) {
        struct cn_writer writer = rounds->writers[i];

        if (writer.step != CN_ITEM)
            continue;
        rounds->writers[i] = rounds->writers[count];
        rounds->writers[count++] = writer;
    }
    rounds->writer_count = count;
}

static bool run_round(struct rounds *rounds, struct cn_error *err)
{
    const struct cn_call_query *query = rounds->x->query;
    struct cn_jobs jobs = {.arg = rounds, .run = fill_writer, .take = write_writer};

    while (rounds->writer_count < rounds->writer_max &&
           rounds->next_slot < query->task_count)
        open_writer(rounds);
    jobs.count = rounds->writer_count;
    cn_pool_run(&jobs, rounds->x->workers < jobs.count ? rounds->x->workers
                                                       : (unsigned)jobs.count);
    drop_ended_writers(rounds);
    if (!rounds->ok) {
        *err = rounds->err;
        return false;
    }
    return cn_progress_report(rounds->x->options->progress, "writing calls",
                              rounds->done_count, query->task_count, "tasks", err);
}

bool cn_export_writers(struct cn_export *x, const struct cn_writer_ops *ops, void *arg,
                       struct cn_span_counts *counts, struct cn_error *err)
{
    struct rounds *rounds = cn_alloc(1, sizeof(*rounds));
    bool ok = cn_sink_text(&x->sink, &x->text, err);

    rounds->x = x;
    rounds->ops = ops;
    rounds->arg = arg;
    rounds->writer_max = ops->is_sequential ? 1 : CN_WRITERS_MAX;
    rounds->ok = true;
    while (ok && (rounds->writer_count > 0 || rounds->next_slot < x->query->task_count))
        ok = run_round(rounds, err);
    for (size_t i = 0; i < CN_WRITERS_MAX; i++) {
        cn_spans_close(rounds->writers[i].spans);
        cn_text_done(&rounds->writers[i].text);
        cn_text_done(&rounds->writers[i].scratch);
    }
    *counts = rounds->counts;
    free(rounds);
    return ok;
}
