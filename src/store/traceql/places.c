#include "store/traceql/places.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "model/contexts/context.h"
#include "store/search/segments.h"

/* By number of the table: 1 + index in `ids`; 0 if the id cannot be read. */
static uint32_t *indexes_of(struct cn_tql_places *places, struct cn_tql_view *view,
                            const struct cn_trace_table *table)
{
    uint32_t *indexes = cn_alloc((size_t)table->count + 1, sizeof(*indexes));

    for (uint32_t i = 0; i < table->count; i++) {
        uint64_t high, low;
        struct cn_error ignored;

        if (cn_tql_view_trace_id(view, table->traces[i].segment, table->traces[i].row,
                                 &high, &low, &ignored))
            indexes[i + 1] = cn_trace_ids_find(&places->ids, high, low) + 1;
    }
    return indexes;
}

/* Count the places of each trace, or with a list put them there: `ends` is then where the next one of a
 * trace goes. */
static void visit_runs(struct cn_tql_places *places, const struct cn_trace_table *table,
                       const uint32_t *indexes)
{
    for (uint32_t s = 0; s < table->segment_count; s++) {
        const struct cn_trace_runs *runs = &table->runs[s];
        const uint32_t *number = runs->numbers;

        for (uint32_t row = 0, end; row < runs->row_count; row = end, number++) {
            uint32_t index = indexes[*number];

            end = cn_trace_runs_next(runs, row + 1);
            if (index == 0)
                continue;
            if (places->list)
                places->list[places->ends[index - 1]] =
                    (struct cn_tql_run_place){s, row, end};
            places->ends[index - 1]++;
        }
    }
}

bool cn_tql_places_find(struct cn_tql_places *places, struct cn_tql_view *view,
                        const struct cn_tql_candidates *candidates)
{
    struct cn_trace_table table;
    struct cn_error ignored;
    size_t sum = 0;

    *places = (struct cn_tql_places){.list = NULL};
    for (size_t i = 0; i < candidates->count; i++)
        (void)cn_trace_ids_add(&places->ids, candidates->list[i].high,
                               candidates->list[i].low);
    if (!cn_search_table_of(cn_tql_view_search(view), &places->ids, CN_TRACE_TABLE_TIMES,
                            &table, &ignored)) {
        cn_tql_places_done(places);
        return false;
    }
    uint32_t *indexes = indexes_of(places, view, &table);
    places->ends = cn_alloc(places->ids.count + 1, sizeof(*places->ends));
    visit_runs(places, &table, indexes);
    for (size_t i = 0; i < places->ids.count; i++) {
        size_t count = places->ends[i];

        places->ends[i] = sum;
        sum += count;
    }
    places->list = cn_alloc(sum + 1, sizeof(*places->list));
    visit_runs(places, &table, indexes);
    free(indexes);
    cn_trace_table_done(&table);
    return true;
}

void cn_tql_places_done(struct cn_tql_places *places)
{
    cn_trace_ids_done(&places->ids);
    free(places->ends);
    free(places->list);
    *places = (struct cn_tql_places){.list = NULL};
}

size_t cn_tql_places_of(const struct cn_tql_places *places, uint64_t high, uint64_t low,
                        const struct cn_tql_run_place **out)
{
    uint32_t i = places->list ? cn_trace_ids_find(&places->ids, high, low) : CN_NONE;

    if (i == CN_NONE)
        return 0;
    size_t begin = i > 0 ? places->ends[i - 1] : 0;
    *out = places->list + begin;
    return places->ends[i] - begin;
}
