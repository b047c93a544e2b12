#include "store/groups/steps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/groups/durations.h"
#include "store/groups/matches.h"
#include "store/segment/weights.h"

/* The matches as members of their steps: step i is group i + 1. */
struct steps_adding {
    struct cn_search_steps *steps;
    struct cn_group_members members;
    struct cn_row_weights *weights; /* by segment */
};

/* The steps are those of the matches that were counted; what a damaged file has now and did not have then is
 * skipped. */
static void add(void *arg, const struct cn_trace_sum *sum)
{
    struct steps_adding *adding = arg;
    const struct cn_search_steps *steps = adding->steps;
    uint64_t step = (sum->time_ns - steps->first_ns) / steps->step_ns;

    if (step >= steps->count)
        return;
    cn_group_members_add(&adding->members, (uint32_t)step + 1, sum->duration_ns,
                         sum->errors > 0);
    cn_group_members_weigh(&adding->members, (uint32_t)step + 1,
                           cn_row_weight(&adding->weights[sum->segment], sum->row));
}

/* The step of a group: its value is the number. */
static size_t step_of(const struct cn_groups *groups, const struct cn_group *group)
{
    struct cn_bytes bytes = cn_word_bytes(&groups->values, group->value);
    char text[24] = "";

    memcpy(text, bytes.ptr, bytes.len < sizeof(text) ? bytes.len : 0);
    return (size_t)strtoul(text, NULL, 10);
}

static void name_steps(struct steps_adding *adding)
{
    char text[24];

    for (size_t i = 0; i < adding->steps->count; i++) {
        (void)snprintf(text, sizeof(text), "%zu", i);
        (void)cn_words_add_str(&adding->members.values, CN_WORD_TEXT, text);
    }
}

/* Rank the steps as groups, which has their percentiles. */
static void summarize(struct steps_adding *adding)
{
    struct cn_groups groups;

    cn_group_members_rank(&adding->members, adding->steps->count, &groups);
    for (size_t i = 0; i < groups.count; i++) {
        const struct cn_group *group = &groups.list[i];

        adding->steps->list[step_of(&groups, group)] = (struct cn_search_step){
            .count = group->count,
            .error_count = group->error_count,
            .estimate = group->estimate,
            .p50_ns = group->p50_ns,
            .p90_ns = group->p90_ns,
            .p99_ns = group->p99_ns,
        };
    }
    cn_groups_done(&groups);
}

bool cn_search_steps(struct cn_search *search, const struct cn_query *query,
                     enum cn_search_unit unit, size_t count, struct cn_search_steps *out,
                     struct cn_error *err)
{
    struct cn_search_steps steps = {.count = count};
    struct steps_adding adding = {.steps = &steps};
    struct cn_search_trace_count found;
    bool ok = true;

    if (!cn_matches_count(search, query, unit, &found, err))
        return false;
    steps.list = cn_alloc(count, sizeof(*steps.list));
    if (found.count > 0) {
        steps.first_ns = found.first_ns;
        steps.step_ns = (found.last_ns - found.first_ns) / count + 1;
        name_steps(&adding);
        adding.weights = cn_store_weights(cn_search_store(search));
        cn_group_members_reserve(&adding.members);
        ok = cn_matches_visit(search, query, unit, add, &adding, err);
        summarize(&adding);
        cn_group_members_done(&adding.members);
        free(adding.weights);
    }
    if (ok)
        *out = steps;
    else
        cn_search_steps_done(&steps);
    return ok;
}

void cn_search_steps_done(struct cn_search_steps *steps)
{
    free(steps->list);
    *steps = (struct cn_search_steps){0};
}
