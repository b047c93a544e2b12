#include "base/run/ranks.h"

#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"

/* More than any message needs, less than any mistake asks for. */
static const uint64_t MESSAGE_LEN_MAX = UINT64_C(1) << 40;

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

    if (!ranks->ops->receive(ranks, from, head, sizeof(head), err))
        return false;
    uint64_t len = cn_u64_get(head);
    if (len > MESSAGE_LEN_MAX)
        return cn_fail(err, CN_ERR_FORMAT, "rank %u: a message of %llu bytes", from,
                       (unsigned long long)len);
    cn_text_clear(message);
    char *room = cn_text_room(message, (size_t)len);
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

/* What is reduced. */
struct sum {
    cn_wire_encode encode;
    cn_wire_take merge;
    void *arg;
};

static bool send_sum(struct cn_ranks *ranks, unsigned to, bool ok, const struct sum *sum,
                     struct cn_error *err)
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
                      const struct sum *sum, struct cn_error *err)
{
    struct cn_text message = {0};
    uint32_t how = DID_FAIL;
    bool is_received = cn_ranks_receive(ranks, from, &message, err);
    struct cn_bytes bytes = cn_wire_view(&message);

    ok = is_received && cn_wire_u32_take(&bytes, &how) && how == DID_WELL && ok &&
         sum->merge(sum->arg, from, bytes, err);
    cn_text_done(&message);
    return ok;
}

static bool reduce(struct cn_ranks *ranks, const struct sum *sum, struct cn_error *err)
{
    bool ok = true;

    for (unsigned bit = 1; bit < ranks->size; bit <<= 1) {
        if (ranks->rank & bit)
            return send_sum(ranks, ranks->rank - bit, ok, sum, err);
        if (ranks->rank + bit < ranks->size)
            ok = merge_sum(ranks, ranks->rank + bit, ok, sum, err);
    }
    return ok;
}

/* How a step went, so far as is known. */
struct ranks_outcome {
    bool ok;
    struct cn_error err;
};

static void encode_outcome(void *arg, struct cn_text *message)
{
    const struct ranks_outcome *outcome = arg;

    cn_wire_u32(message, outcome->ok);
    cn_wire_error(message, &outcome->err);
}

static bool decode_outcome(struct cn_bytes bytes, struct ranks_outcome *out,
                           struct cn_error *err)
{
    uint32_t ok;

    if (!cn_wire_u32_take(&bytes, &ok) || !cn_wire_error_take(&bytes, &out->err))
        return cn_fail(err, CN_ERR_FORMAT, "a damaged message of another rank");
    out->ok = ok != 0;
    return true;
}

static bool merge_outcome(void *arg, unsigned from, struct cn_bytes message,
                          struct cn_error *err)
{
    struct ranks_outcome *outcome = arg, other;

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
    struct ranks_outcome outcome = {.ok = ok};
    struct sum sum = {encode_outcome, merge_outcome, &outcome};
    struct cn_text message = {0};
    bool is_told;

    if (ranks->size == 1)
        return ok;
    if (!ok)
        outcome.err = *err;
    is_told = reduce(ranks, &sum, err);
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

bool cn_ranks_reduce(struct cn_ranks *ranks, cn_wire_encode encode, cn_wire_take merge,
                     void *arg, struct cn_error *err)
{
    struct sum sum = {encode, merge, arg};

    return cn_ranks_agree(ranks, reduce(ranks, &sum, err), err);
}

/* The messages of all ranks on rank 0, in `all`. */
static bool gather(struct cn_ranks *ranks, const struct cn_text *message,
                   struct cn_text *all, struct cn_error *err)
{
    struct cn_text other = {0};
    bool ok = true;

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

static bool take_all(struct cn_ranks *ranks, struct cn_bytes all, cn_wire_take take,
                     void *arg, struct cn_error *err)
{
    struct cn_bytes message;

    for (unsigned i = 0; i < ranks->size; i++) {
        if (!cn_wire_bytes_take(&all, &message))
            return cn_fail(err, CN_ERR_FORMAT, "messages of %u ranks instead of %u", i,
                           ranks->size);
        if (!take(arg, i, message, err))
            return cn_fail_in(err, "rank %u", i);
    }
    return true;
}

bool cn_ranks_collect(struct cn_ranks *ranks, const struct cn_text *message,
                      cn_wire_take take, void *arg, struct cn_error *err)
{
    struct cn_text all = {0};
    bool ok = gather(ranks, message, &all, err) &&
              (!cn_ranks_is_first(ranks) ||
               take_all(ranks, cn_wire_view(&all), take, arg, err));

    cn_text_done(&all);
    return cn_ranks_agree(ranks, ok, err);
}

bool cn_ranks_share(struct cn_ranks *ranks, const struct cn_text *message,
                    cn_wire_take take, void *arg, struct cn_error *err)
{
    struct cn_text all = {0};
    bool ok = gather(ranks, message, &all, err) && cn_ranks_broadcast(ranks, &all, err) &&
              take_all(ranks, cn_wire_view(&all), take, arg, err);

    cn_text_done(&all);
    return cn_ranks_agree(ranks, ok, err);
}

struct ranks_numbers {
    enum cn_ranks_rule rule;
    uint64_t *values;
    size_t count;
};

static void encode_numbers(void *arg, struct cn_text *message)
{
    const struct ranks_numbers *numbers = arg;

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
    struct ranks_numbers *numbers = arg;

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

bool cn_ranks_combine(struct cn_ranks *ranks, enum cn_ranks_rule rule, uint64_t *values,
                      size_t count, struct cn_error *err)
{
    struct ranks_numbers numbers = {rule, values, count};
    struct cn_text message = {0};
    struct cn_bytes bytes;
    bool ok;

    if (ranks->size == 1)
        return true;
    ok = cn_ranks_reduce(ranks, encode_numbers, merge_numbers, &numbers, err);
    if (ok) {
        encode_numbers(&numbers, &message);
        ok = cn_ranks_broadcast(ranks, &message, err);
    }
    bytes = cn_wire_view(&message);
    for (size_t i = 0; ok && i < count; i++)
        ok = cn_wire_u64_take(&bytes, &values[i]) ||
             cn_fail(err, CN_ERR_FORMAT, "rank 0: too few numbers");
    cn_text_done(&message);
    return ok;
}

bool cn_ranks_add_counts(struct cn_ranks *ranks, bool ok, uint32_t *counts, size_t count,
                         struct cn_error *err)
{
    uint64_t *sums = cn_alloc(count, sizeof(*sums));

    for (size_t i = 0; i < count; i++)
        sums[i] = counts[i];
    ok = cn_ranks_agree(ranks, ok, err) &&
         cn_ranks_combine(ranks, CN_RANKS_ADD, sums, count, err);
    for (size_t i = 0; ok && i < count; i++) {
        ok = sums[i] <= UINT32_MAX ||
             cn_fail(err, CN_ERR_LIMIT, "more than %u values of context %zu", UINT32_MAX,
                     i);
        counts[i] = (uint32_t)sums[i];
    }
    free(sums);
    return ok;
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

void cn_ranks_split(const struct cn_ranks *ranks, const uint64_t *weights, size_t count,
                    size_t *first, size_t *end)
{
    double total = 0;

    for (size_t i = 0; i < count; i++)
        total += (double)weights[i] + 1;
    *first =
        ranks->rank == 0 ? 0 : first_of(ranks->rank, ranks->size, weights, count, total);
    *end = ranks->rank + 1 == ranks->size
               ? count
               : first_of(ranks->rank + 1, ranks->size, weights, count, total);
}

/* Whether a job has failed, and the end of the numbers reserved so far. */
struct turn {
    bool has_failed;
    uint64_t end;
};

static bool await(struct cn_ranks *ranks, size_t job, struct turn *turn,
                  struct cn_error *err)
{
    uint8_t message[2 * sizeof(uint64_t)];

    if (!ranks->ops->receive(ranks, (unsigned)((job - 1) % ranks->size), message,
                             sizeof(message), err))
        return false;
    turn->end = cn_u64_get(message);
    turn->has_failed = cn_u64_get(message + sizeof(uint64_t)) != 0;
    return true;
}

static bool pass_on(struct cn_ranks *ranks, size_t job, const struct turn *turn,
                    struct cn_error *err)
{
    uint8_t message[2 * sizeof(uint64_t)];

    cn_u64_put(message, turn->end);
    cn_u64_put(message + sizeof(uint64_t), turn->has_failed);
    return ranks->ops->send(ranks, (unsigned)((job + 1) % ranks->size), message,
                            sizeof(message), err);
}

bool cn_ranks_turns_reserve(struct cn_ranks_turns *turns, bool is_last, bool ok,
                            uint64_t len, uint64_t *first, struct cn_error *err)
{
    struct cn_ranks *ranks = turns->ranks;
    size_t job = turns->job_count++ * ranks->size + ranks->rank;
    struct turn turn = {.end = turns->end};

    if (ranks->size > 1 && job > 0)
        turns->is_lost = turns->is_lost || !await(ranks, job, &turn, err);
    turn.has_failed = turn.has_failed || !ok || turns->is_lost;
    *first = turn.end;
    if (!cn_u64_add(turn.end, len, &turn.end))
        turn.has_failed = !cn_fail(err, CN_ERR_LIMIT, "more than 2^64 bytes");
    turns->end = turn.end;
    if (ranks->size > 1 && !is_last && !turns->is_lost)
        turns->is_lost = !pass_on(ranks, job, &turn, err);
    return !turn.has_failed && !turns->is_lost;
}
