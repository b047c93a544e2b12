#include "store/search_segments.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "store/match.h"
#include "store/query.h"
#include "store/reader.h"

/* Segments are known by the times of their rows before their index is opened. */
struct part {
    uint32_t segment;
    uint64_t first_ns, last_ns;
};

struct cn_search {
    const struct cn_store *store;
    struct part *parts; /* the one with the newest row first */
    size_t count;
    struct cn_store_index *indexes; /* by number of the segment */
};

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;

    if (x->last_ns != y->last_ns)
        return x->last_ns > y->last_ns ? -1 : 1;
    return x->segment > y->segment ? -1 : 1;
}

bool cn_search_open(struct cn_search **out, const struct cn_store *store,
                    struct cn_error *err)
{
    struct cn_search *search = cn_alloc(1, sizeof(*search));

    (void)err;
    search->store = store;
    search->count = cn_store_segment_count(store);
    search->parts = cn_alloc(search->count, sizeof(*search->parts));
    search->indexes = cn_alloc(search->count, sizeof(*search->indexes));
    for (size_t i = 0; i < search->count; i++) {
        struct part *part = &search->parts[i];

        part->segment = (uint32_t)i;
        cn_columns_range(cn_segment_columns(cn_store_segment(store, i)),
                         CN_STORE_FIELD_time_ns, &part->first_ns, &part->last_ns);
    }
    if (search->count > 0)
        qsort(search->parts, search->count, sizeof(*search->parts), compare_parts);
    *out = search;
    return true;
}

void cn_search_close(struct cn_search *search)
{
    if (!search)
        return;
    for (size_t i = 0; i < search->count; i++)
        cn_store_index_close(&search->indexes[i]);
    free(search->parts);
    free(search->indexes);
    free(search);
}

static bool open_index(struct cn_search *search, uint32_t segment,
                       const struct cn_store_index **out, struct cn_error *err)
{
    struct cn_store_index *index = &search->indexes[segment];

    if (!index->segment &&
        !cn_store_index_open(index, cn_store_segment(search->store, segment), err))
        return false;
    *out = index;
    return true;
}

/* An index that turns out to be damaged is made again, once. */
static bool match(struct cn_search *search, uint32_t segment,
                  const struct cn_query *query, struct cn_rows *rows,
                  struct cn_error *err)
{
    struct cn_store_index *index = &search->indexes[segment];

    if (cn_match(index, query, rows, err))
        return true;
    if (err->kind == CN_ERR_FORMAT && cn_store_index_has_file(index) &&
        cn_store_index_rebuild(index, err) && cn_match(index, query, rows, err))
        return true;
    return cn_fail_in(err, "%s",
                      cn_segment_path(cn_store_segment(search->store, segment)));
}

static bool search_part(struct cn_search *search, const struct part *part,
                        const struct cn_query *query, cn_search_visit visit, void *arg,
                        struct cn_error *err)
{
    const struct cn_store_index *index;
    struct cn_rows rows;
    bool ok;

    if (!open_index(search, part->segment, &index, err) ||
        !match(search, part->segment, query, &rows, err))
        return false;
    ok = cn_rows_is_empty(&rows) || visit(arg, part->segment, index, &rows, err);
    cn_rows_done(&rows);
    return ok;
}

bool cn_search_walk(struct cn_search *search, const struct cn_query *query,
                    cn_search_goes_on goes_on, cn_search_visit visit, void *arg,
                    struct cn_error *err)
{
    uint64_t first_ns, last_ns;

    cn_query_time_range(query, &first_ns, &last_ns);
    for (size_t i = 0; i < search->count; i++) {
        const struct part *part = &search->parts[i];

        if (part->first_ns > part->last_ns || part->last_ns < first_ns ||
            part->first_ns > last_ns)
            continue;
        if (goes_on && !goes_on(arg, part->last_ns))
            return true;
        if (!search_part(search, part, query, visit, arg, err))
            return false;
    }
    return true;
}

bool cn_search_hit_row(struct cn_search *search, const struct cn_search_hit *hit,
                       struct cn_store_row *row, const struct cn_store_index **index,
                       struct cn_error *err)
{
    if (!open_index(search, hit->segment, index, err) ||
        !cn_columns_row((*index)->columns, hit->row, row, err))
        return false;
    cn_joined_complete(&(*index)->joined, hit->row, row);
    return true;
}
