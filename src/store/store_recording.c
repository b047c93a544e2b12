#include "store/store_recording.h"

#include "analyze/calls/trace_calls.h"
#include "base/map.h"
#include "model/calls/recording.h"
#include "model/traces/trace.h"
#include "store/search/trace_cursor.h"
#include "store/write/java_import.h"

/* A span can arrive twice, on its own and inside its caller: it counts once. */
static uint64_t span_key(uint64_t trace_low, uint64_t span_id)
{
    return trace_low * UINT64_C(0x9e3779b97f4a7c15) ^ span_id;
}

/* Add the traces with or without a caller. `inner` are the spans inside of added traces. */
static bool add_traces(struct cn_trace_calls *calls, const struct cn_store_query *query,
                       bool is_root, struct cn_map *inner, struct cn_error *err)
{
    struct cn_trace_cursor cursor;
    struct cn_trace trace = {0};
    struct cn_store_row row;
    enum cn_step step = CN_FAIL;
    bool ok = cn_trace_cursor_open(&cursor, query->search, query->query, err);

    if (ok && cursor.hits.count == 0)
        ok = cn_fail(err, CN_ERR_NOT_FOUND, "no trace matches");
    while (ok && (step = cn_trace_cursor_next(&cursor, &row, err)) == CN_ITEM) {
        if ((row.parent_id == 0) != is_root ||
            (row.span_id != 0 &&
             cn_map_find(inner, span_key(row.trace_low, row.span_id), 0) != 0))
            continue;
        ok = cn_trace_cursor_load(&cursor, &trace, err);
        for (uint32_t i = 0; ok && i < trace.span_count; i++) {
            if (trace.spans[i].node > 0 && trace.spans[i].id != 0)
                (void)cn_map_at(inner, span_key(trace.id_low, trace.spans[i].id), 1);
        }
        if (ok)
            cn_trace_calls_add(calls, &trace);
    }
    cn_trace_cursor_close(&cursor);
    cn_trace_done(&trace);
    return ok && step == CN_END;
}

static bool search_store(struct cn_trace_calls *calls, const char *path,
                         const char *query_text, struct cn_error *err)
{
    struct cn_store_query query;
    struct cn_map inner = {0};
    bool ok;

    if (!cn_store_query_open(&query, path, query_text, err))
        return false;
    ok = add_traces(calls, &query, true, &inner, err) &&
         add_traces(calls, &query, false, &inner, err) &&
         (cn_search_check(query.search, err) ||
          cn_fail_in(err, "copy what is left with 'cairn store export'"));
    cn_map_done(&inner);
    cn_store_query_close(&query);
    return ok;
}

struct java_adding {
    struct cn_trace_calls *calls;
    uint64_t count;
};

static bool add_java_trace(void *arg, const struct cn_trace *trace, uint64_t data_off,
                           struct cn_error *err)
{
    struct java_adding *adding = arg;

    (void)data_off;
    (void)err;
    cn_trace_calls_add(adding->calls, trace);
    adding->count++;
    return true;
}

static bool walk_java_store(struct cn_trace_calls *calls, const char *path,
                            const char *query, struct cn_error *err)
{
    struct java_adding adding = {.calls = calls};
    struct cn_java_import_counts counts;

    if (query[0] != '\0')
        return cn_fail(
            err, CN_ERR_USAGE,
            "a Java store cannot be searched; import it with 'cairn store import'");
    if (!cn_java_store_walk(path, add_java_trace, &adding, &counts, err))
        return false;
    return adding.count > 0 || cn_fail(err, CN_ERR_NOT_FOUND, "no trace");
}

bool cn_store_recording_open(struct cn_recording **out, const char *path,
                             const char *query, struct cn_error *err)
{
    struct cn_trace_calls *calls = cn_trace_calls_new();
    bool ok = cn_java_store_probe(path) ? walk_java_store(calls, path, query, err)
                                        : search_store(calls, path, query, err);

    if (ok) {
        *out = cn_trace_calls_finish(calls);
        (*out)->path = cn_arena_strdup(&(*out)->arena, path);
    }
    cn_trace_calls_free(calls);
    return ok || cn_fail_in(err, "%s", path);
}
