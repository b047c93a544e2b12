/* What a scrape of /metrics gets: counts of the server, its collector, gRPC, and the spans that arrived. */
#include "server/http/state.h"

#include <inttypes.h>

#include "base/text.h"
#include "server/grpc/grpc.h"
#include "server/http/metrics.h"
#include "store/pipeline/collector.h"
#include "store/pipeline/uploader.h"

static void add_metric(struct cn_text *text, const char *name, const char *help,
                       uint64_t value)
{
    const char *type = cn_ends_with(name, "_total") ? "counter" : "gauge";

    cn_text_printf(text, "# HELP cairn_%s %s\n# TYPE cairn_%s %s\ncairn_%s %" PRIu64 "\n",
                   name, help, name, type, name, value);
}

/* Rules by their number; "none" are traces that no rule matches. */
static void add_rule_metrics(struct cn_text *text, const char *name, const char *help,
                             const uint64_t counts[CN_SAMPLE_RULES_MAX + 1])
{
    cn_text_printf(text, "# HELP cairn_%s %s\n# TYPE cairn_%s counter\n", name, help,
                   name);
    for (size_t i = 0; i <= CN_SAMPLE_RULES_MAX; i++) {
        if (counts[i] == 0)
            continue;
        if (i < CN_SAMPLE_RULES_MAX)
            cn_text_printf(text, "cairn_%s{rule=\"%zu\"} %" PRIu64 "\n", name, i + 1,
                           counts[i]);
        else
            cn_text_printf(text, "cairn_%s{rule=\"none\"} %" PRIu64 "\n", name,
                           counts[i]);
    }
}

static void add_sampling_metrics(struct cn_text *text,
                                 const struct cn_sampling_counts *of)
{
    add_metric(text, "sampling_segments_total", "Segments sampled by --sample.",
               of->segments);
    add_metric(text, "sampling_kept_spans_total", "Spans in them that were kept.",
               of->kept_spans);
    add_metric(text, "sampling_dropped_spans_total", "Spans in them that were dropped.",
               of->dropped_spans);
    add_rule_metrics(text, "sampling_kept_traces_total",
                     "Traces that were kept, by number of the rule.", of->kept);
    add_rule_metrics(text, "sampling_dropped_traces_total",
                     "Traces that were dropped, by number of the rule.", of->dropped);
}

static void add_collector_metrics(struct cn_text *text, struct cn_collector_counts of,
                                  struct cn_keeper_counts kept)
{
    add_metric(text, "collector_requests_total", "Requests with traces.", of.requests);
    add_metric(text, "collector_refused_total", "Requests whose traces were not stored.",
               of.refused);
    add_metric(text, "collector_put_off_total", "Requests answered with 429.",
               of.put_off);
    add_metric(text, "collector_traces_total", "Traces whose first span was stored.",
               of.traces);
    add_metric(text, "collector_parts_total",
               "Parts of traces that were stored without the span that called them.",
               of.parts);
    add_metric(text, "collector_known_total",
               "Traces and parts of traces that were stored before.", of.known);
    add_metric(text, "collector_records_total", "Calls and spans stored.", of.records);
    add_metric(text, "collector_commits_total", "Commits to disk.", of.commits);
    add_metric(text, "collector_failures_total",
               "Lanes closed because the store could not be written.", of.failures);
    add_metric(text, "collector_redacted_total",
               "Values of attributes dropped, hashed or masked by --redact.",
               of.redacted);
    add_metric(text, "retention_segments_total", "Segments removed by --keep.",
               kept.segments);
    add_metric(text, "retention_spans_total", "Traces and spans in them.", kept.rows);
    add_metric(text, "retention_bytes_total", "Bytes of them.", kept.len);
    add_metric(text, "retention_pinned_total",
               "Pinned traces that stayed when their segment was removed.", kept.pinned);
    add_metric(text, "compaction_segments_total", "Segments joined by --compact.",
               kept.joined);
    add_metric(text, "retention_failures_total",
               "Attempts to remove, sample or join segments that failed.", kept.failures);
    add_sampling_metrics(text, &kept.sampled);
    add_metric(text, "collector_not_copied_total",
               "Commits that could not be copied to object storage (--replicate).",
               of.not_copied);
}

/* Zeros without gRPC. */
static void add_grpc_metrics(struct cn_text *text, struct cn_grpc *grpc)
{
    struct cn_grpc_counts of = {0};

#ifdef CN_HAS_NGHTTP2
    if (grpc)
        of = cn_grpc_counts(grpc);
#else
    (void)grpc;
#endif
    add_metric(text, "grpc_connections", "Connections of OTLP over gRPC.",
               of.connections);
    add_metric(text, "grpc_calls_total", "Calls of OTLP over gRPC.", of.calls);
    add_metric(text, "grpc_failed_total", "Calls answered with an error.", of.failed);
    add_metric(text, "grpc_floods_total",
               "Connections closed because of floods of frames, headers or resets.",
               of.floods);
}

/* Of the spans that arrived at the collector. While a long search has the store, those that were
 * counted before: a scrape does not wait for it. */
static void add_span_metrics(struct cn_counted *counted, struct cn_text *text,
                             bool has_exemplars)
{
    struct cn_served *served = counted->served;
    struct cn_error ignored;

    if (!served)
        return;
    (void)pthread_mutex_lock(&counted->lock);
    if (cn_served_try_lock(served)) {
        if (cn_served_store_refresh(&served->store, &ignored))
            cn_span_metrics_update(&counted->metrics, &served->store);
        cn_served_unlock(served);
    }
    cn_metrics_add_spans(text, &counted->metrics, has_exemplars);
    (void)pthread_mutex_unlock(&counted->lock);
}

/* Of the server, and of all its stores. */
static void add_server_metrics(struct cn_server *server, struct cn_text *text)
{
    struct cn_server_counts *counts = &server->counts;

    add_metric(text, "requests_total", "Requests received.",
               atomic_load(&counts->requests));
    add_metric(text, "requests_refused_total",
               "Requests refused: wrong token, host, method or path.",
               atomic_load(&counts->refused));
    add_metric(text, "requests_failed_total", "Requests answered with an error.",
               atomic_load(&counts->failed));
    cn_text_printf(text,
                   "# HELP cairn_answer_seconds_total Time spent on answers.\n"
                   "# TYPE cairn_answer_seconds_total counter\n"
                   "cairn_answer_seconds_total %.6f\n",
                   (double)atomic_load(&counts->answer_ns) / 1e9);
    add_metric(text, "requests_open", "Requests being answered.",
               atomic_load(&counts->open));
    add_metric(text, "sources", "Databases, recordings and stores served.",
               server->sources.count + server->tenants.count);
    if (server->collector)
        add_collector_metrics(text, cn_collector_counts(server->collector),
                              cn_collector_kept(server->collector));
    else if (server->tenants.count > 0)
        add_collector_metrics(text, cn_tenants_counts(&server->tenants),
                              cn_tenants_kept(&server->tenants));
    if (server->collect)
        add_grpc_metrics(text, server->grpc);
    if (server->uploader) {
        struct cn_uploader_counts of = cn_uploader_counts(server->uploader);

        add_metric(text, "uploaded_segments_total", "Segments copied to --upload.",
                   of.segments);
        add_metric(text, "upload_failures_total", "Failed attempts to copy a segment.",
                   of.failures);
        add_metric(text, "collector_local_bytes", "Size of the local store.",
                   of.local_len);
    }
}

void cn_server_scrape(struct cn_server *server, struct cn_tenant *tenant, bool is_open,
                      struct cn_text *out)
{
    if (tenant)
        add_collector_metrics(out, cn_collector_counts(tenant->collector),
                              cn_collector_kept(tenant->collector));
    else
        add_server_metrics(server, out);
    add_span_metrics(tenant ? &tenant->counted : &server->counted, out, is_open);
    if (is_open)
        cn_metrics_to_open(out);
}
