#include "base/run/ranks.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"

/* More than any message needs, less than any mistake asks for. */
static const uint64_t MESSAGE_LEN_MAX = UINT64_C(1) << 40;

enum { COMBINED_AT_ONCE = 1 << 16 };

struct cn_ranks cn_ranks_alone = {.size = 1};

void cn_ranks_close(struct cn_ranks *ranks)
{
    if (ranks && ranks->ops)
        ranks->ops->close(ranks);
}

struct cn_ranks cn_ranks_channel(const struct cn_ranks *ranks, unsigned channel)
{
    struct cn_ranks copy = *ranks;

    assert(channel < CN_RANKS_CHANNEL_COUNT);
    copy.channel = channel;
    return copy;
}

bool cn_ranks_send(struct cn_ranks *ranks, unsigned to, const struct cn_text *message,
                   struct cn_error *err)
{
    uint8_t head[sizeof(uint64_t)];

    cn_u64_put(head, message->len);
    return ranks->ops->send(ranks, to, head, sizeof(head), err) &&
           (message->len == 0 ||
            ranks->ops->send(ranks, to, message->chars, message->len, err));
}

bool cn_ranks_receive(struct cn_ranks *ranks, unsigned from, struct cn_text *message,
                      struct cn_error *err)
{
    uint8_t head[sizeof(uint64_t)];
    uint64_t len;
    char *room;

    if (!ranks->ops->receive(ranks, from, head, sizeof(head), err))
        return false;
    len = cn_u64_get(head);
    if (len > MESSAGE_LEN_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "rank %u: a message of %llu bytes", from,
                       (unsigned long long)len);
    cn_text_clear(message);
    room = cn_text_room(message, (size_t)len);
    if (len > 0 && !ranks->ops->receive(ranks, from, room, (size_t)len, err))
        return false;
    cn_text_advance(message, (size_t)len);
    return true;
}

/* A rank hears from the one that lacks its lowest bit, and tells those that have one
 * more bit below that. */
bool cn_ranks_broadcast(struct cn_ranks *ranks, struct cn_text *message,
                        struct cn_error *err)
{
    unsigned bit = 1;

    while (bit < ranks->size && !(ranks->rank & bit))
        bit <<= 1;
    if (ranks->rank > 0 && !cn_ranks_receive(ranks, ranks->rank - bit, message, err))
        return false;
    while (bit >>= 1)
        if (ranks->rank + bit < ranks->size &&
            !cn_ranks_send(ranks, ranks->rank + bit, message, err))
            return false;
    return true;
}

enum { DID_FAIL, DID_WELL }; /* how a message of a reduction begins */

static bool send_sum(struct cn_ranks *ranks, unsigned to, bool ok,
                     const struct cn_ranks_sum *sum, struct cn_error *err)
{
    struct cn_text message = {0};

    cn_wire_u32(&message, ok ? DID_WELL : DID_FAIL);
    if (ok)
        sum->encode(sum->arg, &message);
    ok = cn_ranks_send(ranks, to, &message, err) && ok;
    cn_text_done(&message);
    return ok;
}

static bool merge_sum(struct cn_ranks *ranks, unsigned from, bool ok,
                      const struct cn_ranks_sum *sum, struct cn_error *err)
{
    struct cn_text message = {0};
    struct cn_bytes bytes;
    uint32_t how = DID_FAIL;

    if (!cn_ranks_receive(ranks, from, &message, err)) {
        cn_text_done(&message);
        return false;
    }
    bytes = cn_wire_view(&message);
    ok = cn_wire_u32_take(&bytes, &how) && how == DID_WELL && ok &&
         sum->merge(sum->arg, from, bytes, err);
    cn_text_done(&message);
    return ok;
}

bool cn_ranks_reduce(struct cn_ranks *ranks, bool ok, const struct cn_ranks_sum *sum,
                     struct cn_error *err)
{
    for (unsigned bit = 1; bit < ranks->size; bit <<= 1) {
        if (ranks->rank & bit)
            return send_sum(ranks, ranks->rank - bit, ok, sum, err);
        if (ranks->rank + bit < ranks->size)
            ok = merge_sum(ranks, ranks->rank + bit, ok, sum, err);
    }
    return ok;
}

/* How a step went, so far as is known. */
struct outcome {
    bool ok;
    struct cn_error err;
};

static void encode_outcome(void *arg, struct cn_text *message)
{
    const struct outcome *outcome = arg;

    cn_wire_u32(message, outcome->ok);
    cn_wire_u32(message, outcome->err.kind);
    cn_wire_str(message, outcome->err.text);
}

static bool decode_outcome(struct cn_bytes bytes, struct outcome *out,
                           struct cn_error *err)
{
    struct cn_error found = {0};
    uint32_t ok, kind;
    const char *text;

    if (!cn_wire_u32_take(&bytes, &ok) || !cn_wire_u32_take(&bytes, &kind) ||
        !cn_wire_str_take(&bytes, &text) || kind > CN_ERR_INTERRUPTED)
        return cn_fail(err, CN_ERR_FORMAT, "a damaged message of another rank");
    if (kind != CN_ERR_NONE)
        (void)cn_fail(&found, (enum cn_error_kind)kind, "%s", text);
    *out = (struct outcome){ok != 0, found};
    return true;
}

static bool merge_outcome(void *arg, unsigned from, struct cn_bytes message,
                          struct cn_error *err)
{
    struct outcome *outcome = arg, other;

    (void)from;
    if (!decode_outcome(message, &other, err))
        return false;
    outcome->ok = outcome->ok && other.ok;
    if (outcome->err.kind == CN_ERR_NONE)
        outcome->err = other.err;
    return true;
}

bool cn_ranks_agree(struct cn_ranks *ranks, bool ok, struct cn_error *err)
{
    struct outcome outcome = {.ok = ok};
    struct cn_ranks_sum sum = {&outcome, encode_outcome, merge_outcome};
    struct cn_text message = {0};
    bool is_told;

    if (ranks->size == 1)
        return ok;
    if (!ok)
        outcome.err = *err;
    is_told = cn_ranks_reduce(ranks, true, &sum, err);
    if (is_told) {
        encode_outcome(&outcome, &message);
        is_told = cn_ranks_broadcast(ranks, &message, err) &&
                  decode_outcome(cn_wire_view(&message), &outcome, err);
    }
    cn_text_done(&message);
    if (is_told && !outcome.ok)
        *err = outcome.err;
    return is_told && outcome.ok;
}

bool cn_ranks_collect(struct cn_ranks *ranks, const struct cn_text *message,
                      struct cn_text *all, struct cn_error *err)
{
    struct cn_text other = {0};
    bool ok = true;

    cn_text_clear(all);
    if (!cn_ranks_is_first(ranks))
        return cn_ranks_send(ranks, 0, message, err);
    cn_wire_bytes(all, message->chars, message->len);
    for (unsigned i = 1; ok && i < ranks->size; i++) {
        ok = cn_ranks_receive(ranks, i, &other, err);
        cn_wire_bytes(all, other.chars, other.len);
    }
    cn_text_done(&other);
    return ok;
}

bool cn_ranks_share(struct cn_ranks *ranks, const struct cn_text *message,
                    struct cn_text *all, struct cn_error *err)
{
    return cn_ranks_collect(ranks, message, all, err) &&
           cn_ranks_broadcast(ranks, all, err);
}

struct numbers {
    enum cn_ranks_rule rule;
    uint64_t *values;
    size_t count;
};

static void encode_numbers(void *arg, struct cn_text *message)
{
    const struct numbers *numbers = arg;

    for (size_t i = 0; i < numbers->count; i++)
        cn_wire_u64(message, numbers->values[i]);
}

static bool combine_one(enum cn_ranks_rule rule, uint64_t *value, uint64_t other,
                        struct cn_error *err)
{
    switch (rule) {
    case CN_RANKS_ADD:
        if (!cn_u64_add(*value, other, value))
            return cn_fail(err, CN_ERR_LIMIT, "a sum over ranks needs more than 64 bits");
        break;
    case CN_RANKS_MAX:
        *value = other > *value ? other : *value;
        break;
    case CN_RANKS_MIN:
        *value = other < *value ? other : *value;
        break;
    }
    return true;
}

static bool merge_numbers(void *arg, unsigned from, struct cn_bytes message,
                          struct cn_error *err)
{
    struct numbers *numbers = arg;

    for (size_t i = 0; i < numbers->count; i++) {
        uint64_t other;

        if (!cn_wire_u64_take(&message, &other))
            return cn_fail(err, CN_ERR_FORMAT, "rank %u: %zu numbers instead of %zu",
                           from, i, numbers->count);
        if (!combine_one(numbers->rule, &numbers->values[i], other, err))
            return false;
    }
    return true;
}

static bool combine_some(struct cn_ranks *ranks, struct numbers numbers,
                         struct cn_error *err)
{
    struct cn_ranks_sum sum = {&numbers, encode_numbers, merge_numbers};
    struct cn_text message = {0};
    bool ok = cn_ranks_agree(ranks, cn_ranks_reduce(ranks, true, &sum, err), err);

    if (ok) {
        encode_numbers(&numbers, &message);
        ok = cn_ranks_broadcast(ranks, &message, err);
    }
    if (ok) {
        struct cn_bytes bytes = cn_wire_view(&message);

        for (size_t i = 0; ok && i < numbers.count; i++)
            ok = cn_wire_u64_take(&bytes, &numbers.values[i]) ||
                 cn_fail(err, CN_ERR_FORMAT, "rank 0: too few numbers");
    }
    cn_text_done(&message);
    return ok;
}

bool cn_ranks_combine(struct cn_ranks *ranks, enum cn_ranks_rule rule, uint64_t *values,
                      size_t count, struct cn_error *err)
{
    if (ranks->size == 1)
        return true;
    for (size_t at = 0; at < count; at += COMBINED_AT_ONCE) {
        size_t left = count - at;
        struct numbers numbers = {rule, values + at,
                                  left < COMBINED_AT_ONCE ? left : COMBINED_AT_ONCE};

        if (!combine_some(ranks, numbers, err))
            return false;
    }
    return true;
}

/* The first job whose middle lies in the part of `rank` or later ones. Each job counts
 * one more than its weight, so that jobs that weigh nothing are shared too. */
static size_t first_of(unsigned rank, unsigned size, const uint64_t *weights,
                       size_t count, double total)
{
    double start = total * rank / size, sum = 0;
    size_t i = 0;

    for (; i < count; i++) {
        double own = (double)weights[i] + 1;

        if (sum + own / 2 >= start)
            break;
        sum += own;
    }
    return i;
}

struct cn_ranks_part cn_ranks_split(const struct cn_ranks *ranks, const uint64_t *weights,
                                    size_t count)
{
    struct cn_ranks_part part = {0, count};
    double total = 0;

    for (size_t i = 0; i < count; i++)
        total += (double)weights[i] + 1;
    if (ranks->rank > 0)
        part.first = first_of(ranks->rank, ranks->size, weights, count, total);
    if (ranks->rank + 1 < ranks->size)
        part.end = first_of(ranks->rank + 1, ranks->size, weights, count, total);
    return part;
}

bool cn_ranks_turn_await(struct cn_ranks *ranks, size_t job, struct cn_ranks_turn *turn,
                         struct cn_error *err)
{
    uint8_t message[2 * sizeof(uint64_t)];

    if (ranks->size == 1 || job == 0)
        return true;
    if (!ranks->ops->receive(ranks, (unsigned)((job - 1) % ranks->size), message,
                             sizeof(message), err))
        return false;
    turn->number = cn_u64_get(message);
    turn->has_failed = cn_u64_get(message + sizeof(uint64_t)) != 0;
    return true;
}

bool cn_ranks_turn_pass(struct cn_ranks *ranks, size_t job, size_t job_count,
                        const struct cn_ranks_turn *turn, struct cn_error *err)
{
    uint8_t message[2 * sizeof(uint64_t)];

    if (ranks->size == 1 || job + 1 == job_count)
        return true;
    cn_u64_put(message, turn->number);
    cn_u64_put(message + sizeof(uint64_t), turn->has_failed);
    return ranks->ops->send(ranks, (unsigned)((job + 1) % ranks->size), message,
                            sizeof(message), err);
}
