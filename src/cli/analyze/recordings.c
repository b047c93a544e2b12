/* cairn analyze of recordings, and of the traces of a store. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/duration.h"
#include "cli/analyze/analyze.h"
#include "cli/recording/options.h"
#include "model/calls/recording.h"
#include "open/host/target.h"
#include "symbols/sources.h"

static bool parse_options(const struct cn_analyze *a, struct cn_call_sources *from,
                          struct cn_error *err)
{
    const struct cn_args *args = a->args;
    const char *min_time = cn_args_value(args, "min-time");
    const char *statistics = cn_args_value(args, "statistics");
    struct cn_values moved = cn_args_values(args, "source-path");

    from->options = (struct cn_calls_options){
        .workers = a->to.write.workers,
        .ranks = a->ranks,
        .folder = cn_text_str(&a->folder),
        .title = a->title,
        .is_collapsed = cn_args_has(args, "collapse-recursion"),
        .has_all_statistics = !statistics || strcmp(statistics, "all") == 0,
        .without_timelines = a->to.write.without_timelines,
        .timeline_resolution_ns = a->to.write.timeline_resolution_ns,
        .timeline_sample_max = a->to.write.timeline_sample_max,
    };
    if (min_time &&
        !cn_duration_parse(min_time, CN_BARE_REFUSED, &from->options.min_time_ns, err))
        return cn_fail_in(err, "--min-time");
    for (size_t i = 0; i < moved.count; i++)
        if (!cn_sources_move(from->moved, moved.list[i], err))
            return cn_fail_in(err, "--source-path");
    return true;
}

static bool check_sources(const struct cn_analyze *a, struct cn_error *err)
{
    for (size_t i = 0; i < a->paths.count; i++)
        if (!cn_target_check_source(a->to.path, a->paths.list[i], true, err))
            return false;
    *err = a->unknown;
    return a->unknown.kind == CN_ERR_NONE;
}

/* Load the calls of the sources, and apply the options that choose some of them. */
static bool load(struct cn_analyze *a, struct cn_recording_setup *setups,
                 struct cn_call_query *queries, struct cn_error *err)
{
    for (size_t i = 0; i < a->source_count; i++) {
        struct cn_opened *source = &a->sources[i];

        if (!cn_opened_load(source, CN_CALLS, NULL, err))
            return false;
        struct cn_recording *rec = source->rec;
        source->rec = NULL; /* the setup takes it */
        if (!cn_recording_setup_apply(&setups[i], a->args,
                                      &(struct cn_recording_source){.path = source->path},
                                      rec, err))
            return false;
        queries[i] = setups[i].query;
    }
    return true;
}

bool cn_analyze_recordings(struct cn_analyze *a, struct cn_analysis *out,
                           struct cn_error *err)
{
    size_t count = a->source_count;
    struct cn_recording_setup *setups = cn_alloc(count, sizeof(*setups));
    struct cn_call_query *queries = cn_alloc(count, sizeof(*queries));
    struct cn_sources moved = {0};
    struct cn_call_sources from = {.queries = queries, .count = count, .moved = &moved};
    bool ok = cn_analyze_set_target(a, cn_args_value(a->args, "output"), err) &&
              parse_options(a, &from, err) && check_sources(a, err) &&
              load(a, setups, queries, err);

    ok = cn_analyze_agree(a, ok, err) && cn_analyze_calls(out, &from, &a->to, err);
    for (size_t i = 0; i < count; i++)
        cn_recording_setup_done(&setups[i]);
    free(setups);
    free(queries);
    cn_sources_done(&moved);
    return ok;
}
