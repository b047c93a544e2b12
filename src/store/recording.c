#include "store/recording.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/calls/from_traces.h"
#include "base/alloc.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/text.h"
#include "model/calls/recording.h"
#include "model/traces/trace.h"
#include "store/search/names.h"
#include "store/search/traces.h"
#include "store/segment/reader.h"
#include "store/trace/distributed.h"
#include "store/traceql/traceql.h"
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

/* A trace of all services; `is_copy` is true for branches that came a second time under another id
 * or inside another branch. */
typedef bool (*set_visit)(void *arg, const struct cn_trace_set *set, const bool *is_copy,
                          struct cn_error *err);

static bool visit_set(const struct cn_trace_set *set, struct inner_spans *inner,
                      set_visit visit, void *arg, struct cn_error *err)
{
    bool *is_copy = cn_alloc(set->count, sizeof(*is_copy)), ok;

    for (size_t i = 0; i < set->count; i++) {
        const struct cn_store_row *row = &set->branches[i].row;

        is_copy[i] = is_inner(inner, row->trace_low, row->span_id,
                              sent_key(row->time_ns, row->duration_ns, row->calls));
        if (!is_copy[i])
            note_spans(inner, &set->branches[i].trace);
    }
    ok = visit(arg, set, is_copy, err);
    free(is_copy);
    return ok;
}

/* Add each branch inside the call that caused it. If a branch came a second time under another id,
 * branches are added on their own, without it. */
static bool add_set(void *arg, const struct cn_trace_set *set, const bool *is_copy,
                    struct cn_error *err)
{
    bool is_joined = true;

    (void)err;
    for (size_t i = 0; i < set->count; i++)
        is_joined = is_joined && (!is_copy[i] || set->branches[i].is_copy);
    if (is_joined)
        cn_trace_set_enter_calls(set, arg);
    for (size_t i = 0; !is_joined && i < set->count; i++) {
        if (!is_copy[i])
            cn_trace_calls_add(arg, &set->branches[i].trace);
    }
    return true;
}

/* The spans of a trace, in a list of hits. */
struct trace_hits {
    const struct cn_search_hit *first;
    size_t count;
    uint64_t time_ns, duration_ns; /* of the first span */
};

static void note_damage(struct cn_error *damage, const struct cn_error *found)
{
    if (damage->kind == CN_ERR_NONE)
        *damage = *found;
}

/* Without traces whose segment has damaged words: those cannot be told from others. */
static size_t list_traces(const struct cn_store *store, const struct cn_search_hits *hits,
                          struct trace_hits *list, struct cn_error *damage)
{
    size_t count = 0, end;

    for (size_t i = 0; i < hits->count; i = end) {
        const struct cn_search_hit *hit = &hits->list[i];
        struct cn_error found;
        struct cn_store_row row;
        bool ok =
            cn_segment_row(cn_store_segment(store, hit->segment), hit->row, &row, &found);

        for (end = i; end < hits->count && hits->list[end].key == hit->key; end++)
            ok = ok && cn_segment_check_words(
                           cn_store_segment(store, hits->list[end].segment), &found);
        if (ok)
            list[count++] = (struct trace_hits){
                .first = hit,
                .count = end - i,
                .time_ns = row.time_ns,
                .duration_ns = row.duration_ns,
            };
        else
            note_damage(damage, &found);
    }
    /* The longest first, so that a caller is before its callees. */
    CN_SORT(list, count, CN_UP(struct trace_hits, time_ns),
            CN_DOWN(struct trace_hits, duration_ns), CN_UP(struct trace_hits, first));
    return count;
}

/* Visit the traces that match, the oldest first, except those that are damaged. */
static bool walk_sets(const struct cn_store_query *query, set_visit visit, void *arg,
                      struct cn_error *damage, struct cn_error *err)
{
    struct cn_search_order oldest_first = {.is_reversed = true, .limit = UINT64_MAX};
    struct cn_segment_loader *loader = cn_segment_loader_new();
    struct inner_spans inner = {0};
    struct cn_search_hits hits = {0};
    struct trace_hits *traces = NULL;
    struct cn_error found;
    size_t count = 0;
    bool ok =
        cn_search_trace_spans(query->search, query->query, &oldest_first, &hits, err);

    traces = cn_alloc(hits.count, sizeof(*traces));
    if (ok)
        count = list_traces(query->store, &hits, traces, damage);
    for (size_t i = 0; ok && i < count; i++) {
        struct cn_trace_set set = {0};

        if (cn_trace_set_load_hits(&set, query->store, loader, traces[i].first,
                                   traces[i].count, &found))
            ok = visit_set(&set, &inner, visit, arg, err);
        else
            note_damage(damage, &found);
        cn_trace_set_done(&set);
    }
    if (ok && !cn_search_check(query->search, &found))
        note_damage(damage, &found);
    if (ok && count == 0) {
        *err = *damage;
        ok = damage->kind == CN_ERR_NONE &&
             cn_fail(err, CN_ERR_NOT_FOUND, "no trace matches");
    }
    free(traces);
    cn_search_hits_done(&hits);
    inner_spans_done(&inner);
    cn_segment_loader_free(loader);
    return ok;
}

/* What a reader of the result should know. */
struct store_notes {
    struct cn_text missing; /* a collector that did not answer */
    struct cn_text unknown; /* names in the query that no attribute has */
};

static void store_notes_done(struct store_notes *notes)
{
    cn_text_done(&notes->missing);
    cn_text_done(&notes->unknown);
}

static bool search_store(const char *path, const char *query_text, set_visit visit,
                         void *arg, struct store_notes *notes, struct cn_error *damage,
                         struct cn_error *err)
{
    struct cn_store_query query;

    if (!cn_tql_store_query_open(&query, path, query_text, err))
        return false;
    bool ok = walk_sets(&query, visit, arg, damage, err);
    if (cn_store_missing_count(query.store) > 0)
        cn_text_str_add(&notes->missing, cn_store_missing(query.store, 0));
    cn_search_print_unknown(query.search, query.query, &notes->unknown);
    cn_store_query_close(&query);
    return ok;
}

struct java_walk {
    const struct cn_trace_visitor *visitor;
    struct inner_spans inner;
    uint64_t count;
};

/* Traces are in the order of their ends, callees first: note all inner spans before. */
static bool note_java_trace(void *arg, const struct cn_trace *trace, uint64_t data_off,
                            struct cn_error *err)
{
    (void)data_off;
    (void)err;
    note_spans(&((struct java_walk *)arg)->inner, trace);
    return true;
}

static bool visit_java_trace(void *arg, const struct cn_trace *trace, uint64_t data_off,
                             struct cn_error *err)
{
    struct java_walk *walk = arg;
    const struct cn_trace_span *span = trace->span_count > 0 ? trace->spans : NULL;

    (void)data_off;
    walk->count++;
    if (span && is_inner(&walk->inner, trace->id_low, span->id,
                         sent_key(span->time_ns, trace->nodes[0].duration_ns,
                                  trace->nodes[0].calls)))
        return true;
    return walk->visitor->visit(walk->visitor->arg, trace, span ? span->time_ns : 0, err);
}

static bool walk_java_store(const char *path, const char *query,
                            const struct cn_trace_visitor *visitor, struct cn_error *err)
{
    struct java_walk walk = {.visitor = visitor};
    struct cn_java_import_counts counts;

    if (query[0] != '\0')
        return cn_fail(
            err, CN_ERR_USAGE,
            "a Java store cannot be searched; import it with 'cairn store import'");
    bool ok = cn_java_store_walk(path, note_java_trace, &walk, &counts, err) &&
              cn_java_store_walk(path, visit_java_trace, &walk, &counts, err);
    inner_spans_done(&walk.inner);
    if (!ok)
        return false;
    (void)cn_java_import_damage(&counts, visitor->damage);
    return walk.count > 0 || cn_fail(err, CN_ERR_NOT_FOUND, "no trace");
}

static bool add_trace(void *arg, const struct cn_trace *trace, uint64_t begin_ns,
                      struct cn_error *err)
{
    (void)begin_ns;
    (void)err;
    cn_trace_calls_add(arg, trace);
    return true;
}

bool cn_store_recording_open(struct cn_recording **out, const char *path,
                             const char *query, struct cn_error *err)
{
    struct cn_trace_calls *calls = cn_trace_calls_new();
    struct store_notes notes = {0};
    struct cn_error damage = {0};
    struct cn_trace_visitor visitor = {
        .visit = add_trace, .arg = calls, .damage = &damage};
    bool ok = cn_java_store_probe(path)
                  ? walk_java_store(path, query, &visitor, err)
                  : search_store(path, query, add_set, calls, &notes, &damage, err);

    if (ok) {
        *out = cn_trace_calls_finish(calls);
        (*out)->path = cn_arena_strdup(&(*out)->arena, path);
        if (damage.kind != CN_ERR_NONE)
            cn_recording_warn(*out, true, "%s", damage.text);
        if (notes.missing.len > 0)
            cn_recording_warn(*out, false, "fresh traces are missing: %s",
                              cn_text_str(&notes.missing));
        if (notes.unknown.len > 0)
            cn_recording_warn(*out, false, "%s", cn_text_str(&notes.unknown));
    }
    cn_trace_calls_free(calls);
    store_notes_done(&notes);
    return ok || cn_fail_in(err, "%s", path);
}

static bool visit_branches(void *arg, const struct cn_trace_set *set, const bool *is_copy,
                           struct cn_error *err)
{
    const struct cn_trace_visitor *visitor = arg;
    bool ok = true;

    for (size_t i = 0; i < set->count && ok; i++) {
        const struct cn_trace_branch *branch = &set->branches[i];

        if (!branch->is_copy && !is_copy[i] && branch->trace.node_count > 0)
            ok = visitor->visit(visitor->arg, &branch->trace,
                                cn_trace_branch_begin_ns(branch, 0), err);
    }
    return ok;
}

bool cn_store_traces_walk(const char *path, const struct cn_trace_visitor *visitor,
                          struct cn_error *err)
{
    struct store_notes notes = {0};
    bool ok = cn_java_store_probe(path)
                  ? walk_java_store(path, "", visitor, err)
                  : search_store(path, "", visit_branches, (void *)(uintptr_t)visitor,
                                 &notes, visitor->damage, err);

    if (ok && notes.missing.len > 0 && visitor->damage->kind == CN_ERR_NONE)
        (void)cn_fail(visitor->damage, CN_ERR_IO, "fresh traces are missing: %s",
                      cn_text_str(&notes.missing));
    store_notes_done(&notes);
    return ok;
}
