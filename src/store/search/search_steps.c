#include "store/search/search_steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/search/group_rank.h"
#include "store/search/search_segments.h"
#include "store/search/search_traces.h"

/* Starts and durations of all matches; the step of a match is known when all are. */
struct gathering {
    uint64_t *times_ns, *durations_ns;
    bool *has_errors;
    size_t count, capacity, duration_capacity, error_capacity;
};

static void gather(void *arg, const struct cn_trace_sum *sum)
{
    struct gathering *g = arg;

    g->times_ns = cn_grow(g->times_ns, g->count, &g->capacity, sizeof(*g->times_ns));
    g->durations_ns = cn_grow(g->durations_ns, g->count, &g->duration_capacity,
                              sizeof(*g->durations_ns));
    g->has_errors =
        cn_grow(g->has_errors, g->count, &g->error_capacity, sizeof(*g->has_errors));
    g->times_ns[g->count] = sum->time_ns;
    g->durations_ns[g->count] = sum->duration_ns;
    g->has_errors[g->count++] = sum->errors > 0;
}

static bool gather_spans(void *arg, uint32_t segment, const struct cn_store_index *index,
                         const struct cn_rows *rows, struct cn_error *err)
{
    struct cn_store_column time, duration, flags;

    (void)segment;
    if (!cn_columns_field(index->columns, CN_STORE_FIELD_time_ns, &time, err) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_duration_ns, &duration, err) ||
        !cn_columns_field(index->columns, CN_STORE_FIELD_flags, &flags, err))
        return false;
    for (uint32_t row = cn_rows_next(rows, 0); row < rows->count;
         row = cn_rows_next(rows, row + 1)) {
        struct cn_trace_sum sum = {
            .time_ns = cn_store_column_at(&time, row),
            .duration_ns = cn_joined_number(&index->joined, CN_STORE_FIELD_duration_ns,
                                            row, cn_store_column_at(&duration, row)),
            .errors = (uint32_t)cn_joined_number(&index->joined, CN_STORE_FIELD_flags,
                                                 row, cn_store_column_at(&flags, row)) &
                      CN_ROW_ERROR,
        };

        gather(arg, &sum);
    }
    return true;
}

/* The step of a group: its value is the number. */
static size_t step_of(const struct cn_groups *groups, const struct cn_group *group)
{
    struct cn_bytes bytes = cn_word_bytes(&groups->values, group->value);
    char text[24] = "";

    memcpy(text, bytes.ptr, bytes.len < sizeof(text) ? bytes.len : 0);
    return (size_t)strtoul(text, NULL, 10);
}

/* Rank the steps as groups, which has their percentiles. */
static void summarize(const struct gathering *g, struct cn_search_steps *steps)
{
    struct cn_group_members members = {0};
    struct cn_groups groups;
    char text[24];

    for (size_t i = 0; i < steps->count; i++) {
        (void)snprintf(text, sizeof(text), "%zu", i);
        (void)cn_words_add_str(&members.values, CN_WORD_TEXT, text);
    }
    cn_group_members_reserve(&members, g->count);
    for (size_t i = 0; i < g->count; i++) {
        uint64_t step = (g->times_ns[i] - steps->first_ns) / steps->step_ns;

        cn_group_members_add(&members, (uint32_t)step + 1, g->durations_ns[i],
                             g->has_errors[i]);
    }
    cn_group_members_rank(&members, steps->count, &groups);
    for (size_t i = 0; i < groups.count; i++) {
        const struct cn_group *group = &groups.list[i];

        steps->list[step_of(&groups, group)] = (struct cn_search_step){
            .count = group->count,
            .error_count = group->error_count,
            .p50_ns = group->p50_ns,
            .p90_ns = group->p90_ns,
            .p99_ns = group->p99_ns,
        };
    }
    cn_groups_done(&groups);
    cn_group_members_done(&members);
}

bool cn_search_steps(struct cn_search *search, const struct cn_query *query,
                     enum cn_search_unit unit, size_t count, struct cn_search_steps *out,
                     struct cn_error *err)
{
    struct gathering g = {0};
    struct cn_search_visitor spans = {.visit = gather_spans, .arg = &g};
    struct cn_search_steps steps = {.count = count};
    uint64_t last_ns = 0;
    bool ok = unit == CN_SEARCH_SPANS
                  ? cn_search_walk(search, query, &spans, err)
                  : cn_search_each_trace(search, query, gather, &g, err);

    if (ok)
        steps.list = cn_alloc(count, sizeof(*steps.list));
    if (ok && g.count > 0) {
        steps.first_ns = UINT64_MAX;
        for (size_t i = 0; i < g.count; i++) {
            uint64_t time_ns = g.times_ns[i];

            steps.first_ns = time_ns < steps.first_ns ? time_ns : steps.first_ns;
            last_ns = time_ns > last_ns ? time_ns : last_ns;
        }
        steps.step_ns = (last_ns - steps.first_ns) / count + 1;
        summarize(&g, &steps);
    }
    free(g.times_ns);
    free(g.durations_ns);
    free(g.has_errors);
    if (ok)
        *out = steps;
    return ok;
}

void cn_search_steps_done(struct cn_search_steps *steps)
{
    free(steps->list);
    *steps = (struct cn_search_steps){0};
}
