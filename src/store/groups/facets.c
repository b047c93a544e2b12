#include "store/groups/facets.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/traces/facts.h"
#include "store/search/names.h"
#include "store/search/traces.h"
#include "store/segment/reader.h"
#include "store/traceql/traceql.h"

enum { READ_MAX = 2000 }; /* traces of a side */

static void add_fact(void *arg, const char *key, const char *value, const double *number)
{
    cn_traits_add(arg, key, value, number);
}

/* The traces of a side that are read: the index of the first span of each in the hits, and of the
 * one after the last. */
struct chosen {
    struct cn_search_hits hits;
    size_t *firsts;
    size_t count;
};

static void find_traces(struct chosen *chosen)
{
    const struct cn_search_hits *hits = &chosen->hits;

    chosen->firsts = cn_alloc(hits->count + 1, sizeof(*chosen->firsts));
    for (size_t i = 0; i < hits->count; i++) {
        if (i == 0 || hits->list[i].key != hits->list[i - 1].key)
            chosen->firsts[chosen->count++] = i;
    }
    chosen->firsts[chosen->count] = hits->count;
}

/* Add what is known about the calls of all spans of a trace. */
static bool read_trace(const struct cn_store *store, struct cn_segment_loader *loader,
                       const struct cn_search_hit *hits, size_t count,
                       struct cn_traits *traits, struct cn_error *err)
{
    struct cn_trace trace = {0};
    bool is_failed = false, ok = true;

    for (size_t i = 0; i < count && ok; i++) {
        const struct cn_segment *segment = cn_store_segment(store, hits[i].segment);

        ok = cn_segment_check_words(segment, err) &&
             cn_segment_load(loader, segment, hits[i].row, &trace, err);
        for (uint32_t node = 0; ok && node < trace.node_count; node++) {
            cn_trace_facts_visit(&trace, node, add_fact, traits);
            is_failed = is_failed || (trace.nodes[node].flags & CN_TRACE_ERROR);
        }
    }
    cn_traits_add(traits, "error", is_failed ? "yes" : "no", NULL);
    cn_trace_done(&trace);
    return ok;
}

/* Evenly READ_MAX of the traces. */
static bool read_traces(struct cn_trace_facets *out, struct cn_traits *traits, int side,
                        const struct cn_store *store, const struct chosen *chosen,
                        const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_segment_loader *loader = cn_segment_loader_new();
    size_t count = chosen->count < READ_MAX ? chosen->count : READ_MAX;
    bool ok = true;

    for (size_t i = 0; i < count && ok; i++) {
        size_t at = (size_t)((double)i * (double)chosen->count / (double)count);
        size_t first = chosen->firsts[at];

        cn_traits_begin(traits, side);
        ok = cn_progress_check(progress, "reading traces", err) &&
             read_trace(store, loader, &chosen->hits.list[first],
                        chosen->firsts[at + 1] - first, traits, err);
    }
    out->read[side] = count;
    out->is_estimated |= chosen->count > count;
    cn_segment_loader_free(loader);
    return ok;
}

static bool read_side(struct cn_trace_facets *out, struct cn_traits *traits, int side,
                      const struct cn_facet_side *from,
                      const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_search_order oldest_first = {.is_reversed = true, .limit = UINT64_MAX};
    struct cn_store_query query;
    struct chosen chosen = {0};
    bool ok;

    if (!cn_tql_store_query_open(&query, from->path, from->query ? from->query : "", err))
        return false;
    ok = cn_search_trace_spans(query.search, query.query, &oldest_first, &chosen.hits,
                               err);
    if (ok) {
        find_traces(&chosen);
        ok = read_traces(out, traits, side, query.store, &chosen, progress, err);
    }
    if (ok && !cn_search_check(query.search, &out->damage))
        out->is_damaged = true;
    if (ok && out->read[side] == 0) {
        struct cn_text unknown = {0};

        cn_search_print_unknown(query.search, query.query, &unknown);
        ok = cn_fail(err, CN_ERR_USAGE, "side %c has no traces%s%s", 'A' + side,
                     unknown.len > 0 ? ": " : "", cn_text_str(&unknown));
        cn_text_done(&unknown);
    }
    free(chosen.firsts);
    cn_search_hits_done(&chosen.hits);
    cn_store_query_close(&query);
    return ok;
}

bool cn_trace_facets_find(struct cn_trace_facets *out,
                          const struct cn_facet_side sides[CN_SIDES],
                          const struct cn_progress *progress, struct cn_error *err)
{
    static const int groups[] = {CN_SIDE_B, CN_SIDE_A};
    static const struct cn_sign_limits limits = {
        .hits_min = 3, .chance_max = 0.01, .has_all_values = true};
    struct cn_traits *traits = cn_traits_new();
    bool ok = true;

    *out = (struct cn_trace_facets){0};
    for (int side = 0; side < CN_SIDES && ok; side++)
        ok = read_side(out, traits, side, &sides[side], progress, err) ||
             cn_fail_in(err, "%s", sides[side].path);
    if (ok)
        cn_traits_judge(traits, groups, CN_SIDES, &limits, &out->signs);
    cn_traits_free(traits);
    return ok;
}

void cn_trace_facets_done(struct cn_trace_facets *facets)
{
    cn_signs_done(&facets->signs);
    *facets = (struct cn_trace_facets){0};
}
