#include "store/copy.h"

#include "base/files/file.h"
#include "base/files/outdir.h"
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

/* `is_whole` receives whether all that could be read is in the store. */
static bool copy_to(const char *path, struct cn_search *search,
                    const struct cn_query *query, struct cn_store_added *out,
                    bool *is_whole, struct cn_error *err)
{
    struct cn_store_writer *writer;
    struct cn_error later;
    uint32_t count;

    *is_whole = false;
    if (!cn_store_init(path, NULL, err) ||
        !cn_store_writer_open(&writer, path, NULL, err))
        return false;
    bool ok = cn_store_copy(writer, search, query, out, err);
    *is_whole = cn_store_writer_close(writer, ok ? err : &later) &&
                cn_store_seal(path, &count, ok ? err : &later);
    return ok && *is_whole;
}

bool cn_store_copy_new(const char *path, struct cn_search *search,
                       const struct cn_query *query, struct cn_store_added *out,
                       struct cn_error *err)
{
    struct cn_outdir dir = {0};
    struct cn_error later;
    bool ok, is_whole;

    *out = (struct cn_store_added){0};
    if (cn_path_is_address(path))
        return copy_to(path, search, query, out, &is_whole, err);
    if (!cn_store_is_missing(path))
        return cn_fail(err, CN_ERR_USAGE, "%s exists already; choose another path", path);
    if (!cn_outdir_begin(&dir, path, true, err))
        return false;
    ok = copy_to(dir.path, search, query, out, &is_whole, err);
    if (is_whole)
        ok = cn_outdir_commit(&dir, ok ? err : &later) && ok;
    else
        out->traces = 0;
    cn_outdir_abandon(&dir);
    return ok;
}
