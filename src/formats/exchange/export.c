#include "formats/exchange/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/run/pool.h"

enum { NS_A_SECOND = 1000000000 };

void cn_export_lose(struct cn_export *x, const char *what, uint64_t count)
{
    if (count == 0)
        return;
    for (size_t i = 0; i < x->loss_count; i++) {
        if (strcmp(x->losses[i].what, what) == 0) {
            x->losses[i].count += count;
            return;
        }
    }
    if (x->loss_count < CN_EXPORT_LOSS_MAX)
        x->losses[x->loss_count++] = (struct cn_export_loss){what, count};
}

bool cn_export_flush(struct cn_export *x, struct cn_error *err)
{
    return cn_sink_text_some(&x->sink, &x->text, err);
}

void cn_export_init(struct cn_export *x, const struct cn_write_options *options)
{
    x->options = options;
    x->workers = options->workers ? options->workers : cn_pool_default_workers();
}

bool cn_export_finish(struct cn_export *x, const char *path, struct cn_error *err)
{
    for (size_t i = 0; i < x->loss_count && x->options->on_loss; i++)
        x->options->on_loss(x->options->on_loss_arg, x->losses[i].what,
                            x->losses[i].count);
    if (x->loss_count > 0 && x->options->is_strict)
        return cn_fail(err, CN_ERR_IO, "%s is not written: --strict allows no losses",
                       path);
    return true;
}

bool cn_export_result(struct cn_export *x, struct cn_error *err)
{
    const struct cn_call_damage *first = x->damages.list;

    if (x->damages.count == 0)
        return true;
    return cn_fail(err, CN_ERR_FORMAT,
                   "%zu of %" PRIu32 " tasks are damaged; what comes before the damage "
                   "is written; the first is task %" PRIu32 ": %s",
                   x->damages.count, x->query->task_count,
                   x->query->rec->tasks[first->task].tid, first->err.text);
}

void cn_export_done(struct cn_export *x)
{
    cn_sink_abandon(&x->sink);
    cn_text_done(&x->text);
    cn_call_damages_done(&x->damages);
}

static bool write_file(struct cn_export *x, const char *path,
                       const struct cn_write_options *options, cn_export_fn write,
                       bool is_gzip, struct cn_error *err)
{
    bool ok;

    cn_export_init(x, options);
    if (is_gzip && cn_sink_plain_len(path) == strlen(path))
        ok = cn_sink_open_gzip(&x->sink, path, options->replace, err);
    else
        ok = cn_sink_open(&x->sink, path, options->replace, err);
    ok = ok && write(x, err) && cn_sink_text(&x->sink, &x->text, err) &&
         cn_export_finish(x, path, err) && cn_sink_commit(&x->sink, err) &&
         cn_export_result(x, err);
    cn_export_done(x);
    return ok;
}

bool cn_export_calls(const struct cn_call_query *query, const char *path,
                     const struct cn_write_options *options, cn_export_fn write,
                     bool is_gzip, struct cn_error *err)
{
    struct cn_export x = {.query = query};

    return write_file(&x, path, options, write, is_gzip, err);
}

bool cn_export_database(struct cn_database *db, const char *path,
                        const struct cn_write_options *options, cn_export_fn write,
                        bool is_gzip, struct cn_error *err)
{
    struct cn_export x = {.db = db};

    return write_file(&x, path, options, write, is_gzip, err);
}

uint64_t cn_export_start_ns(const struct cn_call_query *query)
{
    uint64_t start_ns = UINT64_MAX;

    for (uint32_t i = 0; i < query->task_count; i++) {
        const struct cn_task *task = &query->rec->tasks[query->tasks[i]];

        if (task->first_ns && task->first_ns < start_ns)
            start_ns = task->first_ns;
        if (task->time_ns && task->time_ns < start_ns)
            start_ns = task->time_ns;
    }
    return start_ns == UINT64_MAX ? 0 : start_ns;
}

uint64_t cn_export_end_ns(struct cn_export *x)
{
    const struct cn_call_query *query = x->query;

    if (x->end_ns > 0 || x->ends_with_tasks || query->range.last_ns < UINT64_MAX)
        return x->end_ns;
    for (uint32_t i = 0; i < query->task_count; i++) {
        uint64_t last_ns = cn_recording_last_ns(query->rec, query->tasks[i]);

        if (last_ns > x->end_ns)
            x->end_ns = last_ns;
    }
    return x->end_ns;
}

uint64_t cn_export_clock_offset_ns(const struct cn_recording *rec)
{
    const char *offset = cn_recording_fact(rec, "utc_offset");
    unsigned long long seconds = offset ? strtoull(offset, NULL, 10) : 0;

    return seconds < INT64_MAX / NS_A_SECOND ? seconds * NS_A_SECOND : 0;
}

const char *cn_export_program(const struct cn_recording *rec)
{
    const char *path = rec->session_count > 0 ? rec->sessions[0].exename : "program";
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}
