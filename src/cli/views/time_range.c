#include "cli/views/time_range.h"

#include <stdlib.h>

#include "analyze/timeline/range_database.h"
#include "analyze/timeline/range_sums.h"
#include "base/alloc.h"
#include "base/duration.h"
#include "base/size.h"
#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/progress.h"
#include "cli/views/options.h"
#include "model/heap_history.h"

static bool list_threads(struct cn_database *db, uint32_t *profiles, size_t *count,
                         struct cn_error *err)
{
    struct cn_profile profile;

    for (uint32_t i = 1; i < db->profile_count; i++) {
        if (!cn_database_profile(db, i, &profile, err))
            return false;
        if (!profile.is_summary)
            profiles[(*count)++] = i;
    }
    return true;
}

static uint64_t live_at(const struct cn_heap_history *heap, uint64_t time_ns, bool is_end)
{
    double bytes = 0;

    for (size_t i = 0;
         i < heap->change_count && (is_end || heap->changes[i].time_ns <= time_ns); i++)
        bytes += heap->changes[i].bytes;
    return bytes > 0 && bytes < (double)INT64_MAX ? (uint64_t)bytes : 0;
}

/* "live memory: 1.2 MiB at the begin, 3.4 MiB at the end of the range; the peak, 15.5 MiB, is 175 ms after
 * the start" */
static void tell_heap(const struct cn_database *whole, const struct cn_args *args,
                      const struct cn_range_request *request)
{
    const struct cn_heap_history *heap = whole->heap;
    const struct cn_heap_process *best;
    struct cn_text text = {0};

    if (!heap || heap->process_count == 0)
        return;
    best = &heap->processes[0];
    for (size_t i = 1; i < heap->process_count; i++)
        if (heap->processes[i].peak_bytes > best->peak_bytes)
            best = &heap->processes[i];
    cn_text_str_add(&text, "live memory: ");
    cn_size_print(&text, live_at(heap, request->begin_ns, false));
    cn_text_str_add(&text, " at the begin, ");
    cn_size_print(&text,
                  live_at(heap, request->end_ns, request->end_ns >= whole->end_ns));
    cn_text_printf(&text, " at the end of the range; the peak%s, ",
                   heap->process_count > 1 ? " of the largest process" : "");
    cn_size_print(&text, (uint64_t)best->peak_bytes);
    cn_text_str_add(&text, ", is ");
    cn_duration_print(
        &text, best->peak_ns > whole->begin_ns ? best->peak_ns - whole->begin_ns : 0);
    cn_cli_say(args, "%s after the start", cn_text_str(&text));
    cn_text_done(&text);
}

static bool open_range(struct cn_view_range *range, const struct cn_args *args,
                       struct cn_database *whole, struct cn_range_request *request,
                       struct cn_error *err)
{
    uint32_t *profiles = cn_alloc(whole->profile_count, sizeof(*profiles));
    struct cn_bar bar;

    request->profiles = profiles;
    cn_bar_begin(&bar, args);
    bool ok = list_threads(whole, profiles, &request->profile_count, err) &&
              cn_context_index_build(&range->index, whole, err);
    request->id_limit = range->index.id_limit;
    ok = ok && cn_range_database_open(&range->db, whole, &range->index, request, true,
                                      &bar.progress, err);
    cn_bar_end(&bar);
    if (ok)
        tell_heap(whole, args, request);
    free(profiles);
    return ok || cn_fail_in(err, "%s", whole->path);
}

bool cn_view_range_open(struct cn_view_range *range, const struct cn_args *args,
                        struct cn_database **db, struct cn_error *err)
{
    const char *text = cn_args_value(args, "time-range");
    struct cn_range_request request = {0};

    if (!text)
        return true;
    if (!(*db)->has_timelines)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s has no timelines", (*db)->path);
    if (!cn_view_time_parse(*db, "time-range", text, &request.begin_ns, &request.end_ns,
                            err) ||
        !open_range(range, args, *db, &request, err))
        return false;
    *db = range->db;
    return true;
}

void cn_view_range_done(struct cn_view_range *range)
{
    cn_database_close(range->db);
    cn_context_index_done(&range->index);
}
