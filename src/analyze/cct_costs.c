#include "analyze/cct_costs.h"

#include <stdlib.h>

#include "base/alloc.h"

void cn_cct_costs_done(struct cn_cct_costs *costs)
{
    free(costs->list);
    free(costs->lines);
    *costs = (struct cn_cct_costs){0};
}

void cn_cct_costs_reach(struct cn_cct_costs *costs, cn_cct_id node)
{
    while (costs->count <= node) {
        costs->list =
            cn_grow(costs->list, costs->count, &costs->capacity, sizeof(*costs->list));
        costs->list[costs->count++] = (struct cn_cct_cost){.min_ns = UINT64_MAX};
    }
}

/* A new line at the end of a node's; valid until the next one. */
static struct cn_cct_line *add_line(struct cn_cct_costs *costs, uint32_t *link)
{
    struct cn_cct_line *line;

    if (costs->line_count == 0)
        costs->line_count = 1;
    *link = (uint32_t)costs->line_count;
    costs->lines = cn_grow(costs->lines, costs->line_count, &costs->line_capacity,
                           sizeof(*costs->lines));
    line = &costs->lines[costs->line_count++];
    *line = (struct cn_cct_line){0};
    return line;
}

/* Count in a line; false when it is full of others. */
static bool add_to_line(struct cn_cct_line *line, unsigned bucket)
{
    for (unsigned i = 0; i < CN_CCT_LINE_BUCKETS; i++) {
        if (line->calls[i] == 0) {
            line->calls[i] = 1;
            line->buckets[i] = (uint16_t)bucket;
            return true;
        }
        if (line->buckets[i] == bucket && line->calls[i] < UINT32_MAX) {
            line->calls[i]++;
            return true;
        }
    }
    return false;
}

void cn_cct_costs_add_far(struct cn_cct_costs *costs, cn_cct_id node, unsigned bucket)
{
    struct cn_cct_cost *cost = &costs->list[node];
    uint32_t at = cost->line, last = 0, fresh;

    if (cost->bucket_calls == 0) {
        cost->bucket = (uint16_t)bucket;
        cost->bucket_calls = 1;
        return;
    }
    for (; at != 0; at = costs->lines[at].next) {
        if (add_to_line(&costs->lines[at], bucket))
            return;
        last = at;
    }
    (void)add_to_line(add_line(costs, &fresh), bucket);
    if (last == 0)
        cost->line = fresh;
    else
        costs->lines[last].next = fresh;
}

struct cn_cct_cost cn_cct_costs_at(const struct cn_cct_costs *costs, cn_cct_id node)
{
    return node < costs->count ? costs->list[node] : (struct cn_cct_cost){0};
}

static void add_bucket(struct cn_bucket_calls *out, unsigned bucket, uint32_t calls)
{
    out->calls[bucket] += calls;
    out->used[bucket / 64] |= UINT64_C(1) << bucket % 64;
}

void cn_cct_costs_buckets(const struct cn_cct_costs *costs, cn_cct_id node,
                          struct cn_bucket_calls *out)
{
    struct cn_cct_cost cost = cn_cct_costs_at(costs, node);

    if (cost.bucket_calls > 0)
        add_bucket(out, cost.bucket, cost.bucket_calls);
    for (uint32_t at = cost.line; at != 0; at = costs->lines[at].next) {
        const struct cn_cct_line *line = &costs->lines[at];

        for (unsigned i = 0; i < CN_CCT_LINE_BUCKETS && line->calls[i] > 0; i++)
            add_bucket(out, line->buckets[i], line->calls[i]);
    }
}
