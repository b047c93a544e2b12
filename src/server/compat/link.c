#include "server/compat/link.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/traces/links.h"
#include "server/api/route.h"
#include "server/served/served.h"
#include "store/search/traces.h"

const char *cn_compat_link_id(const char *path)
{
    static const char *const prefixes[] = {"/trace/", "/jaeger/trace/",
                                           "/zipkin/traces/"};

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
        const char *id = path + strlen(prefixes[i]);
        size_t len;

        if (strncmp(path, prefixes[i], strlen(prefixes[i])) != 0)
            continue;
        len = strspn(id, "0123456789abcdefABCDEF");
        if (len > 0 && len <= CN_TRACE_ID_DIGITS && id[len] == '\0')
            return id;
    }
    return NULL;
}

/* The span of a trace that stands for it. */
static bool find(struct cn_served_store *store, const char *id, struct cn_search_hit *out,
                 bool *is_found, struct cn_error *err)
{
    struct cn_search_order order = {.sort = CN_SEARCH_BY_TIME, .limit = 1};
    struct cn_search_traces traces = {0};
    struct cn_query *query = NULL;
    char text[64];

    (void)snprintf(text, sizeof(text), "id = %s", id);
    bool ok = cn_served_store_refresh(store, err) &&
              cn_query_parse(&query, text, 0, err) &&
              cn_search_traces(store->search, query, &order, &traces, err);
    *is_found = ok && traces.count > 0;
    if (*is_found)
        *out = traces.list[0].root;
    if (ok)
        cn_search_traces_done(&traces);
    cn_query_free(query);
    return ok;
}

bool cn_compat_link_open(const struct cn_served_list *sources, const char *id,
                         char out[64], struct cn_error *err)
{
    char digits[CN_TRACE_ID_DIGITS + 1];
    bool is_found = false, ok = true;

    (void)snprintf(digits, sizeof(digits), "%032d", 0);
    memcpy(digits + CN_TRACE_ID_DIGITS - strlen(id), id, strlen(id));
    for (size_t i = 0; ok && !is_found && i < sources->count; i++) {
        struct cn_served *served = sources->list[i];
        struct cn_search_hit hit;

        if (served->kind != CN_SERVED_STORE)
            continue;
        cn_served_lock(served);
        ok = find(&served->store, digits, &hit, &is_found, err);
        if (is_found)
            (void)snprintf(
                out, 64, "/#s=%zu&key=%" PRIx32 ".%" PRIu32, i,
                cn_segment_number(cn_store_segment(served->store.store, hit.segment)),
                hit.row);
        cn_served_unlock(served);
    }
    return ok &&
           (is_found || cn_fail(err, CN_ERR_NOT_FOUND, "no store has trace %s", id));
}
