#include "analyze/cct/members.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "model/gpu/work.h"
#include "model/io/calls.h"

static const char *const kind_names[] = {
    [CN_CCT_KIND_SUMMARY] = "SUMMARY",
    [CN_CCT_KIND_NODE] = "NODE",
    [CN_CCT_KIND_RANK] = "RANK",
    [CN_CCT_KIND_THREAD] = "THREAD",
    [CN_CCT_KIND_GPU_DEVICE] = "GPUDEVICE",
    [CN_CCT_KIND_GPU_CONTEXT] = "GPUCONTEXT",
    [CN_CCT_KIND_GPU_STREAM] = "GPUSTREAM",
    [CN_CCT_KIND_RANGES] = "NVTX",
};

struct cn_kinds cn_cct_members_kinds(const struct cn_cct_members *members)
{
    return (struct cn_kinds){kind_names, members->has_ranges    ? CN_CCT_KINDS
                                         : members->has_streams ? CN_CCT_KIND_RANGES
                                                                : CN_CCT_KIND_GPU_DEVICE};
}

/* A task with its sort keys. */
struct member_candidate {
    const struct cn_task *task;
    uint32_t index;
    uint64_t process_ns; /* when the first task of its process started */
    uint32_t pid;
    uint32_t stream; /* CN_NONE: a thread */
};

static int compare_candidates(const void *left, const void *right)
{
    const struct member_candidate *a = left, *b = right;
    int order = cn_compare_u64(a->process_ns, b->process_ns);

    if (order == 0)
        order = cn_compare_u64(a->pid, b->pid);
    if (order == 0)
        order = a->task->is_ranges - b->task->is_ranges;
    if (order == 0) /* CN_NONE, of threads, becomes 0 */
        order = cn_compare_u64(a->stream + 1, b->stream + 1);
    if (order == 0)
        order = cn_compare_u64(a->task->tid != a->pid, b->task->tid != b->pid);
    if (order == 0)
        order = cn_compare_u64(a->task->time_ns, b->task->time_ns);
    return order ? order : cn_compare_u64(a->task->tid, b->task->tid);
}

/* By task: the stream of a GPU that it is, CN_NONE for threads. */
static uint32_t *find_streams(const struct cn_recording *rec)
{
    uint32_t *streams = cn_alloc(rec->task_count, sizeof(*streams));

    for (uint32_t i = 0; i < rec->task_count; i++)
        streams[i] = CN_NONE;
    for (uint32_t i = 0; rec->gpu && i < rec->gpu->stream_count; i++)
        if (rec->gpu->streams[i].thread != CN_NONE)
            streams[rec->gpu->streams[i].thread] = i;
    return streams;
}

static uint64_t start_of(const struct cn_task *task)
{
    return task->time_ns ? task->time_ns : task->first_ns;
}

/* A thread without calls may have launched operations, allocated memory, or called the kernel. */
static bool has_records(const struct cn_recording *rec, uint32_t task)
{
    return rec->tasks[task].data_len > 0 || rec->tasks[task].heap_len > 0 ||
           (rec->gpu && cn_gpu_work_launches(rec->gpu, task, 0) <
                            cn_gpu_work_launches(rec->gpu, task + 1, 0)) ||
           (rec->io &&
            cn_io_calls_first(rec->io, task) < cn_io_calls_first(rec->io, task + 1));
}

/* The tasks of a query that have records, sorted; returns how many. */
static size_t list_tasks(const struct cn_call_query *query, struct member_candidate *list)
{
    struct cn_map starts = {0}; /* by process: the index of its first task */
    uint32_t *streams = find_streams(query->rec);
    size_t count = 0;

    for (uint32_t i = 0; i < query->task_count; i++) {
        const struct cn_task *task = &query->rec->tasks[query->tasks[i]];
        uint32_t *first;

        /* Operations that overlap others of their stream are in tasks that no stream has. */
        if (!has_records(query->rec, query->tasks[i]) ||
            (task->is_stream && !task->is_ranges && streams[query->tasks[i]] == CN_NONE))
            continue;
        list[count] = (struct member_candidate){.task = task,
                                                .index = query->tasks[i],
                                                .process_ns = start_of(task),
                                                .pid = task->pid ? task->pid : task->tid,
                                                .stream = streams[query->tasks[i]]};
        first = cn_map_at(&starts, list[count].pid, (uint32_t)count);
        if (list[count].process_ns < list[*first].process_ns)
            *first = (uint32_t)count;
        count++;
    }
    for (size_t i = 0; i < count; i++)
        list[i].process_ns =
            start_of(list[cn_map_find(&starts, list[i].pid, (uint32_t)i)].task);
    cn_map_done(&starts);
    free(streams);
    if (count > 0)
        qsort(list, count, sizeof(*list), compare_candidates);
    return count;
}

size_t cn_cct_member_tasks(const struct cn_recording *rec, uint32_t *out)
{
    struct member_candidate *list = cn_alloc(rec->task_count, sizeof(*list));
    size_t count;

    for (uint32_t i = 0; i < rec->task_count; i++)
        out[i] = i;
    count = list_tasks(
        &(struct cn_call_query){.rec = rec, .tasks = out, .task_count = rec->task_count},
        list);
    for (size_t i = 0; i < count; i++)
        out[i] = list[i].index;
    free(list);
    return count;
}

static void add_members(struct cn_cct_members *members, uint32_t source,
                        const struct member_candidate *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct cn_cct_member *member = &members->list[members->count++];
        bool is_new = i == 0 || list[i].pid != list[i - 1].pid;

        members->process_count += is_new;
        members->has_streams = members->has_streams || list[i].stream != CN_NONE;
        members->has_ranges = members->has_ranges || list[i].task->is_ranges;
        *member = (struct cn_cct_member){
            .source = source,
            .process = members->process_count - 1,
            .thread = is_new ? 0 : member[-1].thread + 1,
            .stream = list[i].stream,
            .has_ranges = list[i].task->is_ranges,
            .task.options.task = list[i].index,
        };
    }
}

/* A number for a host that is the same in every run. */
static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261;

    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * 16777619;
    return hash;
}

static void add_id(struct cn_identity_tuple *tuple, uint8_t kind, uint64_t number)
{
    tuple->ids[tuple->count++] = (struct cn_identity){
        .kind = kind, .logical = (uint32_t)number, .physical = number};
}

/* Ranges are those of a thread, or of a process. */
static void name_ranges(const struct cn_cct_member *member,
                        const struct cn_call_query *query, const struct cn_map *threads,
                        struct cn_identity_tuple *tuple)
{
    uint32_t parent = query->rec->tasks[member->task.options.task].parent;
    uint32_t thread =
        cn_map_find(threads, (uint64_t)member->source << 32 | parent, CN_NONE);

    if (parent != CN_NONE && thread != CN_NONE) {
        add_id(tuple, CN_CCT_KIND_THREAD, thread);
        add_id(tuple, CN_CCT_KIND_RANGES, 0);
    } else { /* some readers tell identities apart by their numbers alone */
        add_id(tuple, CN_CCT_KIND_RANGES, member->thread);
    }
}

static void name_members(struct cn_cct_members *members,
                         const struct cn_call_query *queries)
{
    struct cn_names hosts = {0};
    struct cn_map threads = {0}; /* by source and task: numbers */

    for (size_t i = 0; i < members->count; i++) {
        struct cn_cct_member *member = &members->list[i];
        struct cn_identity_tuple *tuple = &member->identity;
        const char *host =
            cn_recording_fact(queries[member->source].rec, "osinfo:hostname");

        if (host)
            tuple->ids[tuple->count++] = (struct cn_identity){
                .kind = CN_CCT_KIND_NODE,
                .is_physical = true,
                .logical = cn_names_add(&hosts, host),
                .physical = hash_of(host),
            };
        if (members->process_count > 1)
            add_id(tuple, CN_CCT_KIND_RANK, member->process);
        if (member->has_ranges) {
            name_ranges(member, &queries[member->source], &threads, tuple);
        } else if (member->stream == CN_NONE) {
            *cn_map_at(&threads,
                       (uint64_t)member->source << 32 | member->task.options.task, 0) =
                member->thread;
            add_id(tuple, CN_CCT_KIND_THREAD, member->thread);
        } else {
            const struct cn_gpu_stream *stream =
                &queries[member->source].rec->gpu->streams[member->stream];

            add_id(tuple, CN_CCT_KIND_GPU_DEVICE, stream->device);
            add_id(tuple, CN_CCT_KIND_GPU_CONTEXT, stream->context);
            add_id(tuple, CN_CCT_KIND_GPU_STREAM, stream->number);
        }
    }
    cn_names_done(&hosts);
    cn_map_done(&threads);
}

void cn_cct_members_init(struct cn_cct_members *members,
                         const struct cn_call_query *queries, size_t query_count)
{
    size_t most = 0;

    *members = (struct cn_cct_members){0};
    for (size_t i = 0; i < query_count; i++)
        most += queries[i].task_count;
    members->list = cn_alloc(most, sizeof(*members->list));
    for (size_t i = 0; i < query_count; i++) {
        struct member_candidate *list = cn_alloc(queries[i].task_count, sizeof(*list));

        add_members(members, (uint32_t)i, list, list_tasks(&queries[i], list));
        free(list);
    }
    name_members(members, queries);
}

void cn_cct_members_done(struct cn_cct_members *members)
{
    for (size_t i = 0; i < members->count; i++) {
        cn_cct_task_done(&members->list[i].task);
        cn_cct_samples_done(&members->list[i].samples);
        cn_cct_samples_done(&members->list[i].heap_nodes);
        free(members->list[i].nodes);
    }
    free(members->list);
    *members = (struct cn_cct_members){0};
}

/* The sections of a spilled tree, in this order. */
static size_t links_len(const struct cn_cct_member *member)
{
    return member->node_count * sizeof(struct cn_tree_link);
}

static size_t costs_len(const struct cn_cct_member *member)
{
    return member->cost_count * sizeof(struct cn_cct_cost);
}

static size_t overflows_len(const struct cn_cct_member *member)
{
    return member->overflow_count * sizeof(struct cn_cct_overflow);
}

uint64_t cn_cct_member_len(const struct cn_cct_member *member)
{
    const struct cn_cct_task *task = &member->task;

    return task->tree.count * sizeof(struct cn_tree_link) +
           task->costs.count * sizeof(struct cn_cct_cost) +
           task->costs.overflow_count * sizeof(struct cn_cct_overflow);
}

bool cn_cct_member_spill(struct cn_cct_member *member, const struct cn_spool *spool,
                         uint64_t off, struct cn_error *err)
{
    struct cn_cct_task *task = &member->task;

    member->spill_off = off;
    member->node_count = task->tree.count;
    member->cost_count = task->costs.count;
    member->overflow_count = task->costs.overflow_count;
    if (!cn_spool_write(spool, off, task->tree.links, links_len(member), err) ||
        !cn_spool_write(spool, off += links_len(member), task->costs.list,
                        costs_len(member), err) ||
        !cn_spool_write(spool, off + costs_len(member), task->costs.overflows,
                        overflows_len(member), err))
        return false;
    member->is_spilled = true;
    cn_cct_member_release(member);
    return true;
}

bool cn_cct_member_read_tree(const struct cn_cct_member *member,
                             const struct cn_spool *spool, struct cn_tree *out,
                             struct cn_error *err)
{
    struct cn_tree_link *links = cn_realloc(NULL, member->node_count, sizeof(*links));

    if (!cn_spool_read(spool, member->spill_off, links, links_len(member), err)) {
        free(links);
        return false;
    }
    cn_tree_restore(out, links, member->node_count);
    return true;
}

bool cn_cct_member_load(struct cn_cct_member *member, const struct cn_spool *spool,
                        struct cn_error *err)
{
    struct cn_cct_task *task = &member->task;
    uint64_t off = member->spill_off + links_len(member);

    if (!member->is_spilled)
        return true;
    if (!cn_cct_member_read_tree(member, spool, &task->tree, err))
        return false;
    task->costs = (struct cn_cct_costs){
        .list = cn_realloc(NULL, member->cost_count, sizeof(*task->costs.list)),
        .count = member->cost_count,
        .capacity = member->cost_count,
        .overflows =
            cn_realloc(NULL, member->overflow_count, sizeof(*task->costs.overflows)),
        .overflow_count = member->overflow_count,
        .overflow_capacity = member->overflow_count,
    };
    return cn_spool_read(spool, off, task->costs.list, costs_len(member), err) &&
           cn_spool_read(spool, off + costs_len(member), task->costs.overflows,
                         overflows_len(member), err);
}

void cn_cct_member_release(struct cn_cct_member *member)
{
    cn_cct_costs_done(&member->task.costs);
    if (member->is_spilled)
        cn_tree_done(&member->task.tree);
}
