#include "store/search/kept_hits.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/search/query.h"

void cn_kept_hits_init(struct cn_kept_hits *kept, size_t segment_count)
{
    *kept = (struct cn_kept_hits){.segment_count = segment_count};
}

static void forget(struct cn_kept_hits *kept, struct cn_kept_query *query)
{
    for (size_t i = 0; query->rows && i < kept->segment_count; i++)
        cn_rows_done(&query->rows[i]);
    free(query->rows);
    free(query->text);
    *query = (struct cn_kept_query){0};
}

void cn_kept_hits_done(struct cn_kept_hits *kept)
{
    for (size_t i = 0; i < CN_KEPT_QUERIES; i++)
        forget(kept, &kept->queries[i]);
}

struct cn_kept_query *cn_kept_hits_of(struct cn_kept_hits *kept,
                                      const struct cn_query *query)
{
    struct cn_kept_query *oldest = &kept->queries[0];

    for (size_t i = 0; i < CN_KEPT_QUERIES; i++) {
        struct cn_kept_query *at = &kept->queries[i];

        if (at->text && at->now_ns == query->now_ns &&
            strcmp(at->text, query->text) == 0) {
            at->used_at = ++kept->use_count;
            return at;
        }
        if (at->used_at < oldest->used_at)
            oldest = at;
    }
    forget(kept, oldest);
    *oldest = (struct cn_kept_query){
        .text = cn_strdup(query->text),
        .now_ns = query->now_ns,
        .used_at = ++kept->use_count,
        .rows = cn_alloc(kept->segment_count, sizeof(*oldest->rows)),
    };
    return oldest;
}

bool cn_kept_hits_add(struct cn_kept_hits *kept, struct cn_kept_query *query,
                      uint32_t segment, const struct cn_rows *rows)
{
    uint64_t len = cn_rows_word_count(rows) * sizeof(*rows->words), all = len;

    for (size_t i = 0; i < CN_KEPT_QUERIES; i++)
        all += kept->queries[i].len;
    for (size_t i = 0; all > CN_KEPT_LEN_MAX && i < CN_KEPT_QUERIES; i++) {
        if (&kept->queries[i] == query)
            continue;
        all -= kept->queries[i].len;
        forget(kept, &kept->queries[i]);
    }
    if (all > CN_KEPT_LEN_MAX)
        return false;
    query->rows[segment] = *rows;
    query->len += len;
    return true;
}

void cn_kept_hits_begin_again(struct cn_kept_hits *kept,
                              const struct cn_kept_hits *earlier)
{
    kept->use_count = earlier->use_count;
    for (size_t i = 0; i < CN_KEPT_QUERIES; i++) {
        const struct cn_kept_query *from = &earlier->queries[i];

        if (from->text)
            kept->queries[i] = (struct cn_kept_query){
                .text = cn_strdup(from->text),
                .now_ns = from->now_ns,
                .used_at = from->used_at,
                .rows = cn_alloc(kept->segment_count, sizeof(*from->rows)),
            };
    }
}

void cn_kept_hits_move(struct cn_kept_hits *kept, size_t segment,
                       struct cn_kept_hits *earlier, size_t earlier_segment)
{
    for (size_t i = 0; i < CN_KEPT_QUERIES; i++) {
        struct cn_rows *from;
        uint64_t len;

        if (!kept->queries[i].text)
            continue;
        from = &earlier->queries[i].rows[earlier_segment];
        if (!from->words)
            continue;
        len = cn_rows_word_count(from) * sizeof(*from->words);
        kept->queries[i].rows[segment] = *from;
        kept->queries[i].len += len;
        earlier->queries[i].len -= len;
        *from = (struct cn_rows){0};
    }
}
