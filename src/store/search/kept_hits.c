#include "store/search/kept_hits.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/text.h"
#include "store/search/query.h"

static void free_query(void *value)
{
    struct cn_kept_query *query = value;

    for (size_t i = 0; i < query->segment_count; i++)
        cn_rows_done(&query->rows[i]);
    free(query->rows);
    free(query);
}

void cn_kept_hits_init(struct cn_kept_hits *kept, size_t segment_count)
{
    *kept = (struct cn_kept_hits){
        .queries = {.count_max = CN_KEPT_QUERIES,
                    .cost_max = CN_KEPT_LEN_MAX,
                    .free_value = free_query},
        .segment_count = segment_count,
    };
}

void cn_kept_hits_done(struct cn_kept_hits *kept)
{
    cn_cache_done(&kept->queries);
}

static struct cn_kept_query *add_query(struct cn_kept_hits *kept, const char *key)
{
    struct cn_kept_query *query = cn_alloc(1, sizeof(*query));

    query->segment_count = kept->segment_count;
    query->rows = cn_alloc(kept->segment_count, sizeof(*query->rows));
    query->cached = cn_cache_add(&kept->queries, key, query, 0);
    return query;
}

struct cn_kept_query *cn_kept_hits_of(struct cn_kept_hits *kept,
                                      const struct cn_query *query, bool is_rough)
{
    struct cn_text key = {0};

    cn_text_printf(&key, "%" PRIu64 "%c%s", query->now_ns, is_rough ? '~' : ' ',
                   query->text);
    struct cn_cached *entry = cn_cache_find(&kept->queries, cn_text_str(&key));
    struct cn_kept_query *found =
        entry ? entry->value : add_query(kept, cn_text_str(&key));
    cn_text_done(&key);
    return found;
}

static uint64_t len_of(const struct cn_rows *rows)
{
    return cn_rows_word_count(rows) * sizeof(*rows->words);
}

bool cn_kept_hits_add(struct cn_kept_hits *kept, struct cn_kept_query *query,
                      uint32_t segment, const struct cn_rows *rows)
{
    cn_cached_pin(query->cached);
    bool has_room = cn_cache_make_room(&kept->queries, len_of(rows));
    cn_cached_unpin(query->cached);
    if (!has_room)
        return false;
    query->rows[segment] = *rows;
    cn_cache_set_cost(&kept->queries, query->cached, query->cached->cost + len_of(rows));
    return true;
}

void cn_kept_hits_begin_again(struct cn_kept_hits *kept,
                              const struct cn_kept_hits *earlier)
{
    for (const struct cn_cached *at = earlier->queries.oldest; at; at = at->newer)
        (void)add_query(kept, at->key);
}

void cn_kept_hits_move(struct cn_kept_hits *kept, size_t segment,
                       struct cn_kept_hits *earlier, size_t earlier_segment)
{
    for (struct cn_cached *at = kept->queries.oldest; at; at = at->newer) {
        struct cn_cached *from = cn_cache_find(&earlier->queries, at->key);
        struct cn_rows *rows =
            &((struct cn_kept_query *)from->value)->rows[earlier_segment];
        uint64_t len = len_of(rows);

        if (!rows->words)
            continue;
        ((struct cn_kept_query *)at->value)->rows[segment] = *rows;
        cn_cache_set_cost(&kept->queries, at, at->cost + len);
        cn_cache_set_cost(&earlier->queries, from, from->cost - len);
        *rows = (struct cn_rows){0};
    }
}
