#include "analyze/samples/share.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"

void cn_sampled_messages_done(struct cn_sampled_messages *messages)
{
    cn_text_done(&messages->identities);
    cn_text_done(&messages->damages);
}

void cn_sampled_messages_add_damage(struct cn_sampled_messages *messages,
                                    const char *text)
{
    cn_wire_str(&messages->damages, text);
}

void cn_sampled_messages_add_identity(struct cn_sampled_messages *messages,
                                      const struct cn_sampled_profile *profile)
{
    struct cn_text *message = &messages->identities;

    cn_wire_u64(message, profile->kind_count);
    for (size_t i = 0; i < profile->kind_count; i++)
        cn_wire_bytes(message, profile->kinds[i].ptr, profile->kinds[i].len);
    cn_wire_u64(message, profile->identity_count);
    for (size_t i = 0; i < profile->identity_count; i++) {
        cn_wire_u64(message, profile->identity[i].physical);
        cn_wire_u64(message, profile->identity[i].logical);
        cn_wire_u32(message, profile->identity[i].kind);
        cn_wire_u32(message, profile->identity[i].numbering);
    }
}

static bool is_damaged(struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT, "damaged message of another rank");
}

static bool take_kinds(struct cn_bytes *from, struct cn_bytes **kinds, size_t *count)
{
    enum { KIND_LEN = 8 };

    if (!cn_wire_count_take(from, KIND_LEN, count))
        return false;
    *kinds = cn_alloc(*count, sizeof(**kinds));
    for (size_t i = 0; i < *count; i++)
        if (!cn_wire_bytes_take(from, &(*kinds)[i]))
            return false;
    return true;
}

static bool take_identities(struct cn_bytes *from, size_t kind_count,
                            struct cn_sampled_identity *list, size_t *count)
{
    uint64_t given;

    if (!cn_wire_u64_take(from, &given) || given > CN_IDENTITY_MAX)
        return false;
    *count = (size_t)given;
    for (size_t i = 0; i < *count; i++) {
        uint32_t kind, numbering;

        if (!cn_wire_u64_take(from, &list[i].physical) ||
            !cn_wire_u64_take(from, &list[i].logical) || !cn_wire_u32_take(from, &kind) ||
            !cn_wire_u32_take(from, &numbering) || kind >= kind_count ||
            kind > UINT16_MAX || numbering > CN_NUMBERED_LOGICAL)
            return false;
        list[i].kind = (uint16_t)kind;
        list[i].numbering = (uint8_t)numbering;
    }
    return true;
}

/* The identity of one thread, numbered as if rank 0 had read its profile. */
static bool identify(struct cn_sampled_database *self, struct cn_bytes *from,
                     struct cn_sampled_thread *thread, struct cn_error *err)
{
    struct cn_sampled_identity list[CN_IDENTITY_MAX];
    struct cn_identity ids[CN_IDENTITY_MAX] = {0};
    struct cn_sampled_profile profile = {.identity = list};
    struct cn_bytes *kinds = NULL;
    size_t id_count = 0;
    bool ok =
        (take_kinds(from, &kinds, &profile.kind_count) &&
         take_identities(from, profile.kind_count, list, &profile.identity_count)) ||
        is_damaged(err);

    profile.kinds = kinds;
    ok =
        ok && cn_sampled_identities_add(&self->identities, &profile, ids, &id_count, err);
    free(kinds);
    if (ok)
        cn_sampled_thread_identify(self, thread, ids, id_count);
    return ok;
}

/* Identify the threads of the other ranks on rank 0, in their order. */
static bool share_identities(struct cn_sampled_database *self, struct cn_ranks *ranks,
                             const struct cn_sampled_messages *messages, uint32_t first,
                             struct cn_error *err)
{
    struct cn_text all = {0};
    struct cn_bytes left, message = {0};
    bool ok = cn_ranks_collect(ranks, &messages->identities, &all, err);
    uint32_t end = cn_ranks_is_first(ranks) ? self->db.profile_count : 0;

    left = cn_wire_view(&all);
    for (uint32_t i = first; ok && i < end; i++) {
        while (ok && message.len == 0)
            ok = cn_wire_bytes_take(&left, &message) || is_damaged(err);
        ok = ok && identify(self, &message, &self->threads[i], err);
    }
    cn_text_done(&all);
    return cn_ranks_agree(ranks, ok, err);
}

static void encode_threads(const struct cn_sampled_database *self, uint32_t thread_count,
                           struct cn_text *message)
{
    for (uint32_t i = 1; i < thread_count; i++) {
        const struct cn_sampled_thread *thread = &self->threads[i];

        cn_wire_u64(message, thread->values_off);
        cn_wire_u64(message, thread->samples_off);
        cn_wire_u64(message, thread->value_count);
        cn_wire_u64(message, thread->sample_count);
        cn_wire_u32(message, thread->context_count);
    }
}

static bool take_thread(struct cn_bytes *from, unsigned rank,
                        struct cn_sampled_thread *out)
{
    return cn_wire_u64_take(from, &out->values_off) &&
           cn_wire_u64_take(from, &out->samples_off) &&
           cn_wire_u64_take(from, &out->value_count) &&
           cn_wire_u64_take(from, &out->sample_count) &&
           cn_wire_u32_take(from, &out->context_count) &&
           out->values_off >> CN_SPOOL_RANK_SHIFT == rank &&
           out->samples_off >> CN_SPOOL_RANK_SHIFT == rank;
}

static bool decode_threads(struct cn_sampled_database *self, struct cn_ranks *ranks,
                           struct cn_bytes all, size_t thread_count,
                           struct cn_sampled_thread *list, struct cn_error *err)
{
    size_t next = 1;

    for (unsigned i = 0; i < ranks->size; i++) {
        struct cn_bytes message;

        if (!cn_wire_bytes_take(&all, &message))
            return is_damaged(err);
        if (i == ranks->rank)
            self->db.own_first = i == 0 ? 0 : (uint32_t)next;
        for (; message.len > 0; next++)
            if (next > thread_count || !take_thread(&message, i, &list[next]))
                return is_damaged(err);
        if (i == ranks->rank)
            self->db.own_end = (uint32_t)next;
    }
    return next == thread_count + 1 || is_damaged(err);
}

/* Make one list of all threads. Those of rank 0 keep their identities. */
static bool share_threads(struct cn_sampled_database *self, struct cn_ranks *ranks,
                          uint32_t own_count, size_t thread_count, struct cn_error *err)
{
    struct cn_sampled_thread *list;
    struct cn_text own = {0}, all = {0};
    bool ok;

    self->db.profile_count = (uint32_t)thread_count + 1;
    self->db.own_end = self->db.profile_count;
    if (ranks->size == 1)
        return true;
    list = cn_alloc(thread_count + 1, sizeof(*list));
    encode_threads(self, own_count, &own);
    ok = cn_ranks_share(ranks, &own, &all, err) &&
         decode_threads(self, ranks, cn_wire_view(&all), thread_count, list, err);
    for (uint32_t i = 1; ok && cn_ranks_is_first(ranks) && i < own_count; i++) {
        list[i].ids = self->threads[i].ids;
        list[i].id_count = self->threads[i].id_count;
    }
    cn_text_done(&own);
    cn_text_done(&all);
    if (ok) {
        free(self->threads);
        self->threads = list;
    } else {
        free(list);
    }
    return cn_ranks_agree(ranks, ok, err);
}

/* Report the damage of all ranks on rank 0. */
static bool share_damages(struct cn_ranks *ranks,
                          const struct cn_sampled_options *options,
                          const struct cn_sampled_messages *messages,
                          struct cn_error *err)
{
    struct cn_text all = {0};
    struct cn_bytes left, message = {0};
    const char *text;
    bool ok = cn_ranks_collect(ranks, &messages->damages, &all, err);

    left = cn_wire_view(&all);
    while (ok && (left.len > 0 || message.len > 0)) {
        if (message.len == 0) {
            ok = cn_wire_bytes_take(&left, &message) || is_damaged(err);
        } else {
            ok = cn_wire_str_take(&message, &text) || is_damaged(err);
            if (ok && options->on_damage)
                options->on_damage(options->on_damage_arg, text);
        }
    }
    cn_text_done(&all);
    return cn_ranks_agree(ranks, ok, err);
}

/* Take the title of the first profile that has one. */
static bool share_title(struct cn_sampled_database *self, struct cn_ranks *ranks,
                        struct cn_error *err)
{
    struct cn_text own = {0}, all = {0};
    struct cn_bytes left, title;
    bool ok;

    cn_text_str_add(&own, self->db.title ? self->db.title : "");
    ok = cn_ranks_share(ranks, &own, &all, err);
    left = cn_wire_view(&all);
    self->db.title = NULL;
    while (ok && !self->db.title && cn_wire_bytes_take(&left, &title))
        if (title.len > 0)
            self->db.title =
                cn_arena_copy(&self->db.arena, (const char *)title.ptr, title.len);
    cn_text_done(&own);
    cn_text_done(&all);
    return ok;
}

static bool share_totals(struct cn_sampled_database *self, struct cn_ranks *ranks,
                         struct cn_sampled_totals *totals, struct cn_error *err)
{
    struct cn_database *db = &self->db;
    uint64_t sums[] = {totals->profile_count,  totals->unreadable_count,
                       totals->excluded_count, totals->value_count,
                       totals->sample_count,   db->has_timelines};
    uint64_t begin_ns = db->end_ns > 0 ? db->begin_ns : UINT64_MAX;

    if (!cn_ranks_combine(ranks, CN_RANKS_ADD, sums, sizeof(sums) / sizeof(*sums), err) ||
        !cn_ranks_combine(ranks, CN_RANKS_MIN, &begin_ns, 1, err) ||
        !cn_ranks_combine(ranks, CN_RANKS_MAX, &db->end_ns, 1, err))
        return false;
    *totals = (struct cn_sampled_totals){
        .profile_count = (size_t)sums[0],
        .unreadable_count = (size_t)sums[1],
        .excluded_count = (size_t)sums[2],
        .value_count = sums[3],
        .sample_count = sums[4],
    };
    db->has_timelines = sums[5] > 0;
    db->begin_ns = db->end_ns > 0 ? begin_ns : 0;
    return true;
}

bool cn_sampled_share(struct cn_sampled_database *self,
                      const struct cn_sampled_options *options,
                      const struct cn_sampled_messages *messages, uint32_t thread_count,
                      struct cn_sampled_totals *totals, struct cn_error *err)
{
    struct cn_ranks *ranks = self->db.ranks;

    if (!share_totals(self, ranks, totals, err))
        return false;
    return share_threads(self, ranks, thread_count, totals->profile_count, err) &&
           share_identities(self, ranks, messages, thread_count, err) &&
           share_damages(ranks, options, messages, err) && share_title(self, ranks, err);
}
