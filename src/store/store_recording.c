#include "store/store_recording.h"

#include "analyze/calls/trace_calls.h"
#include "base/map.h"
#include "base/run/clock.h"
#include "model/calls/recording.h"
#include "model/traces/trace.h"
#include "store/search/query.h"
#include "store/search/search.h"
#include "store/segment/reader.h"
#include "store/write/java_import.h"

/* A span can arrive twice, on its own and inside its caller: it counts once. */
struct adding {
    const struct cn_store *store;
    struct cn_trace_calls *calls;
    struct cn_segment_loader *loader;
    struct cn_trace trace;
    struct cn_map inner; /* spans inside of traces that were added */
};

static uint64_t span_key(uint64_t trace_low, uint64_t span_id)
{
    return trace_low * UINT64_C(0x9e3779b97f4a7c15) ^ span_id;
}

static void note_inner(struct adding *adding)
{
    const struct cn_trace *trace = &adding->trace;

    for (uint32_t i = 0; i < trace->span_count; i++) {
        if (trace->spans[i].node > 0 && trace->spans[i].id != 0)
            (void)cn_map_at(&adding->inner, span_key(trace->id_low, trace->spans[i].id),
                            1);
    }
}

/* Spans that lie inside of others, and later parts of a trace, come with those. First those
 * that nobody called, then the others. */
static bool add_hit(struct adding *adding, const struct cn_search_hit *hit, bool is_root,
                    struct cn_error *err)
{
    const struct cn_segment *segment = cn_store_segment(adding->store, hit->segment);
    struct cn_store_row row;

    if (!cn_segment_row(segment, hit->row, &row, err))
        return false;
    if (row.flags & CN_ROW_EMBEDDED || row.part != 0 || (row.parent_id == 0) != is_root ||
        (row.span_id != 0 &&
         cn_map_find(&adding->inner, span_key(row.trace_low, row.span_id), 0) != 0))
        return true;
    if (!cn_segment_check_words(segment, err) ||
        !cn_segment_load(adding->loader, segment, hit->row, &adding->trace, err))
        return false;
    if (adding->trace.node_count == 0)
        return true;
    note_inner(adding);
    cn_trace_calls_add(adding->calls, &adding->trace);
    return true;
}

static bool add_matching(struct cn_trace_calls *calls, const struct cn_store *store,
                         struct cn_search *search, const struct cn_query *query,
                         struct cn_error *err)
{
    struct cn_search_order oldest_first = {.is_reversed = true, .limit = UINT64_MAX};
    struct adding adding = {.store = store, .calls = calls};
    struct cn_search_hits hits;
    bool ok = true;

    if (!cn_search_rows(search, query, &oldest_first, &hits, err))
        return false;
    if (hits.count == 0)
        ok = cn_fail(err, CN_ERR_NOT_FOUND, "no trace matches");
    adding.loader = cn_segment_loader_new();
    for (size_t i = 0; ok && i < 2 * hits.count; i++)
        ok = add_hit(&adding, &hits.list[i % hits.count], i < hits.count, err);
    cn_segment_loader_free(adding.loader);
    cn_trace_done(&adding.trace);
    cn_map_done(&adding.inner);
    cn_search_hits_done(&hits);
    return ok;
}

static bool search_store(struct cn_trace_calls *calls, const char *path,
                         const char *query_text, struct cn_error *err)
{
    struct cn_query *query = NULL;
    struct cn_store *store = NULL;
    struct cn_search *search = NULL;
    bool ok = cn_query_parse(&query, query_text, cn_clock_date_ns(), err) &&
              cn_store_open(&store, path, err) && cn_search_open(&search, store, err) &&
              add_matching(calls, store, search, query, err);

    cn_search_close(search);
    cn_store_close(store);
    cn_query_free(query);
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
        return cn_fail(err, CN_ERR_USAGE,
                       "a store of the original implementation cannot be searched: "
                       "import it into another");
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
