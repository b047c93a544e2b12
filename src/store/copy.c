#include "store/copy.h"

#include "model/traces/trace.h"
#include "store/maintenance/maintenance.h"
#include "store/search/trace_cursor.h"
#include "store/write/writer.h"

bool cn_store_copy(struct cn_store_writer *to, struct cn_search *search,
                   const struct cn_query *query, struct cn_store_added *out,
                   struct cn_error *err)
{
    struct cn_trace_cursor cursor;
    struct cn_trace trace = {0};
    struct cn_store_row row;
    struct cn_error unread = {0};
    enum cn_step step = CN_FAIL;
    bool ok = true;

    *out = (struct cn_store_added){0};
    if (!cn_trace_cursor_open(&cursor, search, query, CN_SEARCH_TRACES, err))
        return false;
    while (ok && (step = cn_trace_cursor_next(&cursor, &row, err)) == CN_ITEM) {
        struct cn_error found;

        if (cn_trace_cursor_load(&cursor, &trace, &found))
            ok = trace.node_count == 0 || cn_store_writer_add(to, &trace, out, err);
        else if (unread.kind == CN_ERR_NONE)
            unread = found;
    }
    cn_trace_cursor_close(&cursor);
    cn_trace_done(&trace);
    if (!ok || step != CN_END)
        return false;
    if (unread.kind != CN_ERR_NONE) {
        *err = unread;
        return false;
    }
    return cn_search_check(search, err);
}

bool cn_store_copy_new(const char *path, struct cn_search *search,
                       const struct cn_query *query, struct cn_store_added *out,
                       struct cn_error *err)
{
    struct cn_store_writer *writer;
    struct cn_error later;
    uint32_t count;
    bool ok;

    *out = (struct cn_store_added){0};
    if (!cn_store_init(path, NULL, err) ||
        !cn_store_writer_open(&writer, path, NULL, err))
        return false;
    ok = cn_store_copy(writer, search, query, out, err);
    ok = cn_store_writer_close(writer, ok ? err : &later) && ok;
    return cn_store_seal(path, &count, ok ? err : &later) && ok;
}
