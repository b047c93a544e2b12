#include "analyze/views/header.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/lens/database.h"
#include "analyze/lens/lens.h"
#include "analyze/time_base.h"
#include "analyze/views/costs.h"
#include "analyze/views/overview.h"
#include "base/alloc.h"
#include "base/text.h"

/* Times before that are those of a clock that does not count from the epoch. */
#define EPOCH_MIN_NS (UINT64_C(365) * 24 * 3600 * 1000000000)

/* The total of a metric, or of the default one; its name is `*name`. */
static bool whole_of(struct cn_database *db, const char **name, double *out,
                     struct cn_error *err)
{
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    struct cn_cost_request request = {.metric = *name, .profile = CN_NONE};
    struct cn_error none;
    bool ok = true;

    *out = NAN;
    cn_costs_init(costs, db);
    if (cn_costs_add(costs, &request, &none)) {
        ok = cn_costs_ready(costs, err);
        *name = costs->columns[0].metric;
        if (ok)
            *out = costs->columns[0].total;
    }
    cn_costs_done(costs);
    free(costs);
    return ok;
}

static bool has_damage(const struct cn_database *db)
{
    const struct cn_warning *w = db->warnings;

    while (w && !w->is_damage)
        w = w->next;
    return w != NULL;
}

bool cn_header_build(struct cn_header *out, struct cn_database *db,
                     const struct cn_lens *lens, uint64_t lost_count,
                     struct cn_error *err)
{
    bool has_lens = cn_database_has_lens(db);
    struct cn_database *whole = has_lens ? cn_lens_whole(db) : db;
    struct cn_time_base base;
    struct cn_overview overview;
    struct cn_header header = {
        .origin = whole->origin,
        .title = whole->title,
        .is_damaged = has_damage(db),
        .lost_count = lost_count > 0 ? lost_count : whole->origin.lost_count,
        .lens = lens && (lens->count > 0 || lens->mine.count > 0) ? lens : NULL,
    };

    if (!cn_overview_build(&overview, whole, err))
        return false;
    header.thread_count = overview.thread_count;
    header.sample_count = overview.sample_count;
    cn_overview_done(&overview);
    header.start_ns = whole->origin.start_ns;
    if (whole->has_timelines && whole->end_ns > whole->begin_ns) {
        header.duration_ns = whole->end_ns - whole->begin_ns;
        if (header.start_ns == 0 && whole->begin_ns > EPOCH_MIN_NS)
            header.start_ns = whole->begin_ns;
    }
    if (!whole_of(whole, &header.metric, &header.whole, err))
        return false;
    header.shown = header.whole;
    if (has_lens && header.metric && !whole_of(db, &header.metric, &header.shown, err))
        return false;
    if (header.metric && cn_time_base_of(whole, header.metric, &base))
        header.base = cn_time_base_name(base);
    *out = header;
    return true;
}
