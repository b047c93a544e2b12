#include "server/page/export.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "analyze/timeline/range_database.h"
#include "analyze/timeline/range_sums.h"
#include "analyze/views/context_index.h"
#include "base/date.h"
#include "base/text.h"
#include "model/contexts/database.h"
#include "open/folder.h"
#include "open/formats.h"
#include "open/open.h"
#include "server/served/question.h"
#include "server/served/thread_list.h"
#include "store/search/traces.h"

static uint64_t add_times(uint64_t begin_ns, uint64_t ns)
{
    return ns < UINT64_MAX - begin_ns ? begin_ns + ns : UINT64_MAX;
}

/* The calls that are open when the range begins have no entries in it: the analysis is told that
 * the recording is a part, by the same range. */
static bool analyse(const char *path, bool is_raw, struct cn_time_range range,
                    const char *folder, struct cn_error *err)
{
    struct cn_recording *rec;

    if (!cn_open_recording(path, NULL, &rec, err))
        return false;
    bool ok = cn_folder_of_calls(folder, &rec, 1, is_raw, range, NULL, err);
    cn_recording_close(rec);
    return ok;
}

/* The time of the first call or return of a task; UINT64_MAX if it has none in the range. */
static uint64_t first_of_task(const struct cn_recording *rec, uint32_t task,
                              struct cn_time_range range)
{
    struct cn_call_stream *stream = NULL;
    uint64_t first_ns = UINT64_MAX;
    struct cn_call_batch batch;
    struct cn_error ignored; /* the analysis names damage */

    if (!cn_recording_stream_open(rec, task, range, &stream, &ignored))
        return first_ns;
    while (first_ns == UINT64_MAX &&
           cn_call_stream_next(stream, &batch, &ignored) == CN_ITEM)
        for (size_t i = 0; i < batch.count && first_ns == UINT64_MAX; i++)
            if (batch.calls[i].kind == CN_CALL_ENTER ||
                batch.calls[i].kind == CN_CALL_EXIT)
                first_ns = batch.calls[i].time_ns;
    cn_call_stream_close(stream);
    return first_ns;
}

/* Let the range begin with its first record, as a recording does. False if it has none. */
static bool tighten(const struct cn_recording *rec, struct cn_time_range *range)
{
    uint64_t first_ns = UINT64_MAX;

    for (uint32_t i = 0; i < rec->task_count; i++) {
        uint64_t task_ns = first_of_task(rec, i, *range);

        first_ns = task_ns < first_ns ? task_ns : first_ns;
    }
    range->first_ns = first_ns;
    return first_ns < UINT64_MAX;
}

static bool write_part(const struct cn_recording *rec, const struct cn_page_range *range,
                       const char *target, struct cn_time_range *out,
                       struct cn_error *damage, struct cn_error *err)
{
    uint64_t from_ns, to_ns, begin_ns = cn_recording_begin_ns(rec);
    struct cn_write_options options = {.damage = damage};

    if (!range->parse(range->text, 0, &from_ns, &to_ns, err))
        return false;
    *out =
        (struct cn_time_range){add_times(begin_ns, from_ns), add_times(begin_ns, to_ns)};
    if (!tighten(rec, out))
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s: no calls in %s", rec->path,
                       range->text);
    options.first_ns = out->first_ns;
    options.last_ns = out->last_ns;
    return cn_format_find("uftrace")->write_recording(rec, target, &options, err);
}

bool cn_page_cut_calls(const struct cn_recording *rec, const struct cn_page_range *range,
                       bool is_raw, const char *folder, struct cn_error *damage,
                       struct cn_error *err)
{
    struct cn_time_range part;
    char *recording = cn_strprintf("%s/recording", folder);
    char *analysis = cn_strprintf("%s/analysis", folder);
    bool ok = write_part(rec, range, recording, &part, damage, err);

    if (ok && mkdir(analysis, 0700) < 0)
        ok = cn_fail_errno(err, "%s", analysis);
    ok = ok && analyse(recording, is_raw, part, analysis, err);
    free(recording);
    free(analysis);
    return ok;
}

static bool write_samples(struct cn_database *db, const struct cn_context_index *index,
                          uint64_t begin_ns, uint64_t end_ns, const char *folder,
                          struct cn_error *err)
{
    static const struct cn_question_list all;
    struct cn_thread_list threads = {0};
    struct cn_range_request request = {
        .begin_ns = begin_ns, .end_ns = end_ns, .id_limit = index->id_limit};
    struct cn_database *part;
    bool ok = cn_thread_list_build(&threads, db, &all, true, err);

    request.profiles = threads.profiles;
    request.profile_count = threads.count;
    if (ok && cn_range_database_open(&part, db, index, &request, true, NULL, err)) {
        ok = cn_folder_of_samples(folder, part, NULL, err);
        cn_database_close(part);
    } else {
        ok = false;
    }
    cn_thread_list_done(&threads);
    return ok;
}

bool cn_page_cut_samples(struct cn_database *db, const struct cn_page_range *range,
                         const char *folder, struct cn_error *err)
{
    struct cn_context_index index = {0};
    uint64_t from_ns, to_ns;

    if (!db->has_timelines || db->end_ns <= db->begin_ns)
        return cn_fail(err, CN_ERR_USAGE, "%s: --time-range needs timelines", db->path);
    bool ok =
        range->parse(range->text, db->end_ns - db->begin_ns, &from_ns, &to_ns, err) &&
        cn_context_index_build(&index, db, err) &&
        write_samples(db, &index, db->begin_ns + from_ns, db->begin_ns + to_ns, folder,
                      err);
    cn_context_index_done(&index);
    return ok;
}

/* "2026-01-01 10:00:00.123456789" */
static void add_time(struct cn_text *query, const char *word, uint64_t time_ns)
{
    cn_text_printf(query, "%s \"", word);
    cn_date_print(query, time_ns, 9);
    cn_text_char(query, '"');
}

bool cn_page_cut_traces(const char *path, const struct cn_page_range *range,
                        struct cn_text *query, struct cn_error *err)
{
    struct cn_search_trace_count traces;
    struct cn_store_query all;
    uint64_t from_ns, to_ns;

    if (!cn_store_query_open(&all, path, "", err))
        return false;
    bool ok = cn_search_count_traces(all.search, all.query, &traces, err);
    cn_store_query_close(&all);
    if (!ok)
        return false;
    if (traces.first_ns >= traces.last_ns)
        return cn_fail(err, CN_ERR_USAGE,
                       "%s: --time-range needs traces of different times", path);
    if (!range->parse(range->text, traces.last_ns - traces.first_ns, &from_ns, &to_ns,
                      err))
        return false;
    add_time(query, "since", traces.first_ns + from_ns);
    cn_text_char(query, ' ');
    add_time(query, "until", traces.first_ns + to_ns);
    return true;
}
