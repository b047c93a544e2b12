#include "store/groups/grouping.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/run/pool.h"

/* Find the traces whose rows are not all of the rows from their first to their last. */
static void find_split(struct cn_grouping *grouping)
{
    const struct cn_trace_table *table = grouping->traces;
    size_t word_count = table->count / 64 + 1;
    uint64_t *is_there = cn_alloc(word_count, sizeof(*is_there));

    grouping->is_split = cn_alloc(word_count, sizeof(*grouping->is_split));
    for (size_t s = 0; s < table->segment_count; s++) {
        const struct cn_trace_runs *runs = &table->runs[s];

        for (uint32_t i = 0; i < runs->run_count; i++) {
            uint32_t number = runs->numbers[i];
            uint64_t bit = UINT64_C(1) << number % 64;

            if (number > table->count)
                continue;
            grouping->is_split[number / 64] |= is_there[number / 64] & bit;
            is_there[number / 64] |= bit;
        }
    }
    free(is_there);
}

/* Add a trace to a group, once. The members of a group are in the order of rows, so those of a trace that
 * is not split follow each other. */
static void add_trace(struct cn_grouping *grouping, uint32_t group,
                      const struct cn_trace_sum *trace, double weight)
{
    uint32_t number = (uint32_t)(trace - grouping->traces->traces) + 1;

    if (grouping->last[group] == number)
        return;
    grouping->last[group] = number;
    if (grouping->is_split[number / 64] >> number % 64 & 1) {
        uint32_t *is_seen = cn_map_at(&grouping->seen, (uint64_t)group << 32 | number, 0);

        if (*is_seen)
            return;
        *is_seen = 1;
    }
    cn_group_members_add(&grouping->all, group, trace->duration_ns, trace->errors > 0);
    cn_group_members_weigh(&grouping->all, group, weight);
}

/* Count a member in the step of its time. */
static void add_to_step(struct cn_grouping *grouping, uint32_t group, uint64_t time_ns,
                        bool is_error)
{
    size_t count = grouping->step_count, old = grouping->step_capacity;
    uint64_t step = (time_ns - grouping->first_ns) / grouping->step_ns;

    if (group >= CN_GROUPS_STEPPED || time_ns < grouping->first_ns || step >= count)
        return;
    CN_GROW_TO(grouping->steps, (group + 1) * count, grouping->step_capacity);
    memset(grouping->steps + old, 0,
           (grouping->step_capacity - old) * sizeof(*grouping->steps));
    grouping->steps[group * count + step].count++;
    grouping->steps[group * count + step].error_count += is_error;
}

/* Adds members with the numbers of their rows, a part of them in each job. */
struct adding {
    struct cn_grouping *grouping;
    struct cn_store_column duration, errors, time;
    uint64_t failed_bits; /* of errors */
    struct cn_group_part *parts;
};

static size_t part_end(const struct cn_grouping *grouping, size_t job)
{
    size_t rest = grouping->count - job * CN_GROUP_PART_MEMBERS;

    return job * CN_GROUP_PART_MEMBERS +
           (rest < CN_GROUP_PART_MEMBERS ? rest : (size_t)CN_GROUP_PART_MEMBERS);
}

static bool has_failed(const struct adding *adding, uint32_t row, uint64_t value)
{
    const struct cn_grouping *grouping = adding->grouping;
    enum cn_store_field field =
        grouping->traces ? CN_STORE_FIELD_errors : CN_STORE_FIELD_flags;

    return (cn_joined_number(&grouping->index->joined, field, row, value) &
            adding->failed_bits) != 0;
}

static uint64_t duration_of(const struct adding *adding, uint32_t row, uint64_t value)
{
    return cn_joined_number(&adding->grouping->index->joined, CN_STORE_FIELD_duration_ns,
                            row, value);
}

static void read_members(void *arg, size_t job, unsigned worker)
{
    const struct adding *adding = arg;
    const struct cn_grouping *grouping = adding->grouping;
    uint32_t row_count = grouping->rows->count;
    struct cn_column_cursor durations = {.column = &adding->duration,
                                         .row_count = row_count};
    struct cn_column_cursor errors = {.column = &adding->errors, .row_count = row_count};
    size_t first = job * CN_GROUP_PART_MEMBERS, count = part_end(grouping, job) - first;
    struct cn_group_member *list = cn_alloc(count, sizeof(*list));

    (void)worker;
    for (size_t i = 0; i < count; i++) {
        const struct cn_grouping_member *member = &grouping->members[first + i];
        uint32_t row = member->row;

        list[i] = (struct cn_group_member){
            .duration_ns = duration_of(adding, row, cn_column_cursor_at(&durations, row)),
            .group = member->group,
            .has_errors = has_failed(adding, row, cn_column_cursor_at(&errors, row)),
        };
    }
    cn_group_part_make(&adding->parts[job], list, count);
    free(list);
}

static void take_members(void *arg, size_t job, unsigned worker)
{
    const struct adding *adding = arg;
    struct cn_grouping *grouping = adding->grouping;
    size_t first = job * CN_GROUP_PART_MEMBERS, end = part_end(grouping, job);

    (void)worker;
    cn_group_members_take(&grouping->all, &adding->parts[job]);
    for (size_t i = first; grouping->weights.count > 0 && i < end; i++)
        cn_group_members_weigh(
            &grouping->all, grouping->members[i].group,
            cn_row_weight(&grouping->weights, grouping->members[i].row));
    for (size_t i = first; grouping->step_count > 0 && i < end; i++) {
        uint32_t row = grouping->members[i].row;

        add_to_step(grouping, grouping->members[i].group,
                    cn_store_column_at(&adding->time, row),
                    has_failed(adding, row, cn_store_column_at(&adding->errors, row)));
    }
}

/* Add the traces of members, and rows that are a whole trace each. */
static void add_traces(const struct adding *adding)
{
    struct cn_grouping *grouping = adding->grouping;
    size_t old = grouping->last_capacity;

    CN_GROW_TO(grouping->last, (size_t)grouping->all.values.count + 1,
               grouping->last_capacity);
    memset(grouping->last + old, 0,
           (grouping->last_capacity - old) * sizeof(*grouping->last));
    cn_group_members_reserve(&grouping->all);
    if (!grouping->is_split)
        find_split(grouping);
    for (size_t i = 0; i < grouping->count; i++) {
        uint32_t row = grouping->members[i].row, group = grouping->members[i].group;
        const struct cn_trace_sum *trace =
            cn_trace_table_find(grouping->traces, grouping->segment, row);
        double weight = cn_row_weight(&grouping->weights, row);

        if (trace) {
            add_trace(grouping, group, trace, weight);
            continue;
        }
        uint64_t duration_ns =
            duration_of(adding, row, cn_store_column_at(&adding->duration, row));
        cn_group_members_add(
            &grouping->all, group, duration_ns,
            has_failed(adding, row, cn_store_column_at(&adding->errors, row)));
        cn_group_members_weigh(&grouping->all, group, weight);
    }
}

bool cn_grouping_add_members(struct cn_grouping *grouping, struct cn_error *err)
{
    const struct cn_columns *columns = grouping->index->columns;
    /* A span counts if it failed itself, a trace if any call in it did. */
    enum cn_store_field failed =
        grouping->traces ? CN_STORE_FIELD_errors : CN_STORE_FIELD_flags;
    struct adding adding = {.grouping = grouping,
                            .failed_bits = grouping->traces ? UINT64_MAX : CN_ROW_ERROR};
    struct cn_jobs jobs = {.arg = &adding, .run = read_members, .take = take_members};

    if (!cn_columns_field(columns, CN_STORE_FIELD_duration_ns, &adding.duration, err) ||
        !cn_columns_field(columns, failed, &adding.errors, err) ||
        (grouping->step_count > 0 &&
         !cn_columns_field(columns, CN_STORE_FIELD_time_ns, &adding.time, err)))
        return false;
    if (grouping->traces) {
        add_traces(&adding);
        return true;
    }
    jobs.count = (grouping->count + CN_GROUP_PART_MEMBERS - 1) / CN_GROUP_PART_MEMBERS;
    adding.parts = cn_alloc(jobs.count, sizeof(*adding.parts));
    cn_pool_run(&jobs, cn_pool_default_workers());
    free(adding.parts);
    return true;
}
