#include "store/store_recording.h"

#include "analyze/calls/trace_calls.h"
#include "base/map.h"
#include "base/text.h"
#include "model/calls/recording.h"
#include "model/traces/trace.h"
#include "store/search/trace_cursor.h"
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

/* Add the traces with or without a caller. */
static bool add_traces(struct cn_trace_calls *calls, const struct cn_store_query *query,
                       bool is_root, struct inner_spans *inner, struct cn_error *err)
{
    struct cn_trace_cursor cursor;
    struct cn_trace trace = {0};
    struct cn_store_row row;
    enum cn_step step = CN_FAIL;
    bool ok =
        cn_trace_cursor_open(&cursor, query->search, query->query, CN_SEARCH_TRACES, err);

    if (ok && cursor.hits.count == 0)
        ok = cn_search_check(query->search, err) &&
             cn_fail(err, CN_ERR_NOT_FOUND, "no trace matches");
    while (ok && (step = cn_trace_cursor_next(&cursor, &row, err)) == CN_ITEM) {
        if ((row.parent_id == 0) != is_root ||
            is_inner(inner, row.trace_low, row.span_id,
                     sent_key(row.time_ns, row.duration_ns, row.calls)))
            continue;
        ok = cn_trace_cursor_load(&cursor, &trace, err);
        if (ok) {
            note_spans(inner, &trace);
            cn_trace_calls_add(calls, &trace);
        }
    }
    cn_trace_cursor_close(&cursor);
    cn_trace_done(&trace);
    return ok && step == CN_END;
}

/* `missing` receives a collector that did not answer, if there is one. */
static bool search_store(struct cn_trace_calls *calls, const char *path,
                         const char *query_text, struct cn_text *missing,
                         struct cn_error *err)
{
    struct cn_store_query query;
    struct inner_spans inner = {0};
    bool ok;

    if (!cn_store_query_open(&query, path, query_text, err))
        return false;
    ok = add_traces(calls, &query, true, &inner, err) &&
         add_traces(calls, &query, false, &inner, err) &&
         (cn_search_check(query.search, err) ||
          cn_fail_in(err, "copy what is left with 'cairn store export'"));
    inner_spans_done(&inner);
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
