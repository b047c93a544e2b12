#include "analyze/cct/ranks.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyze/cct/wire.h"
#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/run/ranks.h"

enum { BITS_MAX = 32 }; /* of a rank: it receives at most one tree per bit */

/* A rank whose tree was added here. */
struct below {
    unsigned rank;
    uint32_t *nodes; /* its nodes -> ours */
    size_t count;
};

struct numbering {
    struct cn_cct_merged *merged;
    struct cn_ranks *ranks;
    struct below below[BITS_MAX];
    size_t below_count;
};

static void encode_tree(void *arg, struct cn_text *message)
{
    const struct numbering *n = arg;

    cn_cct_merged_encode(n->merged, message);
}

static bool merge_tree(void *arg, unsigned from, struct cn_bytes message,
                       struct cn_error *err)
{
    struct numbering *n = arg;
    struct below *below = &n->below[n->below_count];

    below->rank = from;
    if (!cn_cct_merged_decode(n->merged, message, &below->nodes, &below->count, err))
        return cn_fail_in(err, "rank %u", from);
    n->below_count++;
    return true;
}

static bool send_ids(const struct numbering *n, const struct below *below,
                     struct cn_error *err)
{
    const struct cn_cct_merged *merged = n->merged;
    struct cn_text message = {0};
    bool ok;

    cn_wire_u32(&message, merged->context_count);
    cn_wire_u32(&message, merged->has_waits);
    for (size_t i = 0; i < below->count; i++)
        cn_wire_u32(&message, merged->ids[below->nodes[i]]);
    ok = cn_ranks_send(n->ranks, below->rank, &message, err);
    cn_text_done(&message);
    return ok;
}

static bool decode_ids(struct cn_cct_merged *merged, struct cn_bytes message,
                       struct cn_error *err)
{
    uint32_t has_waits;

    if (!cn_wire_u32_take(&message, &merged->context_count) ||
        !cn_wire_u32_take(&message, &has_waits) ||
        message.len / sizeof(uint32_t) != merged->tree.count)
        return cn_fail(err, CN_ERR_FORMAT, "context ids of another tree");
    merged->has_waits = has_waits != 0;
    merged->ids = cn_alloc(merged->tree.count, sizeof(*merged->ids));
    for (size_t i = 0; i < merged->tree.count; i++)
        if (!cn_wire_u32_take(&message, &merged->ids[i]) ||
            merged->ids[i] >= merged->context_count)
            return cn_fail(err, CN_ERR_FORMAT, "context %" PRIu32 " of %" PRIu32,
                           merged->ids[i], merged->context_count);
    return true;
}

/* Our tree was sent to the rank without our lowest bit. */
static bool receive_ids(struct numbering *n, struct cn_error *err)
{
    unsigned from = n->ranks->rank & (n->ranks->rank - 1);
    struct cn_text message = {0};
    bool ok = cn_ranks_receive(n->ranks, from, &message, err) &&
              (decode_ids(n->merged, cn_wire_view(&message), err) ||
               cn_fail_in(err, "rank %u", from));

    cn_text_done(&message);
    return ok;
}

static bool number_together(struct numbering *n, uint64_t min_ns, struct cn_error *err)
{
    struct cn_ranks_sum sum = {n, encode_tree, merge_tree};
    bool ok = cn_ranks_reduce(n->ranks, true, &sum, err);

    if (!cn_ranks_agree(n->ranks, ok, err))
        return false;
    if (cn_ranks_is_first(n->ranks))
        cn_cct_merged_number(n->merged, min_ns);
    else
        ok = receive_ids(n, err);
    for (size_t i = n->below_count; ok && i-- > 0;)
        ok = send_ids(n, &n->below[i], err);
    return cn_ranks_agree(n->ranks, ok, err);
}

bool cn_cct_merged_number_together(struct cn_cct_merged *merged, struct cn_ranks *ranks,
                                   uint64_t min_ns, struct cn_error *err)
{
    struct numbering n = {.merged = merged, .ranks = ranks};
    bool ok = number_together(&n, min_ns, err);

    for (size_t i = 0; i < n.below_count; i++)
        free(n.below[i].nodes);
    return ok;
}
