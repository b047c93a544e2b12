#include "analyze/calls_to_database.h"

#include <stdlib.h>

#include "analyze/cct_about.h"
#include "analyze/cct_database.h"
#include "analyze/cct_planes.h"
#include "base/alloc.h"
#include "base/failures.h"
#include "base/pool.h"

/* Trees of tasks beyond this many bytes are put aside until they are needed. */
enum { KEPT_LEN_MAX = 48 << 20 };

/* What one worker does at once: a task, or all tasks of a recording whose triggers
 * work across tasks. */
struct unit {
    size_t first, count; /* members */
    bool is_on;          /* the switch they share */
};

struct analysis {
    const struct cn_call_query *queries;
    const struct cn_calls_options *options;
    struct cn_cct_database *self;
    struct cn_cct_functions *functions; /* by query */
    struct unit *units;
    size_t unit_count;
    uint64_t kept_len;  /* of trees in memory */
    uint64_t *aside_at; /* by member: 1 + where its tree goes, 0: it stays */
    struct cn_failures failures;
};

static bool is_ordered(const struct analysis *a, const struct cn_cct_member *member)
{
    return a->queries[member->source].filter->has_switches;
}

static void make_units(struct analysis *a)
{
    struct cn_cct_members *members = &a->self->members;

    a->units = cn_alloc(members->count, sizeof(*a->units));
    for (size_t i = 0; i < members->count; i++) {
        struct cn_cct_member *member = &members->list[i];
        bool is_joined = i > 0 && is_ordered(a, member) &&
                         member->source == members->list[i - 1].source;
        struct unit *unit;
        struct cn_cct_task_options options = member->task.options;

        if (!is_joined)
            a->units[a->unit_count++] = (struct unit){.first = i};
        unit = &a->units[a->unit_count - 1];
        unit->count++;
        unit->is_on = !a->queries[member->source].filter->is_off;
        options.query = &a->queries[member->source];
        options.is_collapsed = a->options->is_collapsed;
        options.is_on = is_ordered(a, member) ? &unit->is_on : NULL;
        cn_cct_task_init(&member->task, &options);
    }
}

/* Several tasks in the order of time. */
static bool count_together(struct analysis *a, const struct unit *unit,
                           struct cn_error *err)
{
    struct cn_cct_member *list = &a->self->members.list[unit->first];
    struct cn_call_query query = a->queries[list->source];
    uint32_t *tasks = cn_alloc(unit->count, sizeof(*tasks));
    uint32_t *member_of = cn_alloc(query.rec->task_count, sizeof(*member_of));
    struct cn_call_merge merge;
    struct cn_merged_call next;
    uint32_t count = 0;
    bool ok;

    for (size_t i = 0; i < unit->count; i++)
        member_of[list[i].task.options.task] = (uint32_t)i;
    for (uint32_t i = 0; i < query.task_count; i++)
        if (query.rec->tasks[query.tasks[i]].data_len > 0)
            tasks[count++] = query.tasks[i];
    query.tasks = tasks;
    query.task_count = count;
    ok = cn_call_merge_open(&merge, &query, err);
    while (ok && cn_call_merge_next(&merge, &next))
        cn_cct_task_count_call(&list[member_of[tasks[next.slot]]].task, next.call,
                               next.batch);
    for (size_t i = 0; ok && i < merge.damages.count; i++) {
        struct cn_cct_task *task = &list[member_of[merge.damages.list[i].task]].task;

        task->is_damaged = true;
        task->damage = merge.damages.list[i].err;
    }
    if (ok)
        cn_call_merge_close(&merge);
    free(tasks);
    free(member_of);
    return ok;
}

static void count_run(void *arg, size_t job, unsigned worker)
{
    struct analysis *a = arg;
    const struct unit *unit = &a->units[job];
    struct cn_cct_member *member = &a->self->members.list[unit->first];
    struct cn_error *err = cn_failures_error(&a->failures, worker);
    /* One thread tells, the others only work. */
    const struct cn_progress *progress = worker == 0 ? a->options->progress : NULL;

    if (cn_failures_stopped(&a->failures, worker))
        return;
    if (!(is_ordered(a, member) ? count_together(a, unit, err)
                                : cn_cct_task_count(&member->task, progress, err)))
        cn_failures_note(&a->failures, worker, job);
}

static bool merge_member(struct analysis *a, size_t number, struct cn_error *err)
{
    struct cn_cct_member *member = &a->self->members.list[number];
    struct cn_cct_merged *merged = &a->self->merged;
    uint64_t len = cn_cct_member_len(member);

    if (!cn_cct_merged_add(merged, &a->functions[member->source], &member->task,
                           &member->nodes, err))
        return false;
    member->node_count = member->task.tree.count;
    if (a->options->min_time_ns > 0)
        cn_cct_merged_weigh(merged, &member->task.costs, member->nodes,
                            member->node_count);
    if (a->kept_len + len > KEPT_LEN_MAX)
        a->aside_at[number] = 1 + cn_spool_reserve(&a->self->spool, len);
    else
        a->kept_len += len;
    return true;
}

static void merge_take(void *arg, size_t job, unsigned worker)
{
    struct analysis *a = arg;
    const struct unit *unit = &a->units[job];
    bool ok = cn_failures_share(&a->failures, worker);

    for (size_t i = 0; ok && i < unit->count; i++) {
        ok = merge_member(a, unit->first + i, cn_failures_error(&a->failures, worker));
        if (!ok)
            cn_failures_note(&a->failures, worker, job);
    }
}

static void aside_finish(void *arg, size_t job, unsigned worker)
{
    struct analysis *a = arg;
    const struct unit *unit = &a->units[job];
    struct cn_error *err = cn_failures_error(&a->failures, worker);

    if (cn_failures_stopped(&a->failures, worker))
        return;
    for (size_t i = unit->first; i < unit->first + unit->count; i++)
        if (a->aside_at[i] > 0 &&
            !cn_cct_member_put_aside(&a->self->members.list[i], &a->self->spool,
                                     a->aside_at[i] - 1, err)) {
            cn_failures_note(&a->failures, worker, job);
            return;
        }
}

static bool count_all(struct analysis *a, struct cn_error *err)
{
    struct cn_jobs jobs = {a->unit_count, a, count_run, merge_take, aside_finish};
    bool ok;

    cn_failures_init(&a->failures, a->options->workers);
    cn_pool_run(&jobs, a->options->workers);
    ok = cn_failures_result(&a->failures, err);
    cn_failures_done(&a->failures);
    return ok;
}

/* Calls that never returned last until the end of their recording. */
static void end_all(struct analysis *a, size_t query_count)
{
    struct cn_cct_members *members = &a->self->members;
    uint64_t *last_ns = cn_alloc(query_count, sizeof(*last_ns));

    for (size_t i = 0; i < members->count; i++) {
        const struct cn_cct_member *member = &members->list[i];

        if (member->task.follow.last_ns > last_ns[member->source])
            last_ns[member->source] = member->task.follow.last_ns;
    }
    for (size_t i = 0; i < members->count; i++) {
        struct cn_cct_member *member = &members->list[i];

        cn_cct_task_end(&member->task, last_ns[member->source]);
        if (a->options->min_time_ns > 0)
            cn_cct_merged_weigh_open(&a->self->merged, &member->task, member->nodes);
    }
    a->self->offsets_ns = cn_alloc(query_count, sizeof(*a->self->offsets_ns));
    for (size_t i = 0; i < query_count; i++)
        a->self->offsets_ns[i] = cn_cct_clock_offset(a->queries[i].rec, last_ns[i]);
    free(last_ns);
}

static void fill_in_tables(struct analysis *a)
{
    struct cn_database *db = &a->self->db;
    const struct cn_cct_merged *merged = &a->self->merged;

    db->ops = &cn_cct_database_ops;
    db->path = "";
    db->kinds = cn_cct_kinds;
    db->profile_count = (uint32_t)a->self->members.count + 1;
    db->module_count = (uint32_t)merged->names.module_keys.count;
    db->file_count = (uint32_t)merged->names.file_keys.count;
    db->function_count = (uint32_t)merged->names.function_keys.count;
    db->context_limit = merged->context_count;
    db->context_weight = merged->tree.count;
    cn_cct_describe(db, a->queries, &a->self->members, a->options->title);
}

/* Timelines need the order of all tasks where they switch each other on and off; it
 * is gone when a task is read again on its own. */
static void decide_timelines(struct analysis *a, struct cn_calls_result *result)
{
    const struct cn_cct_members *members = &a->self->members;

    for (size_t i = 0; i < members->count; i++)
        result->has_no_order = result->has_no_order || is_ordered(a, &members->list[i]);
    if (a->options->without_timelines)
        result->has_no_order = false;
    a->self->db.has_timelines = !a->options->without_timelines && !result->has_no_order;
}

static void note_result(const struct analysis *a, struct cn_calls_result *result)
{
    const struct cn_cct_members *members = &a->self->members;

    result->damages = cn_alloc(members->count, sizeof(*result->damages));
    for (size_t i = 0; i < members->count; i++) {
        const struct cn_cct_member *member = &members->list[i];

        result->record_count += member->task.record_count;
        result->lost_count += member->task.lost_count;
        if (member->task.is_damaged)
            result->damages[result->damage_count++] = (struct cn_calls_damage){
                member->source, member->task.options.task, member->task.damage};
    }
    result->context_count = a->self->merged.context_count - 1;
}

static bool analyse(struct analysis *a, size_t query_count,
                    struct cn_calls_result *result, struct cn_error *err)
{
    struct cn_cct_database *self = a->self;

    if (!cn_spool_open(&self->spool, a->options->folder, err))
        return false;
    make_units(a);
    if (!count_all(a, err))
        return false;
    end_all(a, query_count);
    cn_cct_merged_number(&self->merged, a->options->min_time_ns);
    fill_in_tables(a);
    decide_timelines(a, result);
    note_result(a, result);
    self->profiles = cn_alloc(self->db.profile_count, sizeof(*self->profiles));
    self->replays = cn_alloc(self->members.count, sizeof(*self->replays));
    return cn_cct_planes_make(self, a->options, err);
}

bool cn_calls_to_database(struct cn_database **out, const struct cn_call_query *queries,
                          size_t query_count, const struct cn_calls_options *options,
                          struct cn_calls_result *result, struct cn_error *err)
{
    struct analysis a = {
        .queries = queries,
        .options = options,
        .self = cn_alloc(1, sizeof(*a.self)),
        .functions = cn_alloc(query_count, sizeof(*a.functions)),
    };
    bool ok;

    *result = (struct cn_calls_result){0};
    cn_cct_merged_init(&a.self->merged, options->places);
    cn_cct_members_init(&a.self->members, queries, query_count);
    a.aside_at = cn_alloc(a.self->members.count, sizeof(*a.aside_at));
    for (size_t i = 0; i < query_count; i++)
        cn_cct_functions_init(&a.functions[i], queries[i].rec);
    ok = analyse(&a, query_count, result, err);
    for (size_t i = 0; i < query_count; i++)
        cn_cct_functions_done(&a.functions[i]);
    free(a.functions);
    free(a.units);
    free(a.aside_at);
    if (ok) {
        *out = &a.self->db;
    } else {
        cn_calls_result_done(result);
        cn_cct_database_ops.close(&a.self->db);
    }
    return ok;
}

void cn_calls_result_done(struct cn_calls_result *result)
{
    free(result->damages);
    *result = (struct cn_calls_result){0};
}
