#include "analyze/cct/analysis.h"

#include <stdlib.h>

#include "analyze/cct/part.h"
#include "base/alloc.h"
#include "base/bytes/wire.h"
#include "base/run/pool.h"
#include "base/run/progress.h"
#include "model/gpu/work.h"
#include "model/io/calls.h"

/* Trees of tasks beyond this many bytes are spilled until they are needed. */
enum { TREES_LEN_MAX = 48 << 20 };

/* Calls between two checks for an interrupt. */
enum { CHECK_EVERY = 1 << 16 };

static bool is_ordered(const struct cn_cct_analysis *a,
                       const struct cn_cct_member *member)
{
    return a->queries[member->source].filter->has_switches;
}

/* Several processes cannot share the threads of a process: one thread frees what another allocated. */
static bool has_shared_heap(const struct cn_cct_analysis *a,
                            const struct cn_cct_member *member)
{
    return a->options->ranks && a->queries[member->source].rec->has_heap &&
           member->process == member[-1].process;
}

static void make_units(struct cn_cct_analysis *a)
{
    const struct cn_cct_members *members = &a->self->members;

    a->units = cn_alloc(members->count, sizeof(*a->units));
    for (size_t i = 0; i < members->count; i++) {
        const struct cn_cct_member *member = &members->list[i];
        bool is_joined = i > 0 && member->source == members->list[i - 1].source &&
                         (is_ordered(a, member) || has_shared_heap(a, member));

        if (!is_joined)
            a->units[a->unit_count++] = (struct cn_cct_unit){
                .first = i, .is_on = !a->queries[member->source].filter->is_off};
        a->units[a->unit_count - 1].count++;
    }
}

static size_t first_member(const struct cn_cct_analysis *a, size_t unit)
{
    return unit < a->unit_count ? a->units[unit].first : a->self->members.count;
}

uint64_t *cn_cct_analysis_weigh(const struct cn_cct_analysis *a)
{
    const struct cn_cct_member *list = a->self->members.list;
    uint64_t *weights = cn_alloc(a->unit_count, sizeof(*weights));

    for (size_t i = 0; i < a->unit_count; i++)
        for (size_t k = a->units[i].first; k < a->units[i].first + a->units[i].count; k++)
            weights[i] +=
                a->queries[list[k].source].rec->tasks[list[k].task.options.task].data_len;
    return weights;
}

static void begin_tasks(struct cn_cct_analysis *a)
{
    for (size_t i = a->unit_first; i < a->unit_end; i++) {
        struct cn_cct_unit *unit = &a->units[i];

        for (size_t k = unit->first; k < unit->first + unit->count; k++) {
            struct cn_cct_member *member = &a->self->members.list[k];
            struct cn_cct_task_options options = member->task.options;

            options.query = &a->queries[member->source];
            options.is_collapsed = a->options->is_collapsed;
            options.is_on = is_ordered(a, member) ? &unit->is_on : NULL;
            options.op_nodes = a->op_nodes[member->source];
            options.io_nodes = a->io_nodes[member->source];
            if (cn_cct_task_has_heap(&options))
                options.heap_nodes = &member->heap_nodes;
            if (!options.is_on && !a->options->without_timelines) {
                options.resolution_ns = a->options->timeline_resolution_ns;
                options.sample_max = a->options->timeline_sample_max;
            }
            cn_cct_task_init(&member->task, &options);
        }
    }
}

static const struct cn_cct_unit *unit_at(const struct cn_cct_analysis *a, size_t job)
{
    return &a->units[a->unit_first + job];
}

/* Tasks that switch each other on and off cannot be followed again on their own: store the
 * samples of their timelines. */
static bool store_samples(struct cn_cct_analysis *a, const struct cn_cct_unit *unit,
                          struct cn_error *err)
{
    struct cn_cct_member *list = &a->self->members.list[unit->first];
    struct cn_spool *spool = &a->self->sample_spools[list->source];

    if (a->options->without_timelines)
        return true;
    if (!cn_spool_open(spool, a->options->folder, err))
        return false;
    for (size_t i = 0; i < unit->count; i++)
        cn_cct_samples_init(&list[i].samples, spool, 0);
    return true;
}

static bool count_and_store(struct cn_cct_member *member,
                            const struct cn_merged_call *next, struct cn_error *err)
{
    struct cn_cct_task *task = &member->task;
    uint64_t before = task->sample_count;
    uint64_t recorded_ns = cn_call_recorded_ns(next->batch, next->call);

    if (next->batch->recorded && recorded_ns > task->follow.clock.seen_ns)
        task->follow.clock.seen_ns = recorded_ns;
    cn_cct_task_count_call(task, next->call, next->batch);
    return task->sample_count == before || !member->samples.spool ||
           cn_cct_samples_add(&member->samples,
                              (struct cn_sample){cn_cct_follow_recorded_ns(&task->follow),
                                                 task->follow.node},
                              err);
}

/* Count the calls of a merge over `tasks`; `member_of` is by task. */
static bool count_merged(struct cn_cct_analysis *a, struct cn_call_merge *merge,
                         struct cn_cct_member *list, const uint32_t *tasks,
                         const uint32_t *member_of, struct cn_error *err)
{
    struct cn_merged_call next;
    uint64_t call_count = 0;

    while (cn_call_merge_next(merge, &next)) {
        if (!count_and_store(&list[member_of[tasks[next.slot]]], &next, err))
            return false;
        if (++call_count % CHECK_EVERY == 0 &&
            !cn_progress_check(a->options->progress, "reading calls", err))
            return false;
    }
    for (size_t i = 0; i < merge->damages.count; i++) {
        struct cn_cct_task *task = &list[member_of[merge->damages.list[i].task]].task;

        cn_cct_task_note_damage(task, &merge->damages.list[i].err);
    }
    return true;
}

/* Count several tasks in the order of time. */
static bool count_together(struct cn_cct_analysis *a, const struct cn_cct_unit *unit,
                           struct cn_error *err)
{
    struct cn_cct_member *list = &a->self->members.list[unit->first];
    struct cn_call_query query = a->queries[list->source];
    uint32_t *tasks = cn_alloc(unit->count, sizeof(*tasks));
    uint32_t *member_of = cn_alloc(query.rec->task_count, sizeof(*member_of));
    struct cn_call_merge merge;
    uint32_t count = 0;
    bool ok;

    for (size_t i = 0; i < unit->count; i++)
        member_of[list[i].task.options.task] = (uint32_t)i;
    for (uint32_t i = 0; i < query.task_count; i++)
        if (query.rec->tasks[query.tasks[i]].data_len > 0)
            tasks[count++] = query.tasks[i];
    query.tasks = tasks;
    query.task_count = count;
    ok = store_samples(a, unit, err) && cn_call_merge_open(&merge, &query, err);
    if (ok) {
        ok = count_merged(a, &merge, list, tasks, member_of, err);
        cn_call_merge_close(&merge);
    }
    for (size_t i = 0; ok && i < unit->count; i++) {
        cn_cct_task_finish(&list[i].task);
        ok = !list[i].samples.spool || cn_cct_samples_end(&list[i].samples, err);
    }
    free(tasks);
    free(member_of);
    return ok;
}

/* Store the samples that were kept while a task was counted. */
static bool store_kept(struct cn_cct_analysis *a, struct cn_cct_member *member,
                       unsigned file, struct cn_error *err)
{
    struct cn_thinner *thinner = &member->task.thinner;
    bool ok = true;

    cn_thinner_end(thinner);
    cn_cct_samples_init(&member->samples, &a->self->spool, file);
    for (size_t i = 0; ok && i < thinner->count; i++)
        ok = cn_cct_samples_add(&member->samples, thinner->list[i], err);
    return ok && cn_cct_samples_end(&member->samples, err);
}

/* Count a task, unless it was read in parts and is counted already. Tasks of a worker keep samples
 * in the same memory, one after the other: between their trees, it would not be used again. */
static bool count_alone(struct cn_cct_analysis *a, struct cn_cct_member *member,
                        unsigned worker, struct cn_error *err)
{
    struct cn_cct_task *task = &member->task;
    struct cn_thinner *thinner = &task->thinner, *spare = &a->spares[worker];
    bool ok = true;

    if (task->part_count == 0) {
        thinner->list = spare->list;
        thinner->capacity = spare->capacity;
        spare->list = NULL;
        ok = cn_cct_task_count(task, NULL, a->options->progress, worker == 0, err);
    }
    ok = ok && (task->options.sample_max == 0 || store_kept(a, member, worker, err));
    if (member->has_ranges)
        cn_cct_costs_done(&task->costs);
    free(spare->list);
    *spare = *thinner;
    thinner->list = NULL;
    return ok;
}

/* The calls of a stream are operations that count for what launched them. */
static bool count_stream(struct cn_cct_member *member)
{
    cn_cct_task_add_lonely(&member->task, member->stream);
    return true;
}

/* The tasks of a unit store the nodes of their allocations from here on; or have done so. */
static void begin_heap(struct cn_cct_analysis *a, const struct cn_cct_unit *unit,
                       unsigned worker)
{
    struct cn_cct_member *list = &a->self->members.list[unit->first];

    for (size_t i = 0; i < unit->count; i++)
        if (list[i].task.options.heap_nodes)
            cn_cct_samples_init(&list[i].heap_nodes, &a->self->spool, worker);
}

static bool end_heap(struct cn_cct_analysis *a, const struct cn_cct_unit *unit,
                     struct cn_error *err)
{
    struct cn_cct_member *list = &a->self->members.list[unit->first];
    bool ok = true;

    for (size_t i = 0; ok && i < unit->count; i++) {
        const struct cn_cct_heap *heap = &list[i].task.heap;

        if (heap->has_failed)
            *err = heap->err;
        ok = !heap->has_failed && (!list[i].task.options.heap_nodes ||
                                   cn_cct_samples_end(&list[i].heap_nodes, err));
    }
    return ok;
}

static void count_run(void *arg, size_t job, unsigned worker)
{
    struct cn_cct_analysis *a = arg;
    const struct cn_cct_unit *unit = unit_at(a, job);
    struct cn_cct_member *list = &a->self->members.list[unit->first];
    struct cn_error *err = cn_failures_error(&a->failures, worker);
    bool ok = true;

    if (cn_failures_stopped(&a->failures, worker))
        return;
    begin_heap(a, unit, worker);
    if (is_ordered(a, list))
        ok = count_together(a, unit, err);
    else
        for (size_t i = 0; ok && i < unit->count; i++)
            ok = list[i].stream != CN_NONE ? count_stream(&list[i])
                                           : count_alone(a, &list[i], worker, err);
    ok = ok && end_heap(a, unit, err);
    if (!ok)
        cn_failures_note(&a->failures, worker, job);
}

static bool merge_member(struct cn_cct_analysis *a, size_t number, struct cn_error *err)
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
    if (a->trees_len + len > TREES_LEN_MAX) {
        a->spill_at[number] = 1 + cn_spool_reserve(&a->self->spool, len);
    } else {
        a->trees_len += len;
        cn_tree_trim(&member->task.tree);
        cn_cct_costs_trim(&member->task.costs);
    }
    return true;
}

static void merge_take(void *arg, size_t job, unsigned worker)
{
    struct cn_cct_analysis *a = arg;
    const struct cn_cct_unit *unit = unit_at(a, job);
    bool ok = cn_failures_share(&a->failures, worker);

    for (size_t i = 0; ok && i < unit->count; i++) {
        ok = merge_member(a, unit->first + i, cn_failures_error(&a->failures, worker));
        if (!ok)
            cn_failures_note(&a->failures, worker, job);
    }
}

static void spill_finish(void *arg, size_t job, unsigned worker)
{
    struct cn_cct_analysis *a = arg;
    const struct cn_cct_unit *unit = unit_at(a, job);
    struct cn_error *err = cn_failures_error(&a->failures, worker);

    if (cn_failures_stopped(&a->failures, worker))
        return;
    for (size_t i = unit->first; i < unit->first + unit->count; i++)
        if (a->spill_at[i] > 0 &&
            !cn_cct_member_spill(&a->self->members.list[i], &a->self->spool,
                                 a->spill_at[i] - 1, err)) {
            cn_failures_note(&a->failures, worker, job);
            return;
        }
}

bool cn_cct_analysis_count(struct cn_cct_analysis *a, struct cn_error *err)
{
    struct cn_jobs jobs = {a->unit_end - a->unit_first, a, count_run, merge_take,
                           spill_finish};

    a->own_first = first_member(a, a->unit_first);
    a->own_end = first_member(a, a->unit_end);
    begin_tasks(a);
    if (!cn_cct_long_tasks_count(a->self->members.list + a->own_first,
                                 a->own_end - a->own_first, a->options->workers,
                                 a->options->progress, err))
        return false;
    a->spares = cn_alloc(a->options->workers, sizeof(*a->spares));
    cn_failures_init(&a->failures, a->options->workers);
    cn_pool_run(&jobs, a->options->workers);
    bool ok = cn_failures_result(&a->failures, err);
    cn_failures_done(&a->failures);
    for (unsigned i = 0; i < a->options->workers; i++)
        free(a->spares[i].list);
    free(a->spares);
    return ok;
}

uint64_t *cn_cct_analysis_last_ns(const struct cn_cct_analysis *a)
{
    uint64_t *last_ns = cn_alloc(a->self->source_count, sizeof(*last_ns));

    for (size_t i = a->own_first; i < a->own_end; i++) {
        const struct cn_cct_member *member = &a->self->members.list[i];

        if (cn_cct_follow_recorded_ns(&member->task.follow) > last_ns[member->source])
            last_ns[member->source] = cn_cct_follow_recorded_ns(&member->task.follow);
    }
    return last_ns;
}

void cn_cct_analysis_end(struct cn_cct_analysis *a, const uint64_t *last_ns)
{
    size_t source_count = a->self->source_count;

    for (size_t i = a->own_first; i < a->own_end; i++) {
        struct cn_cct_member *member = &a->self->members.list[i];

        cn_cct_task_end(&member->task);
        if (a->options->min_time_ns > 0)
            cn_cct_merged_weigh_open(&a->self->merged, &member->task, member->nodes);
    }
    a->self->offsets_ns = cn_alloc(source_count, sizeof(*a->self->offsets_ns));
    for (size_t i = 0; i < source_count; i++)
        a->self->offsets_ns[i] = cn_cct_clock_offset(a->queries[i].rec, last_ns[i]);
}

void cn_cct_analysis_fill_in(struct cn_cct_analysis *a)
{
    struct cn_database *db = &a->self->db;
    const struct cn_cct_merged *merged = &a->self->merged;

    db->ops = &cn_cct_database_ops;
    db->path = "";
    db->kinds = cn_cct_members_kinds(&a->self->members);
    db->profile_count = (uint32_t)a->self->members.count + 1;
    db->module_count = (uint32_t)merged->names.module_keys.count;
    db->file_count = (uint32_t)merged->names.file_keys.count;
    db->function_count = (uint32_t)merged->names.function_keys.count;
    db->modules = merged->names.modules;
    db->files = merged->names.files;
    db->functions = merged->names.functions;
    db->context_limit = merged->context_count;
    db->context_weight = merged->tree.count;
    db->has_exact_counts = true;
    db->has_timelines = !a->options->without_timelines;
    db->own_first = a->is_first ? 0 : (uint32_t)a->own_first + 1;
    db->own_end = (uint32_t)a->own_end + 1;
    cn_cct_describe(db, a->queries, &a->self->members, a->options->title);
    a->self->profiles = cn_alloc(db->profile_count, sizeof(*a->self->profiles));
    cn_cct_database_make_players(a->self);
}

void cn_cct_analysis_encode(const struct cn_cct_analysis *a, struct cn_text *message)
{
    uint64_t record_count = 0, lost_count = 0;

    for (size_t i = a->own_first; i < a->own_end; i++) {
        record_count += a->self->members.list[i].task.record_count;
        lost_count += a->self->members.list[i].task.lost_count;
    }
    cn_wire_u64(message, record_count);
    cn_wire_u64(message, lost_count);
    for (size_t i = a->own_first; i < a->own_end; i++) {
        const struct cn_cct_member *member = &a->self->members.list[i];

        if (!member->task.is_damaged)
            continue;
        cn_wire_u32(message, (uint32_t)i);
        cn_wire_error(message, &member->task.damage);
    }
}

bool cn_cct_analysis_add(const struct cn_cct_analysis *a, struct cn_bytes message,
                         struct cn_calls_result *result, struct cn_error *err)
{
    const struct cn_cct_members *members = &a->self->members;
    uint64_t record_count, lost_count;
    bool ok = cn_wire_u64_take(&message, &record_count) &&
              cn_wire_u64_take(&message, &lost_count);

    if (ok) {
        result->record_count += record_count;
        result->lost_count += lost_count;
    }
    while (ok && message.len > 0) {
        struct cn_calls_damage *damage = &result->damages[result->damage_count];
        uint32_t number;

        ok = result->damage_count < members->count &&
             cn_wire_u32_take(&message, &number) && number < members->count &&
             cn_wire_error_take(&message, &damage->err);
        if (ok) {
            damage->query = members->list[number].source;
            damage->task = members->list[number].task.options.task;
            result->damage_count++;
        }
    }
    return ok || cn_fail(err, CN_ERR_FORMAT, "damaged message about damaged tasks");
}

void cn_cct_analysis_init(struct cn_cct_analysis *a, const struct cn_call_query *queries,
                          size_t query_count, const struct cn_calls_options *options)
{
    struct cn_cct_database *self = cn_alloc(1, sizeof(*self));

    *a = (struct cn_cct_analysis){
        .queries = queries,
        .options = options,
        .self = self,
        .functions = cn_alloc(query_count, sizeof(*a->functions)),
        .op_nodes = cn_alloc(query_count, sizeof(*a->op_nodes)),
        .io_nodes = cn_alloc(query_count, sizeof(*a->io_nodes)),
    };
    cn_cct_merged_init(&self->merged, options->locations);
    cn_cct_members_init(&self->members, queries, query_count);
    self->sample_spools = cn_alloc(query_count, sizeof(*self->sample_spools));
    self->source_count = query_count;
    a->spill_at = cn_alloc(self->members.count, sizeof(*a->spill_at));
    for (size_t i = 0; i < query_count; i++) {
        cn_cct_functions_init(&a->functions[i], queries[i].rec);
        if (queries[i].rec->gpu)
            a->op_nodes[i] =
                cn_alloc(queries[i].rec->gpu->op_count, sizeof(**a->op_nodes));
        if (queries[i].rec->io)
            a->io_nodes[i] = cn_alloc(queries[i].rec->io->count, sizeof(**a->io_nodes));
    }
    make_units(a);
}

void cn_cct_analysis_done(struct cn_cct_analysis *a)
{
    for (size_t i = 0; i < a->self->source_count; i++) {
        cn_cct_functions_done(&a->functions[i]);
        free(a->op_nodes[i]);
        free(a->io_nodes[i]);
    }
    free(a->functions);
    free(a->op_nodes);
    free(a->io_nodes);
    free(a->units);
    free(a->spill_at);
}

void cn_calls_result_done(struct cn_calls_result *result)
{
    free(result->damages);
    *result = (struct cn_calls_result){0};
}
