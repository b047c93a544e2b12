#include "analyze/wakers/sums.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyze/timeline/spans.h"
#include "analyze/wakers/lock_names.h"
#include "base/alloc.h"
#include "base/sort.h"
#include "base/text.h"
#include "model/contexts/database.h"

/* Threads are told apart by their names; those without one, or all of them, by their numbers. */
static bool name_threads(struct cn_wait_sums *sums, bool tells_threads,
                         struct cn_error *err)
{
    struct cn_text text = {0};
    bool ok = true;

    for (uint32_t i = 0; ok && i < sums->db->profile_count; i++) {
        struct cn_profile profile;

        ok = cn_database_profile(sums->db, i, &profile, err);
        cn_text_clear(&text);
        if (ok && profile.name && profile.name[0])
            cn_text_str_add(&text, profile.name);
        else if (ok)
            cn_identity_print(&profile.identity, &sums->db->kinds, &text);
        if (ok && tells_threads && profile.name && profile.name[0] &&
            profile.identity.count > 0)
            cn_text_printf(&text, " %" PRIu64,
                           profile.identity.ids[profile.identity.count - 1].physical);
        sums->name_of[i] = cn_names_add(&sums->names, cn_text_str(&text));
    }
    cn_text_done(&text);
    return ok;
}

bool cn_wait_sums_init(struct cn_wait_sums *sums, struct cn_database *db,
                       const struct cn_wait_sites *sites, bool tells_threads,
                       struct cn_error *err)
{
    *sums = (struct cn_wait_sums){
        .db = db,
        .sites = sites,
        .name_of = cn_alloc((size_t)db->profile_count + 1, sizeof(*sums->name_of)),
    };
    return name_threads(sums, tells_threads, err);
}

void cn_wait_sums_done(struct cn_wait_sums *sums)
{
    free(sums->list);
    free(sums->name_of);
    cn_map_done(&sums->row_of);
    cn_names_done(&sums->names);
    *sums = (struct cn_wait_sums){0};
}

/* Add a time to the row that is like this one. */
static void add(struct cn_wait_sums *sums, const struct cn_wait_row *like,
                uint64_t begin_ns, uint64_t end_ns)
{
    uint32_t key[10] = {
        like->kind,   like->is_ending, like->is_inferred, like->site.own, like->site.call,
        like->by.own, like->by.call,   like->name,        like->by_name,  like->lock};
    uint64_t ns = end_ns - begin_ns;
    uint32_t at =
        *cn_map_at(&sums->row_of, XXH3_64bits(key, sizeof(key)), (uint32_t)sums->count);

    if (at == sums->count)
        CN_PUSH(sums->list, sums->count, sums->capacity, *like);
    struct cn_wait_row *row = &sums->list[at];
    row->time_ns += ns;
    row->count++;
    sums->total_ns += ns;
    if (ns > row->longest_ns) {
        row->longest_ns = ns;
        row->longest_at_ns = begin_ns;
        row->context = like->context;
        row->by_context = like->by_context;
        row->profile = like->profile;
    }
}

void cn_wait_sums_add(struct cn_wait_sums *sums, const struct cn_waited *wait,
                      uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t from_ns = wait->begin_ns > begin_ns ? wait->begin_ns : begin_ns;
    uint64_t to_ns = wait->end_ns < end_ns ? wait->end_ns : end_ns;
    uint64_t woken_ns = wait->woken_ns < to_ns ? wait->woken_ns : to_ns;
    struct cn_wait_row row = {
        .kind = wait->kind,
        .is_ending = wait->is_ending,
        .is_inferred = wait->is_inferred,
        .site = cn_wait_site_of(sums->sites, wait->context),
        .by = {CN_NONE, CN_NONE},
        .name = sums->name_of[wait->profile],
        .by_name = CN_NONE,
        .lock = CN_NONE,
        .context = wait->context,
        .profile = wait->profile,
    };

    if (from_ns < woken_ns) {
        struct cn_wait_row asleep = row;

        /* What an interrupt has stopped is no waker. */
        if (wait->waker != 0 || wait->kind == CN_WAIT_FOR_KERNEL ||
            wait->kind == CN_WAIT_FOR_PROCESS) {
            asleep.by = cn_wait_site_of(sums->sites, wait->waker_context);
            asleep.by_context = wait->waker_context;
        }
        if (wait->lock != 0 && sums->locks)
            asleep.lock =
                cn_names_add(&sums->names, sums->locks->list[wait->lock - 1].name);
        asleep.by_name = wait->waker != 0 ? sums->name_of[wait->waker] : CN_NONE;
        add(sums, &asleep, from_ns, woken_ns);
    }
    if (from_ns < woken_ns)
        from_ns = woken_ns;
    row.kind = CN_WAIT_FOR_PROCESSOR;
    row.is_ending = row.is_inferred = false;
    if (from_ns < to_ns)
        add(sums, &row, from_ns, to_ns);
}

struct chain_sums {
    struct cn_wait_sums *sums;
    struct cn_span_window **windows; /* by profile; NULL: it is not on the path yet */
    struct cn_wait_row like;
    uint64_t at_ns; /* spans were added up to here */
    bool ok;
    struct cn_error *err;
};

static void add_span(void *arg, uint32_t context, uint64_t begin_ns, uint64_t end_ns)
{
    struct chain_sums *p = arg;

    if (begin_ns > p->at_ns) { /* before the first sample */
        p->like.site = (struct cn_wait_site){CN_NONE, CN_NONE};
        p->like.context = 0;
        add(p->sums, &p->like, p->at_ns, begin_ns);
    }
    if (end_ns > begin_ns) {
        p->like.site = cn_wait_site_of(p->sums->sites, context);
        p->like.context = context;
        add(p->sums, &p->like, begin_ns, end_ns);
        p->at_ns = end_ns;
    }
}

static bool add_spans(struct chain_sums *p, const struct cn_chain_part *part)
{
    struct cn_span_window **window = &p->windows[part->profile];

    if (!*window)
        *window = cn_alloc(1, sizeof(**window));
    p->ok = cn_spans_visit_near(*window, p->sums->db, part->profile, part->begin_ns,
                                part->end_ns, add_span, p, p->err);
    return p->ok;
}

static bool add_part(void *arg, const struct cn_chain_part *part)
{
    struct chain_sums *p = arg;
    struct cn_wait_site site = cn_wait_site_of(p->sums->sites, part->context);

    p->at_ns = part->begin_ns;
    p->like = (struct cn_wait_row){.kind = part->kind,
                                   .is_inferred = part->is_inferred,
                                   .site = site,
                                   .by = {CN_NONE, CN_NONE},
                                   .name = p->sums->name_of[part->profile],
                                   .by_name = CN_NONE,
                                   .lock = CN_NONE,
                                   .context = part->context,
                                   .profile = part->profile};
    if (part->kind == CN_CHAIN_RUNS && !add_spans(p, part))
        return false;
    p->like.site = site;
    p->like.context = part->context;
    if (p->at_ns < part->end_ns)
        add(p->sums, &p->like, p->at_ns, part->end_ns);
    return true;
}

bool cn_wait_sums_add_chain(struct cn_wait_sums *sums, const struct cn_wait_graph *graph,
                            uint32_t profile, uint64_t begin_ns, uint64_t end_ns,
                            struct cn_error *err)
{
    struct chain_sums p = {
        .sums = sums,
        .windows = cn_alloc((size_t)graph->profile_count + 1, sizeof(*p.windows)),
        .ok = true,
        .err = err,
    };

    cn_wait_chain_visit(sums->db, graph, profile, begin_ns, end_ns, add_part, &p);
    for (uint32_t i = 0; i < graph->profile_count; i++)
        free(p.windows[i]);
    free(p.windows);
    return p.ok;
}

void cn_wait_sums_finish(struct cn_wait_sums *sums)
{
    CN_SORT(sums->list, sums->count, CN_DOWN(struct cn_wait_row, time_ns),
            CN_UP(struct cn_wait_row, kind), CN_UP(struct cn_wait_row, longest_at_ns));
}

void cn_wait_row_print_waker(const struct cn_wait_sums *sums,
                             const struct cn_wait_row *row, struct cn_text *out)
{
    const char *name = row->by_name != CN_NONE ? sums->names.list[row->by_name] : NULL;

    if (row->is_ending)
        cn_text_str_add(out, "end of ");
    if (name)
        cn_text_str_add(out, name);
    if (row->is_ending || !cn_wait_site_is_known(row->by))
        return;
    if (name)
        cn_text_str_add(out, ": ");
    cn_wait_site_print(sums->sites, row->by, out);
}
