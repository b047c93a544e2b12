#include "cli/store/store_copy.h"

#include "cli/store/store_query.h"
#include "model/traces/trace.h"
#include "store/search/search.h"
#include "store/segment/reader.h"
#include "store/write/writer.h"

static bool copy_hit(struct cn_store_writer *to, const struct cn_store *from,
                     const struct cn_search_hit *hit, struct cn_segment_loader *loader,
                     struct cn_trace *trace, struct cn_store_copied *copied,
                     struct cn_error *err)
{
    const struct cn_segment *segment = cn_store_segment(from, hit->segment);
    struct cn_store_row row;
    struct cn_words *words;
    bool is_new;

    if (!cn_segment_row(segment, hit->row, &row, err))
        return false;
    /* These come with the trace that they are part of. */
    if (row.flags & CN_ROW_EMBEDDED || row.part != 0)
        return true;
    if (!cn_segment_check_words(segment, err) ||
        !cn_segment_load(loader, segment, hit->row, trace, err))
        return false;
    if (trace->node_count == 0)
        return true;
    if (!cn_store_writer_begin(to, &words, err) ||
        !cn_store_writer_add(to, trace, &is_new, err))
        return false;
    copied->traces += is_new;
    copied->known += !is_new;
    copied->records += is_new ? trace->node_count : 0;
    return true;
}

bool cn_store_copy(struct cn_store_writer *to, const struct cn_store_query *from,
                   struct cn_store_copied *out, struct cn_error *err)
{
    struct cn_search_order oldest_first = {.is_reversed = true, .limit = UINT64_MAX};
    struct cn_segment_loader *loader;
    struct cn_trace trace = {0};
    struct cn_search_hits hits;
    bool ok = true;

    *out = (struct cn_store_copied){0};
    if (!cn_search_rows(from->search, from->query, &oldest_first, &hits, err))
        return false;
    loader = cn_segment_loader_new();
    for (size_t i = 0; ok && i < hits.count; i++)
        ok = copy_hit(to, from->store, &hits.list[i], loader, &trace, out, err);
    cn_segment_loader_free(loader);
    cn_trace_done(&trace);
    cn_search_hits_done(&hits);
    return ok;
}
