#include "store/store_recording.h"

#include <stdlib.h>

#include "analyze/calls/trace_calls.h"
#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "model/calls/recording.h"
#include "model/traces/trace.h"
#include "store/search/search_traces.h"
#include "store/search/trace_set.h"
#include "store/segment/reader.h"
#include "store/write/java_import.h"

/* Spans inside of traces that are added. A span can arrive twice, on its own and inside its
 * caller: it counts once. The two have the same ids, or, if the agent says that the inner one
 * was sent, ids of their own but the same time, duration and number of calls. */
struct inner_spans {
    struct cn_map by_id;
    struct cn_map sent; /* the number of spans with this hash that are still to come */
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    return a * UINT64_C(0x9e3779b97f4a7c15) ^ b;
}

static uint64_t sent_key(uint64_t time_ns, uint64_t duration_ns, uint64_t calls)
{
    return mix(mix(time_ns, duration_ns), calls);
}

static void note_spans(struct inner_spans *inner, const struct cn_trace *trace)
{
    for (uint32_t i = 0; i < trace->span_count; i++) {
        const struct cn_trace_span *span = &trace->spans[i];
        const struct cn_trace_node *node = &trace->nodes[span->node];

        if (span->node > 0 && span->id != 0)
            (void)cn_map_at(&inner->by_id, mix(trace->id_low, span->id), 1);
        if (span->node > 0 && (node->flags & CN_TRACE_SENT))
            ++*cn_map_at(&inner->sent,
                         sent_key(span->time_ns, node->duration_ns, node->calls), 0);
    }
}

/* Whether a trace is one of these spans. */
static bool is_inner(struct inner_spans *inner, uint64_t trace_low, uint64_t span_id,
                     uint64_t key)
{
    if (span_id != 0 && cn_map_find(&inner->by_id, mix(trace_low, span_id), 0) != 0)
        return true;
    if (cn_map_find(&inner->sent, key, 0) == 0)
        return false;
    --*cn_map_at(&inner->sent, key, 0);
    return true;
}

static void inner_spans_done(struct inner_spans *inner)
{
    cn_map_done(&inner->by_id);
    cn_map_done(&inner->sent);
}

/* Add a trace of all services: each branch inside the call that caused it. If a branch came a
 * second time under another id, branches are added on their own, without it. */
static void add_set(struct cn_trace_calls *calls, const struct cn_trace_set *set,
                    struct inner_spans *inner)
{
    bool *is_copy = cn_alloc(set->count, sizeof(*is_copy)), is_joined = true;

    for (size_t i = 0; i < set->count; i++) {
        const struct cn_store_row *row = &set->branches[i].row;

        is_copy[i] = is_inner(inner, row->trace_low, row->span_id,
                              sent_key(row->time_ns, row->duration_ns, row->calls));
        if (!is_copy[i])
            note_spans(inner, &set->branches[i].trace);
        is_joined = is_joined && (!is_copy[i] || set->branches[i].is_copy);
    }
    if (is_joined)
        cn_trace_set_enter_calls(set, calls);
    for (size_t i = 0; !is_joined && i < set->count; i++) {
        if (!is_copy[i])
            cn_trace_calls_add(calls, &set->branches[i].trace);
    }
    free(is_copy);
}

/* The spans of a trace, in a list of hits. */
struct trace_hits {
    const struct cn_search_hit *first;
    size_t count;
    uint64_t time_ns, duration_ns; /* of the first span */
};

/* By time, the longest first, so that a caller is before its callees. */
static int compare_traces(const void *a, const void *b)
{
    const struct trace_hits *x = a, *y = b;

    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    if (x->duration_ns != y->duration_ns)
        return x->duration_ns > y->duration_ns ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static bool list_traces(const struct cn_store *store, const struct cn_search_hits *hits,
                        struct trace_hits *list, size_t *count, struct cn_error *err)
{
    *count = 0;
    for (size_t i = 0; i < hits->count; i++) {
        const struct cn_search_hit *hit = &hits->list[i];
        const struct cn_segment *segment = cn_store_segment(store, hit->segment);
        struct cn_store_row row;

        if (!cn_segment_check_words(segment, err))
            return false;
        if (i > 0 && hit->key == hits->list[i - 1].key) {
            list[*count - 1].count++;
            continue;
        }
        if (!cn_segment_row(segment, hit->row, &row, err))
            return false;
        list[(*count)++] = (struct trace_hits){
            .first = hit,
            .count = 1,
            .time_ns = row.time_ns,
            .duration_ns = row.duration_ns,
        };
    }
    if (*count > 1)
        qsort(list, *count, sizeof(*list), compare_traces);
    return true;
}

static bool add_traces(struct cn_trace_calls *calls, const struct cn_store_query *query,
                       struct cn_error *err)
{
    struct cn_search_order oldest_first = {.is_reversed = true, .limit = UINT64_MAX};
    struct cn_segment_loader *loader = cn_segment_loader_new();
    struct inner_spans inner = {0};
    struct cn_search_hits hits = {0};
    struct trace_hits *traces = NULL;
    size_t count = 0;
    bool ok =
        cn_search_trace_spans(query->search, query->query, &oldest_first, &hits, err);

    if (ok && hits.count == 0)
        ok = cn_search_check(query->search, err) &&
             cn_fail(err, CN_ERR_NOT_FOUND, "no trace matches");
    traces = cn_alloc(hits.count, sizeof(*traces));
    ok = ok && list_traces(query->store, &hits, traces, &count, err);
    for (size_t i = 0; ok && i < count; i++) {
        struct cn_trace_set set = {0};

        ok = cn_trace_set_load_hits(&set, query->store, loader, traces[i].first,
                                    traces[i].count, err);
        if (ok)
            add_set(calls, &set, &inner);
        cn_trace_set_done(&set);
    }
    free(traces);
    cn_search_hits_done(&hits);
    inner_spans_done(&inner);
    cn_segment_loader_free(loader);
    return ok;
}

/* `missing` receives a collector that did not answer, if there is one. */
static bool search_store(struct cn_trace_calls *calls, const char *path,
                         const char *query_text, struct cn_text *missing,
                         struct cn_error *err)
{
    struct cn_store_query query;
    bool ok;

    if (!cn_store_query_open(&query, path, query_text, err))
        return false;
    ok = add_traces(calls, &query, err) &&
         (cn_search_check(query.search, err) ||
          cn_fail_in(err, "copy what is left with 'cairn store export'"));
    if (cn_store_missing_count(query.store) > 0)
        cn_text_str_add(missing, cn_store_missing(query.store, 0));
    cn_store_query_close(&query);
    return ok;
}

struct java_adding {
    struct cn_trace_calls *calls;
    struct inner_spans inner;
    uint64_t count;
};

/* Traces are in the order of their ends, callees first: note all inner spans before. */
static bool note_java_trace(void *arg, const struct cn_trace *trace, uint64_t data_off,
                            struct cn_error *err)
{
    (void)data_off;
    (void)err;
    note_spans(&((struct java_adding *)arg)->inner, trace);
    return true;
}

static bool add_java_trace(void *arg, const struct cn_trace *trace, uint64_t data_off,
                           struct cn_error *err)
{
    struct java_adding *adding = arg;
    const struct cn_trace_span *span = trace->span_count > 0 ? trace->spans : NULL;

    (void)data_off;
    (void)err;
    adding->count++;
    if (!span || !is_inner(&adding->inner, trace->id_low, span->id,
                           sent_key(span->time_ns, trace->nodes[0].duration_ns,
                                    trace->nodes[0].calls)))
        cn_trace_calls_add(adding->calls, trace);
    return true;
}

static bool walk_java_store(struct cn_trace_calls *calls, const char *path,
                            const char *query, struct cn_error *err)
{
    struct java_adding adding = {.calls = calls};
    struct cn_java_import_counts counts;
    bool ok;

    if (query[0] != '\0')
        return cn_fail(
            err, CN_ERR_USAGE,
            "a Java store cannot be searched; import it with 'cairn store import'");
    ok = cn_java_store_walk(path, note_java_trace, &adding, &counts, err) &&
         cn_java_store_walk(path, add_java_trace, &adding, &counts, err);
    inner_spans_done(&adding.inner);
    if (!ok)
        return false;
    return adding.count > 0 || cn_fail(err, CN_ERR_NOT_FOUND, "no trace");
}

bool cn_store_recording_open(struct cn_recording **out, const char *path,
                             const char *query, struct cn_error *err)
{
    struct cn_trace_calls *calls = cn_trace_calls_new();
    struct cn_text missing = {0};
    bool ok = cn_java_store_probe(path) ? walk_java_store(calls, path, query, err)
                                        : search_store(calls, path, query, &missing, err);

    if (ok) {
        *out = cn_trace_calls_finish(calls);
        (*out)->path = cn_arena_strdup(&(*out)->arena, path);
        if (missing.len > 0)
            cn_recording_warn(*out, false, "fresh traces are missing: %s",
                              cn_text_str(&missing));
    }
    cn_trace_calls_free(calls);
    cn_text_done(&missing);
    return ok || cn_fail_in(err, "%s", path);
}
