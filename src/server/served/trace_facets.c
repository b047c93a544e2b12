#include "server/served/trace_facets.h"

#include "model/traces/trace_facts.h"
#include "store/search/search.h"
#include "store/search/trace_cursor.h"

enum { READ_MAX = 2000 }; /* traces of a side */

static void add_fact(void *arg, const char *key, const char *value, const double *number)
{
    cn_traits_add(arg, key, value, number);
}

/* Evenly READ_MAX of the hits. */
static void thin_out(struct cn_search_hits *hits)
{
    size_t count = hits->count;

    if (count <= READ_MAX)
        return;
    for (size_t i = 0; i < READ_MAX; i++)
        hits->list[i] = hits->list[(size_t)((double)i * (double)count / READ_MAX)];
    hits->count = READ_MAX;
}

static bool read_traces(struct cn_trace_facets *out, struct cn_traits *traits, int side,
                        struct cn_trace_cursor *cursor,
                        const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_trace trace = {0};
    struct cn_store_row row;
    enum cn_step step;
    bool ok = true;

    while (ok && (step = cn_trace_cursor_next(cursor, &row, err)) == CN_ITEM) {
        ok = cn_progress_check(progress, "reading traces", err) &&
             cn_trace_cursor_load(cursor, &trace, err);
        if (!ok || trace.node_count == 0)
            continue;
        cn_traits_begin(traits, side);
        cn_trace_facts_visit(&trace, 0, add_fact, traits);
        out->read[side]++;
    }
    cn_trace_done(&trace);
    return ok && step == CN_END;
}

static bool read_side(struct cn_trace_facets *out, struct cn_traits *traits, int side,
                      const struct cn_facet_side *from,
                      const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_trace_cursor cursor = {0};
    struct cn_store_query query;
    bool ok;

    if (!cn_store_query_open(&query, from->path, from->query ? from->query : "", err))
        return false;
    ok = cn_trace_cursor_open(&cursor, query.search, query.query, CN_SEARCH_SPANS, err);
    if (ok) {
        out->is_estimated |= cursor.hits.count > READ_MAX;
        thin_out(&cursor.hits);
        ok = read_traces(out, traits, side, &cursor, progress, err);
    }
    if (ok && !cn_search_check(query.search, &out->damage))
        out->is_damaged = true;
    cn_trace_cursor_close(&cursor);
    cn_store_query_close(&query);
    return ok && (out->read[side] > 0 ||
                  cn_fail(err, CN_ERR_USAGE, "side %c has no traces", 'A' + side));
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
