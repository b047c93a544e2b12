#include "base/date.h"
#include "cli/info/info.h"
#include "cli/store/args.h"

#include <inttypes.h>

#include "cli/print/facts.h"
#include "cli/shell/cli.h"
#include "model/traces/trace.h"
#include "store/search/query.h"
#include "store/search/traces.h"
#include "store/segment/reader.h"
#include "store/segment/weights.h"
#include "store/write/java_import.h"

struct store_summary {
    uint64_t segments, sealed, damaged;
    struct cn_segment_summary all;
    struct cn_store_sampling sampling;
};

/* Traces with all of their spans, whichever segments these are in. */
static bool count_traces(const struct cn_store *store, struct cn_segment_summary *all,
                         struct cn_error *err)
{
    struct cn_search_trace_count traces = {0}, failed = {0};
    struct cn_query *every = NULL, *errors = NULL;
    struct cn_search *search = NULL;
    bool ok = cn_query_parse(&every, "", 0, err) &&
              cn_query_parse(&errors, "errors", 0, err) &&
              cn_search_open(&search, store, err) &&
              cn_search_count_traces(search, every, &traces, err) &&
              cn_search_count_traces(search, errors, &failed, err) &&
              cn_search_count(search, every, &all->spans, err);

    all->traces = traces.count;
    all->failed_traces = failed.count;
    cn_search_close(search);
    cn_query_free(every);
    cn_query_free(errors);
    return ok;
}

static bool summarize(const struct cn_args *args, struct store_summary *summary,
                      const char *path, struct cn_error *err)
{
    struct cn_store *store;
    bool ok = true;

    if (!cn_store_open(&store, path, err))
        return false;
    cn_store_warn_missing(args, store);
    summary->segments = cn_store_segment_count(store);
    summary->sampling = cn_store_sampling(store);
    for (size_t i = 0; ok && i < summary->segments; i++) {
        const struct cn_segment *segment = cn_store_segment(store, i);
        struct cn_segment_summary one;

        summary->sealed += cn_segment_is_sealed(segment);
        ok = cn_segment_summarize(segment, &one, err);
        if (ok)
            cn_segment_summary_add(&summary->all, &one);
    }
    ok = ok && count_traces(store, &summary->all, err);
    if (ok)
        summary->damaged = cn_store_warn_damage(args, store);
    cn_store_close(store);
    return ok;
}

static bool count_trace(void *arg, const struct cn_trace *trace, uint64_t data_off,
                        struct cn_error *err)
{
    uint64_t time_ns = trace->span_count > 0 ? trace->spans[0].time_ns : 0;

    (void)data_off;
    (void)err;
    cn_segment_summary_add(arg, &(struct cn_segment_summary){
                                    .first_ns = time_ns,
                                    .last_ns = time_ns,
                                    .spans = trace->span_count,
                                    .traces = 1,
                                    .failed_traces = trace->nodes[0].errors > 0,
                                    .records = trace->node_count,
                                });
    return true;
}

/* A store of the original implementation has no rows: its data is read. */
static bool summarize_java(struct store_summary *summary, const char *path,
                           struct cn_error *err)
{
    struct cn_java_import_counts counts;

    if (!cn_java_store_walk(path, count_trace, &summary->all, &counts, err))
        return false;
    summary->segments = counts.segments;
    summary->damaged = counts.bad_chunks + counts.bad_files;
    summary->all.disk_len = counts.disk_len;
    return true;
}

static void print_facts(const struct cn_args *args, const struct store_summary *s)
{
    struct cn_facts facts;

    cn_facts_begin(&facts, cn_cli_format(args));
    cn_facts_str(&facts, "format", "store");
    cn_facts_u64(&facts, "segments", s->segments);
    cn_facts_u64(&facts, "sealed_segments", s->sealed);
    cn_facts_u64(&facts, "damaged_segments", s->damaged);
    cn_facts_u64(&facts, "traces", s->all.traces);
    cn_facts_u64(&facts, "spans", s->all.spans);
    cn_facts_u64(&facts, "records", s->all.records);
    cn_facts_u64(&facts, "failed_traces", s->all.failed_traces);
    if (s->sampling.segments > 0) {
        cn_facts_u64(&facts, "sampled_segments", s->sampling.segments);
        cn_facts_u64(&facts, "dropped_traces", s->sampling.dropped_traces);
        cn_facts_u64(&facts, "dropped_spans", s->sampling.dropped_spans);
    }
    cn_facts_u64(&facts, "first_ns", s->all.traces ? s->all.first_ns : 0);
    cn_facts_u64(&facts, "last_ns", s->all.last_ns);
    cn_facts_u64(&facts, "bytes", s->all.disk_len);
    cn_cli_print_facts(args, &facts);
}

static void add_time(struct cn_text *text, const char *label, uint64_t time_ns)
{
    cn_text_printf(text, "%-16s ", label);
    cn_date_print(text, time_ns, 3);
    cn_text_str_add(text, " UTC\n");
}

static void print_text(const struct cn_args *args, const struct store_summary *s)
{
    struct cn_text text = {0};

    cn_text_printf(&text, "%-16s store\n", "format");
    cn_text_printf(&text, "%-16s %" PRIu64 ", of which sealed %" PRIu64 "\n", "segments",
                   s->segments, s->sealed);
    if (s->damaged > 0)
        cn_text_printf(&text, "%-16s %" PRIu64 ": see cairn verify\n", "damaged segments",
                       s->damaged);
    cn_text_printf(&text, "%-16s %" PRIu64 ", failed %" PRIu64 "\n", "traces",
                   s->all.traces, s->all.failed_traces);
    cn_text_printf(&text, "%-16s %" PRIu64 "\n", "spans", s->all.spans);
    cn_text_printf(&text, "%-16s %" PRIu64 "\n", "records", s->all.records);
    if (s->sampling.segments > 0)
        cn_text_printf(&text,
                       "%-16s %" PRIu64 " segments; dropped %" PRIu64
                       " traces with %" PRIu64 " spans\n",
                       "sampled", s->sampling.segments, s->sampling.dropped_traces,
                       s->sampling.dropped_spans);
    if (s->all.traces > 0) {
        add_time(&text, "first", s->all.first_ns);
        add_time(&text, "last", s->all.last_ns);
    }
    cn_text_printf(&text, "%-16s %" PRIu64, "bytes", s->all.disk_len);
    if (s->all.records > 0)
        cn_text_printf(&text, ", %.2f a record",
                       (double)s->all.disk_len / (double)s->all.records);
    cn_text_char(&text, '\n');
    cn_cli_print(args, &text);
    cn_text_done(&text);
}

bool cn_info_store(const struct cn_args *args, const char *path, struct cn_error *err)
{
    struct store_summary summary = {.all.first_ns = UINT64_MAX};

    if (cn_java_store_probe(path) ? !summarize_java(&summary, path, err)
                                  : !summarize(args, &summary, path, err))
        return false;
    if (cn_cli_format(args) == CN_TABLE_TEXT)
        print_text(args, &summary);
    else
        print_facts(args, &summary);
    return summary.damaged == 0 ||
           cn_fail(err, CN_ERR_FORMAT, "%s is damaged: what is shown is incomplete",
                   path);
}
