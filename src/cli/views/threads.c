#include "cli/views/threads.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "cli/views/options.h"
#include "model/contexts/database.h"

static bool is_chosen(const struct cn_thread_filter *filters, size_t count,
                      uint32_t index, const struct cn_identity_tuple *identity)
{
    for (size_t i = 0; i < count; i++)
        if (cn_thread_filter_matches(&filters[i], index, identity))
            return true;
    return count == 0;
}

static bool choose(struct cn_database *db, const struct cn_thread_filter *filters,
                   size_t count, bool *out, struct cn_error *err)
{
    struct cn_profile profile;

    for (uint32_t i = 0; i < db->profile_count; i++) {
        if (!cn_database_profile(db, i, &profile, err))
            return false;
        out[i] = is_chosen(filters, count, i, &profile.identity);
    }
    return true;
}

bool cn_view_threads_select(const struct cn_args *args, struct cn_database *db,
                            bool **out, struct cn_error *err)
{
    struct cn_values threads = cn_args_values(args, "thread");
    struct cn_thread_filter *filters = cn_alloc(threads.count, sizeof(*filters));
    size_t count = 0;
    bool ok = true;

    *out = cn_alloc(db->profile_count, sizeof(**out));
    while (ok && count < threads.count) {
        ok =
            cn_thread_filter_parse(&filters[count], threads.list[count], &db->kinds, err);
        count += ok;
    }
    ok = ok && choose(db, filters, count, *out, err);
    while (count > 0)
        cn_thread_filter_done(&filters[--count]);
    free(filters);
    return ok;
}
