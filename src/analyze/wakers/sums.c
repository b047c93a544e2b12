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

enum {
    RECENT_COUNT = 1 << 13,
    RECENT_SHIFT = 64 - 13,
};

#define HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15)

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
        .recent = cn_alloc(RECENT_COUNT, sizeof(*sums->recent)),
        .round = 1,
    };
    return name_threads(sums, tells_threads, err);
}

void cn_wait_sums_done(struct cn_wait_sums *sums)
{
    free(sums->list);
    free(sums->name_of);
    free(sums->recent);
    cn_map_done(&sums->row_of);
    cn_names_done(&sums->names);
    *sums = (struct cn_wait_sums){0};
}

void cn_wait_sums_clear(struct cn_wait_sums *sums)
{
    sums->count = 0;
    sums->total_ns = 0;
    sums->round++;
    cn_map_done(&sums->row_of);
}

static bool is_same(const struct cn_wait_key *a, const struct cn_wait_key *b)
{
    return a->context == b->context && a->by_context == b->by_context &&
           a->profile == b->profile && a->waker == b->waker && a->lock == b->lock &&
           a->kind == b->kind && a->is_ending == b->is_ending &&
           a->is_inferred == b->is_inferred;
}

static struct cn_wait_row row_of(struct cn_wait_sums *sums, const struct cn_wait_key *key)
{
    return (struct cn_wait_row){
        .kind = key->kind,
        .is_ending = key->is_ending,
        .is_inferred = key->is_inferred,
        .site = cn_wait_site_of(sums->sites, key->context),
        .by = cn_wait_site_of(sums->sites, key->by_context),
        .name = sums->name_of[key->profile],
        .by_name = key->waker != 0 ? sums->name_of[key->waker] : CN_NONE,
        .lock = key->lock != 0 && sums->locks
                    ? cn_names_add(&sums->names, sums->locks->list[key->lock - 1].name)
                    : CN_NONE,
    };
}

/* The number of the row that is like this one. */
static uint32_t find_row(struct cn_wait_sums *sums, const struct cn_wait_row *like)
{
    uint32_t key[10] = {
        like->kind,   like->is_ending, like->is_inferred, like->site.own, like->site.call,
        like->by.own, like->by.call,   like->name,        like->by_name,  like->lock};
    uint32_t at =
        *cn_map_at(&sums->row_of, XXH3_64bits(key, sizeof(key)), (uint32_t)sums->count);

    if (at == sums->count)
        CN_PUSH(sums->list, sums->count, sums->capacity, *like);
    return at;
}

/* The same; what was asked for before is found without names and sites. */
static uint32_t find_row_of(struct cn_wait_sums *sums, const struct cn_wait_key *key)
{
    uint64_t hash = ((uint64_t)key->profile << 32 | key->context) * HASH_FACTOR ^
                    ((uint64_t)key->waker << 32 | key->by_context) ^
                    ((uint64_t)key->lock << 32 | key->kind);
    struct cn_wait_recent *recent = &sums->recent[hash * HASH_FACTOR >> RECENT_SHIFT];

    if (recent->round != sums->round || !is_same(&recent->key, key)) {
        struct cn_wait_row like = row_of(sums, key);

        *recent = (struct cn_wait_recent){*key, find_row(sums, &like), sums->round};
    }
    return recent->row;
}

static void add(struct cn_wait_sums *sums, const struct cn_wait_key *key,
                uint64_t begin_ns, uint64_t end_ns)
{
    uint32_t at = find_row_of(sums, key);
    struct cn_wait_row *row = &sums->list[at];
    uint64_t ns = end_ns - begin_ns;

    row->time_ns += ns;
    row->count++;
    sums->total_ns += ns;
    if (ns > row->longest_ns) {
        row->longest_ns = ns;
        row->longest_at_ns = begin_ns;
        row->context = key->context;
        row->by_context = key->by_context;
        row->profile = key->profile;
    }
}

void cn_wait_sums_add(struct cn_wait_sums *sums, const struct cn_waited *wait,
                      uint64_t begin_ns, uint64_t end_ns)
{
    uint64_t from_ns = wait->begin_ns > begin_ns ? wait->begin_ns : begin_ns;
    uint64_t to_ns = wait->end_ns < end_ns ? wait->end_ns : end_ns;
    uint64_t woken_ns = wait->woken_ns < to_ns ? wait->woken_ns : to_ns;
    struct cn_wait_key key = {
        .context = wait->context,
        .profile = wait->profile,
        .kind = CN_WAIT_FOR_PROCESSOR,
    };

    if (from_ns < woken_ns) {
        struct cn_wait_key asleep = key;

        asleep.kind = wait->kind;
        asleep.is_ending = wait->is_ending;
        asleep.is_inferred = wait->is_inferred;
        asleep.waker = wait->waker;
        asleep.lock = wait->lock;
        /* What an interrupt has stopped is no waker. */
        if (wait->waker != 0 || wait->kind == CN_WAIT_FOR_KERNEL ||
            wait->kind == CN_WAIT_FOR_PROCESS)
            asleep.by_context = wait->waker_context;
        add(sums, &asleep, from_ns, woken_ns);
        from_ns = woken_ns;
    }
    if (from_ns < to_ns)
        add(sums, &key, from_ns, to_ns);
}

void cn_wait_sums_merge(struct cn_wait_sums *sums, const struct cn_wait_sums *from,
                        const struct cn_wait_row *row)
{
    struct cn_wait_row like = *row, *into;

    like.time_ns = like.count = like.longest_ns = 0;
    if (row->lock != CN_NONE)
        like.lock = cn_names_add(&sums->names, from->names.list[row->lock]);
    uint32_t at = find_row(sums, &like);
    into = &sums->list[at];
    into->time_ns += row->time_ns;
    into->count += row->count;
    sums->total_ns += row->time_ns;
    if (row->longest_ns > into->longest_ns) {
        into->longest_ns = row->longest_ns;
        into->longest_at_ns = row->longest_at_ns;
        into->context = row->context;
        into->by_context = row->by_context;
        into->profile = row->profile;
    }
}

struct chain_sums {
    struct cn_wait_sums *sums;
    struct cn_span_window **windows; /* by profile; NULL: it is not on the path yet */
    struct cn_wait_key like;
    uint64_t at_ns; /* spans were added up to here */
    bool ok;
    struct cn_error *err;
};

static void add_span(void *arg, uint32_t context, uint64_t begin_ns, uint64_t end_ns)
{
    struct chain_sums *p = arg;

    if (begin_ns > p->at_ns) { /* before the first sample */
        p->like.context = 0;
        add(p->sums, &p->like, p->at_ns, begin_ns);
    }
    if (end_ns > begin_ns) {
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

    p->at_ns = part->begin_ns;
    p->like = (struct cn_wait_key){.kind = (uint8_t)part->kind,
                                   .is_inferred = part->is_inferred,
                                   .context = part->context,
                                   .profile = part->profile};
    if (part->kind == CN_CHAIN_RUNS && !add_spans(p, part))
        return false;
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
