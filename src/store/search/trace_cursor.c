#include "store/search/trace_cursor.h"

#include "base/sort.h"
#include "store/search/traces.h"
#include "store/segment/reader.h"

/* Sort hits of the same time by duration. */
static bool sort_longest(struct cn_trace_cursor *cursor, struct cn_error *err)
{
    struct cn_search_hits *hits = &cursor->hits;
    size_t end;

    for (size_t begin = 0; begin < hits->count; begin = end) {
        for (end = begin + 1;
             end < hits->count && hits->list[end].time_ns == hits->list[begin].time_ns;)
            end++;
        for (size_t i = begin; end - begin > 1 && i < end; i++) {
            struct cn_search_hit *hit = &hits->list[i];
            struct cn_store_row row;

            if (!cn_segment_row(cn_store_segment(cursor->store, hit->segment), hit->row,
                                &row, err))
                return false;
            hit->key = row.duration_ns;
        }
        CN_SORT(&hits->list[begin], end - begin, CN_DOWN(struct cn_search_hit, key),
                CN_UP(struct cn_search_hit, segment), CN_UP(struct cn_search_hit, row));
    }
    return true;
}

bool cn_trace_cursor_open(struct cn_trace_cursor *cursor, struct cn_search *search,
                          const struct cn_query *query, enum cn_search_unit unit,
                          struct cn_error *err)
{
    struct cn_search_order oldest_first = {.is_reversed = true, .limit = UINT64_MAX};

    *cursor = (struct cn_trace_cursor){.store = cn_search_store(search)};
    if (unit == CN_SEARCH_SPANS
            ? !cn_search_rows(search, query, &oldest_first, &cursor->hits, err)
            : !cn_search_trace_spans(search, query, &oldest_first, &cursor->hits, err))
        return false;
    /* Spans of a trace are together. */
    if (unit == CN_SEARCH_TRACES && cursor->hits.count > 1)
        CN_SORT(cursor->hits.list, cursor->hits.count,
                CN_UP(struct cn_search_hit, time_ns),
                CN_UP(struct cn_search_hit, segment), CN_UP(struct cn_search_hit, row));
    if (!sort_longest(cursor, err))
        return false;
    cursor->loader = cn_segment_loader_new();
    return true;
}

void cn_trace_cursor_close(struct cn_trace_cursor *cursor)
{
    cn_segment_loader_free(cursor->loader);
    cn_search_hits_done(&cursor->hits);
    *cursor = (struct cn_trace_cursor){0};
}

enum cn_step cn_trace_cursor_next(struct cn_trace_cursor *cursor,
                                  struct cn_store_row *row, struct cn_error *err)
{
    while (cursor->next < cursor->hits.count) {
        const struct cn_search_hit *hit = &cursor->hits.list[cursor->next++];

        if (!cn_segment_row(cn_store_segment(cursor->store, hit->segment), hit->row, row,
                            err))
            return CN_FAIL;
        if (cn_store_row_is_trace(row))
            return CN_ITEM;
    }
    return CN_END;
}

bool cn_trace_cursor_load(struct cn_trace_cursor *cursor, struct cn_trace *trace,
                          struct cn_error *err)
{
    const struct cn_search_hit *hit = &cursor->hits.list[cursor->next - 1];
    const struct cn_segment *segment = cn_store_segment(cursor->store, hit->segment);

    return cn_segment_check_words(segment, err) &&
           cn_segment_load(cursor->loader, segment, hit->row, trace, err);
}
