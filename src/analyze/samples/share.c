#include "analyze/samples/pass.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/samples/internal.h"
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
    return cn_fail(err, CN_ERR_FORMAT, "damaged message of another process");
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

/* The identity of one thread, numbered as if this process had read its profile. */
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

void cn_sampled_messages_encode(const struct cn_sampled_messages *messages,
                                struct cn_text *out)
{
    cn_wire_bytes(out, messages->identities.chars, messages->identities.len);
    cn_wire_bytes(out, messages->damages.chars, messages->damages.len);
}

bool cn_sampled_messages_take(struct cn_sampled_database *self,
                              const struct cn_sampled_options *options,
                              struct cn_bytes message, uint32_t *first,
                              struct cn_error *err)
{
    struct cn_bytes identities, damages;
    const char *text;

    if (!cn_wire_bytes_take(&message, &identities) ||
        !cn_wire_bytes_take(&message, &damages))
        return is_damaged(err);
    for (; identities.len > 0; ++*first) {
        if (*first >= self->db.profile_count)
            return is_damaged(err);
        if (!identify(self, &identities, &self->threads[*first], err))
            return false;
    }
    while (damages.len > 0) {
        if (!cn_wire_str_take(&damages, &text))
            return is_damaged(err);
        if (options->on_damage)
            options->on_damage(options->on_damage_arg, text);
    }
    return true;
}

void cn_sampled_threads_encode(const struct cn_sampled_database *self,
                               uint32_t thread_count,
                               const struct cn_sampled_totals *totals,
                               struct cn_text *message)
{
    const struct cn_database *db = &self->db;

    cn_wire_u64(message, totals->profile_count);
    cn_wire_u64(message, totals->unreadable_count);
    cn_wire_u64(message, totals->excluded_count);
    cn_wire_u64(message, totals->value_count);
    cn_wire_u64(message, totals->sample_count);
    cn_wire_u32(message, db->has_timelines);
    cn_wire_u64(message, db->begin_ns);
    cn_wire_u64(message, db->end_ns);
    cn_wire_str(message, db->title ? db->title : "");
    for (uint32_t i = 1; i < thread_count; i++) {
        const struct cn_sampled_thread *thread = &self->threads[i];

        cn_wire_u64(message, thread->values_off);
        cn_wire_u64(message, thread->samples_off);
        cn_wire_u64(message, thread->value_count);
        cn_wire_u64(message, thread->sample_count);
        cn_wire_u32(message, thread->context_count);
    }
}

static bool take_totals(struct cn_sampled_threads *threads,
                        struct cn_sampled_database *self, struct cn_bytes *from)
{
    struct cn_sampled_totals *totals = &threads->totals;
    uint64_t counts[5], begin_ns, end_ns;
    uint32_t has_timelines;
    const char *title;

    for (size_t i = 0; i < 5; i++)
        if (!cn_wire_u64_take(from, &counts[i]))
            return false;
    if (!cn_wire_u32_take(from, &has_timelines) || !cn_wire_u64_take(from, &begin_ns) ||
        !cn_wire_u64_take(from, &end_ns) || !cn_wire_str_take(from, &title))
        return false;
    totals->profile_count += (size_t)counts[0];
    totals->unreadable_count += (size_t)counts[1];
    totals->excluded_count += (size_t)counts[2];
    totals->value_count += counts[3];
    totals->sample_count += counts[4];
    threads->has_timelines = threads->has_timelines || has_timelines != 0;
    if (end_ns > 0 && (threads->end_ns == 0 || begin_ns < threads->begin_ns))
        threads->begin_ns = begin_ns;
    if (end_ns > threads->end_ns)
        threads->end_ns = end_ns;
    if (!threads->title && *title != '\0')
        threads->title = cn_arena_strdup(&self->db.arena, title);
    return true;
}

static bool take_thread(const struct cn_spool *spool, struct cn_bytes *from,
                        struct cn_sampled_thread *out)
{
    *out = (struct cn_sampled_thread){0};
    return cn_wire_u64_take(from, &out->values_off) &&
           cn_wire_u64_take(from, &out->samples_off) &&
           cn_wire_u64_take(from, &out->value_count) &&
           cn_wire_u64_take(from, &out->sample_count) &&
           cn_wire_u32_take(from, &out->context_count) &&
           out->values_off >> CN_SPOOL_FILE_SHIFT < spool->count &&
           out->samples_off >> CN_SPOOL_FILE_SHIFT < spool->count;
}

bool cn_sampled_threads_take(struct cn_sampled_threads *threads,
                             struct cn_sampled_database *self, struct cn_bytes message,
                             struct cn_error *err)
{
    if (threads->count == 0) {
        threads->list =
            cn_grow(threads->list, 0, &threads->capacity, sizeof(*threads->list));
        threads->list[threads->count++] = (struct cn_sampled_thread){0};
    }
    if (!take_totals(threads, self, &message))
        return is_damaged(err);
    for (; message.len > 0; threads->count++) {
        threads->list = cn_grow(threads->list, threads->count, &threads->capacity,
                                sizeof(*threads->list));
        if (!take_thread(&self->spool, &message, &threads->list[threads->count]))
            return is_damaged(err);
    }
    return threads->count <= UINT32_MAX || is_damaged(err);
}

void cn_sampled_threads_use(struct cn_sampled_threads *threads,
                            struct cn_sampled_database *self, uint32_t known_count)
{
    struct cn_database *db = &self->db;

    for (uint32_t i = 1; i < known_count; i++) {
        threads->list[i].ids = self->threads[i].ids;
        threads->list[i].id_count = self->threads[i].id_count;
    }
    free(self->threads);
    self->threads = threads->list;
    threads->list = NULL;
    db->profile_count = (uint32_t)threads->count;
    db->has_timelines = threads->has_timelines;
    db->begin_ns = threads->begin_ns;
    db->end_ns = threads->end_ns;
    db->title = threads->title;
}

void cn_sampled_summary_encode(const struct cn_sampled_database *self,
                               struct cn_text *message)
{
    const struct cn_sampled_thread *summary = &self->threads[0];

    cn_wire_u64(message, summary->value_count);
    cn_wire_u32(message, summary->context_count);
    cn_wire_u64(message, summary->values_off);
    cn_sampled_cells_encode(&self->cells, message);
}

bool cn_sampled_summary_decode(struct cn_sampled_database *self, struct cn_bytes message,
                               struct cn_error *err)
{
    struct cn_sampled_thread *summary = &self->threads[0];

    return ((cn_wire_u64_take(&message, &summary->value_count) &&
             cn_wire_u32_take(&message, &summary->context_count) &&
             cn_wire_u64_take(&message, &summary->values_off) &&
             summary->values_off >> CN_SPOOL_FILE_SHIFT == 0) ||
            is_damaged(err)) &&
           cn_sampled_cells_decode(&self->cells, message, err);
}
