#include "server/http/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/bytes/utf8.h"
#include "base/text.h"
#include "server/served/span_metrics.h"

static void begin_metric(struct cn_text *out, const char *name, const char *type,
                         const char *help)
{
    cn_text_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* Append a label after others. Bytes that are not UTF-8, which a scraper would refuse, appear as
 * \xHH: names that differ stay different. */
static void add_label(struct cn_text *labels, const char *name, const char *value)
{
    size_t len = strlen(value), n;

    cn_text_printf(labels, "%s%s=\"", labels->len > 0 ? "," : "", name);
    for (; len > 0; value += n, len -= n) {
        size_t char_len = cn_utf8_char_len(value, len);

        n = char_len > 0 ? char_len : 1;
        if (char_len == 0)
            cn_text_printf(labels, "\\\\x%02x", (uint8_t)*value);
        else if (*value == '\n')
            cn_text_str_add(labels, "\\n");
        else if (*value == '\\' || *value == '"')
            cn_text_printf(labels, "\\%c", *value);
        else
            cn_text_add(labels, value, n);
    }
    cn_text_char(labels, '"');
}

static void add_exemplar(struct cn_text *out, const struct cn_span_exemplar *exemplar)
{
    if ((exemplar->trace_high | exemplar->trace_low) == 0)
        return;
    cn_text_printf(
        out, " # {traceID=\"%016" PRIx64 "%016" PRIx64 "\"} %.9f %" PRIu64 ".%03" PRIu64,
        exemplar->trace_high, exemplar->trace_low, (double)exemplar->duration_ns / 1e9,
        exemplar->time_ns / 1000000000, exemplar->time_ns / 1000000 % 1000);
}

static void add_histogram(struct cn_text *out, const char *name, const char *labels,
                          const struct cn_span_histogram *of, bool has_exemplars)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < CN_SPAN_BUCKETS; i++) {
        double limit = cn_span_bucket_s(i);

        sum += of->counts[i];
        if (isfinite(limit))
            cn_text_printf(out, "%s_bucket{%s,le=\"%.3f\"} %" PRIu64, name, labels, limit,
                           sum);
        else
            cn_text_printf(out, "%s_bucket{%s,le=\"+Inf\"} %" PRIu64, name, labels, sum);
        if (has_exemplars)
            add_exemplar(out, &of->exemplars[i]);
        cn_text_char(out, '\n');
    }
    cn_text_printf(out, "%s_sum{%s} %.9f\n%s_count{%s} %" PRIu64 "\n", name, labels,
                   of->sum_s, name, labels, of->count);
}

/* The kinds of OpenTelemetry; agents have types of their own. */
static void print_kind(struct cn_text *out, const char *kind)
{
    static const char *const kinds[] = {"internal", "server", "client", "producer",
                                        "consumer"};

    cn_text_clear(out);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kind, kinds[i]) == 0) {
            cn_text_str_add(out, "SPAN_KIND_");
            for (const char *c = kind; *c; c++)
                cn_text_char(out, (char)(*c - 'a' + 'A'));
            return;
        }
    cn_text_str_add(out, *kind ? kind : "SPAN_KIND_UNSPECIFIED");
}

static void print_series(struct cn_text *labels, const struct cn_span_series *series)
{
    struct cn_text kind = {0};

    cn_text_clear(labels);
    print_kind(&kind, series->kind);
    add_label(labels, "service", series->service);
    add_label(labels, "span_name", series->name);
    add_label(labels, "span_kind", cn_text_str(&kind));
    add_label(labels, "status_code",
              series->has_failed ? "STATUS_CODE_ERROR" : "STATUS_CODE_UNSET");
    cn_text_done(&kind);
}

static void add_series(struct cn_text *out, const struct cn_span_metrics *metrics,
                       bool has_exemplars)
{
    struct cn_text labels = {0};

    begin_metric(out, "traces_spanmetrics_calls_total", "counter",
                 "Spans that arrived, by service and name.");
    for (size_t i = 0; i < metrics->series_count; i++) {
        print_series(&labels, &metrics->series[i]);
        cn_text_printf(out, "traces_spanmetrics_calls_total{%s} %" PRIu64 "\n",
                       cn_text_str(&labels), metrics->series[i].durations.count);
    }
    begin_metric(out, "traces_spanmetrics_latency", "histogram",
                 "Durations of spans in seconds.");
    for (size_t i = 0; i < metrics->series_count; i++) {
        print_series(&labels, &metrics->series[i]);
        add_histogram(out, "traces_spanmetrics_latency", cn_text_str(&labels),
                      &metrics->series[i].durations, has_exemplars);
    }
    cn_text_done(&labels);
}

static void print_edge(struct cn_text *labels, const struct cn_span_edge *edge)
{
    cn_text_clear(labels);
    add_label(labels, "client", edge->client);
    add_label(labels, "server", edge->server);
    add_label(labels, "connection_type", "");
}

static void add_edge_counts(struct cn_text *out, const struct cn_span_metrics *metrics,
                            const char *name, const char *help, bool is_failed)
{
    struct cn_text labels = {0};

    begin_metric(out, name, "counter", help);
    for (size_t i = 0; i < metrics->edge_count; i++) {
        const struct cn_span_edge *edge = &metrics->edges[i];

        print_edge(&labels, edge);
        cn_text_printf(out, "%s{%s} %" PRIu64 "\n", name, cn_text_str(&labels),
                       is_failed ? edge->failed : edge->of_server.count);
    }
    cn_text_done(&labels);
}

static void add_edge_times(struct cn_text *out, const struct cn_span_metrics *metrics,
                           const char *name, const char *help, bool is_server,
                           bool has_exemplars)
{
    struct cn_text labels = {0};

    begin_metric(out, name, "histogram", help);
    for (size_t i = 0; i < metrics->edge_count; i++) {
        const struct cn_span_edge *edge = &metrics->edges[i];

        print_edge(&labels, edge);
        add_histogram(out, name, cn_text_str(&labels),
                      is_server ? &edge->of_server : &edge->of_client, has_exemplars);
    }
    cn_text_done(&labels);
}

void cn_metrics_add_spans(struct cn_text *out, const struct cn_span_metrics *metrics,
                          bool has_exemplars)
{
    add_series(out, metrics, has_exemplars);
    add_edge_counts(out, metrics, "traces_service_graph_request_total",
                    "Calls from one service to another.", false);
    add_edge_counts(out, metrics, "traces_service_graph_request_failed_total",
                    "Calls from one service to another that failed.", true);
    add_edge_times(out, metrics, "traces_service_graph_request_server_seconds",
                   "Durations of calls as the called service sees them.", true,
                   has_exemplars);
    add_edge_times(out, metrics, "traces_service_graph_request_client_seconds",
                   "Durations of calls as the calling service sees them.", false,
                   has_exemplars);
    begin_metric(out, "cairn_span_metrics_left_out_total", "counter",
                 "Spans and calls in no series: there are too many.");
    cn_text_printf(out, "cairn_span_metrics_left_out_total %" PRIu64 "\n",
                   metrics->left_out);
}

void cn_metrics_to_open(struct cn_text *text)
{
    static const char suffix[] = "_total";
    struct cn_text open = {0};
    const char *line = cn_text_str(text);

    while (*line) {
        size_t len = strcspn(line, "\n") + 1;
        /* "# HELP NAME text", "# TYPE NAME type" */
        size_t name = 7, end = name + strcspn(line + (len > name ? name : 0), " \n");

        if (line[0] == '#' && len > end && end > name + strlen(suffix) &&
            memcmp(line + end - strlen(suffix), suffix, strlen(suffix)) == 0) {
            cn_text_add(&open, line, end - strlen(suffix));
            cn_text_add(&open, line + end, len - end);
        } else {
            cn_text_add(&open, line, len);
        }
        line += len;
    }
    cn_text_str_add(&open, "# EOF\n");
    cn_text_done(text);
    *text = open;
}
