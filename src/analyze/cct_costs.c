#include "analyze/cct_costs.h"

#include <stdlib.h>

#include "base/alloc.h"

enum { NO_DOUBLING = 255 };

void cn_cct_costs_init(struct cn_cct_costs *costs)
{
    *costs = (struct cn_cct_costs){0};
    costs->lines = cn_grow(NULL, 0, &costs->line_capacity, sizeof(*costs->lines));
    costs->lines[costs->line_count++] = (struct cn_cct_line){.doubling = NO_DOUBLING};
}

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

struct cn_cct_line *cn_cct_costs_line(struct cn_cct_costs *costs, cn_cct_id node,
                                      struct cn_bucket bucket)
{
    uint32_t first = costs->list[node].line, before = 0, at = first;

    while (at != 0 && (costs->lines[at].doubling != bucket.doubling ||
                       costs->lines[at].calls[bucket.step] == UINT32_MAX)) {
        before = at;
        at = costs->lines[at].next;
    }
    if (at == 0) {
        at = (uint32_t)costs->line_count;
        costs->lines = cn_grow(costs->lines, costs->line_count, &costs->line_capacity,
                               sizeof(*costs->lines));
        costs->lines[costs->line_count++] =
            (struct cn_cct_line){.doubling = bucket.doubling};
    } else if (before != 0) {
        costs->lines[before].next = costs->lines[at].next;
    }
    if (at != first)
        costs->lines[at].next = first;
    costs->list[node].line = at;
    return &costs->lines[at];
}

struct cn_cct_cost cn_cct_costs_at(const struct cn_cct_costs *costs, cn_cct_id node)
{
    return node < costs->count ? costs->list[node] : (struct cn_cct_cost){0};
}

uint64_t cn_cct_costs_calls(const struct cn_cct_costs *costs, cn_cct_id node)
{
    struct cn_cct_cost cost = cn_cct_costs_at(costs, node);
    uint64_t calls = cost.untimed_calls;

    for (uint32_t at = cost.line; at != 0; at = costs->lines[at].next)
        for (unsigned i = 0; i < CN_BUCKET_STEPS; i++)
            calls += costs->lines[at].calls[i];
    return calls;
}

uint64_t cn_cct_costs_buckets(const struct cn_cct_costs *costs, cn_cct_id node,
                              struct cn_bucket_calls *out)
{
    struct cn_cct_cost cost = cn_cct_costs_at(costs, node);
    uint64_t calls = 0;

    for (uint32_t at = cost.line; at != 0; at = costs->lines[at].next) {
        const struct cn_cct_line *line = &costs->lines[at];

        for (uint8_t i = 0; i < CN_BUCKET_STEPS; i++) {
            unsigned number =
                cn_bucket_number((struct cn_bucket){line->doubling, i});

            if (line->calls[i] == 0)
                continue;
            calls += line->calls[i];
            out->calls[number] += line->calls[i];
            out->used[number / 64] |= UINT64_C(1) << number % 64;
        }
    }
    return calls;
}
