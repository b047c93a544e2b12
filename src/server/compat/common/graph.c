#include "server/compat/common/graph.h"

#include "server/compat/common/find.h"
#include "server/compat/common/values.h"
#include "server/served/store.h"
#include "store/search/names.h"
#include "store/search/query.h"

void cn_compat_services(struct cn_served_store *store, struct cn_names *out)
{
    cn_search_service_names(store->search, CN_COMPAT_NAMES_MAX, out);
    cn_compat_sort_names(out);
}

bool cn_compat_graph(struct cn_served_store *store, uint64_t end_ns, uint64_t back_ns,
                     struct cn_services *out, struct cn_error *err)
{
    struct cn_query *query = NULL;
    struct cn_find find = {0};

    cn_find_add_times(&find, end_ns > back_ns ? end_ns - back_ns : 0, end_ns);
    bool ok = cn_query_parse(&query, cn_text_str(&find.query), 0, err) &&
              cn_search_services(store->search, query, false, out, err);
    cn_query_free(query);
    cn_find_done(&find);
    return ok;
}
