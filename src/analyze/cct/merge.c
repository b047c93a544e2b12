#include "analyze/cct/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/gpu/work.h"

void cn_cct_merged_init(struct cn_cct_merged *merged,
                        const struct cn_cct_locations *locations)
{
    *merged = (struct cn_cct_merged){.names.locations = locations};
    cn_tree_init(&merged->tree);
}

void cn_cct_merged_done(struct cn_cct_merged *merged)
{
    cn_tree_done(&merged->tree);
    cn_cct_names_done(&merged->names);
    free(merged->self_ns);
    free(merged->ids);
    *merged = (struct cn_cct_merged){0};
}

void cn_cct_functions_init(struct cn_cct_functions *functions,
                           const struct cn_recording *rec)
{
    functions->numbers = cn_alloc(rec->function_count, sizeof(uint32_t));
}

void cn_cct_functions_done(struct cn_cct_functions *functions)
{
    free(functions->numbers);
    *functions = (struct cn_cct_functions){0};
}

static uint32_t function_number(struct cn_cct_merged *merged,
                                struct cn_cct_functions *functions,
                                const struct cn_cct_task *task, uint32_t key)
{
    const struct cn_recording *rec = task->options.query->rec;
    char buffer[CN_CALL_NAME_MAX];

    if (key >= rec->function_count)
        return cn_cct_names_other(&merged->names,
                                  cn_call_name(rec, CN_NONE,
                                               cn_call_ids_address(&task->ids, rec, key),
                                               buffer));
    if (functions->numbers[key] == 0)
        functions->numbers[key] = 1 + cn_cct_names_function(&merged->names, rec, key);
    return functions->numbers[key] - 1;
}

/* The chain of inlined functions and lines of a call site, below the caller. An unknown call
 * site is the caller itself. */
static cn_cct_id site_node(struct cn_cct_merged *merged, const struct cn_cct_task *task,
                           cn_cct_id node, uint32_t site)
{
    const struct cn_recording *rec = task->options.query->rec;
    const struct cn_cct_locations *locations = merged->names.locations;
    /* The recorded address is the return address. */
    uint64_t address = task->sites[site] - 1, time_ns = task->site_times[site];
    const struct cn_mapping *m =
        cn_recording_mapping_at(rec, task->options.task, time_ns, address);
    struct cn_inlined_location list[CN_LOCATION_DEPTH_MAX];
    size_t count = 0;

    if (m && locations)
        count = locations->instruction(locations->arg, &rec->modules[m->module],
                                       address - m->begin, list);
    for (size_t i = 0; i < count; i++) {
        if (list[i].function)
            node =
                cn_tree_child(&merged->tree, node,
                              CN_CCT_KEY_INLINED |
                                  cn_cct_names_other(&merged->names, list[i].function));
        if (list[i].location.file) {
            uint32_t file = cn_cct_names_file(&merged->names, list[i].location.file);

            node =
                cn_tree_child(&merged->tree, node,
                              CN_CCT_KEY_LINE | cn_cct_names_line(&merged->names, file,
                                                                  list[i].location.line));
        }
    }
    return node;
}

static bool is_gpu(uint32_t key)
{
    return key >= CN_CCT_GPU;
}

/* What is below a kind of GPU work is a kernel. */
static bool is_kind(uint32_t key)
{
    return is_gpu(key) && key != (CN_CCT_GPU | CN_GPU_PLACE_CAPTURED);
}

/* A kind of GPU work, or a kernel below it. */
static uint32_t gpu_function(struct cn_cct_merged *merged, const struct cn_cct_task *task,
                             uint32_t key)
{
    const struct cn_call_module module = {.path = CN_GPU_MODULE, .build_id = ""};

    if (is_gpu(key))
        return cn_cct_names_other(
            &merged->names, cn_gpu_place_name((enum cn_gpu_place)(key - CN_CCT_GPU)));
    return cn_cct_names_known(
        &merged->names,
        &(struct cn_function){
            .name = cn_cct_names_text(&merged->names,
                                      task->options.query->rec->functions[key].name),
            .module = cn_cct_names_module(&merged->names, &module),
            .file = CN_NONE});
}

static enum cn_entry entry_of(const struct cn_cct_task *task)
{
    const struct cn_recording *rec = task->options.query->rec;
    const struct cn_task *t = &rec->tasks[task->options.task];

    if (t->is_stream)
        return CN_ENTRY_UNKNOWN;

    /* Which task has a trace depends on others at the same time. */
    if (t->pid == 0 || rec->trace_count > 0)
        return CN_ENTRY_UNKNOWN;
    return t->tid == t->pid ? CN_ENTRY_MAIN_THREAD : CN_ENTRY_APPLICATION_THREAD;
}

bool cn_cct_merged_add(struct cn_cct_merged *merged, struct cn_cct_functions *functions,
                       const struct cn_cct_task *task, uint32_t **nodes,
                       struct cn_error *err)
{
    uint32_t *list = cn_alloc(task->tree.count, sizeof(*list));

    list[0] = cn_tree_child(&merged->tree, 0, entry_of(task));
    merged->is_of_traces |= task->options.query->rec->trace_count > 0;
    /* Where switches were recorded and there were none, nothing waited. */
    merged->has_waits |=
        (task->options.query->rec->features & CN_FEATURE_PERF_EVENT) != 0;
    for (size_t i = 1; i < task->tree.count; i++) {
        const struct cn_tree_link *link = &task->tree.links[i];
        cn_cct_id parent = list[link->parent];
        enum cn_wait kind;

        if (cn_cct_task_is_wait(task, link->key, &kind)) {
            list[i] = parent;
            merged->has_waits = true;
            continue;
        }
        /* The root has the largest key. */
        if (is_gpu(link->key) ||
            (link->parent != 0 && is_kind(task->tree.links[link->parent].key)))
            list[i] = cn_tree_child(&merged->tree, parent,
                                    gpu_function(merged, task, link->key));
        else if (link->key & CN_CCT_SITE)
            list[i] = site_node(merged, task, parent, link->key & ~CN_CCT_SITE);
        else
            list[i] = cn_tree_child(&merged->tree, parent,
                                    function_number(merged, functions, task, link->key));
    }
    /* The largest id is CN_NONE. */
    if (merged->tree.is_full || merged->tree.count >= UINT32_MAX - 1) {
        free(list);
        return cn_fail(err, CN_ERR_LIMIT, "more contexts than 32 bits can number");
    }
    *nodes = list;
    return true;
}

void cn_cct_merged_weigh_node(struct cn_cct_merged *merged, cn_cct_id node,
                              uint64_t self_ns)
{
    if (merged->self_capacity <= node) {
        size_t capacity = merged->tree.count * 2;

        merged->self_ns = cn_realloc(merged->self_ns, capacity, sizeof(uint64_t));
        memset(merged->self_ns + merged->self_capacity, 0,
               (capacity - merged->self_capacity) * sizeof(uint64_t));
        merged->self_capacity = capacity;
    }
    merged->self_ns[node] += self_ns;
}

void cn_cct_merged_weigh(struct cn_cct_merged *merged, const struct cn_cct_costs *costs,
                         const uint32_t *nodes, size_t count)
{
    for (size_t i = 0; i < count && i < costs->count; i++)
        cn_cct_merged_weigh_node(merged, nodes[i], costs->list[i].self_ns);
}

void cn_cct_merged_weigh_open(struct cn_cct_merged *merged,
                              const struct cn_cct_task *task, const uint32_t *nodes)
{
    for (size_t i = 0; i < task->open_call_count; i++)
        cn_cct_merged_weigh_node(merged, nodes[task->open_calls[i].node],
                                 task->open_calls[i].self_ns);
}

void cn_cct_merged_number(struct cn_cct_merged *merged, uint64_t min_ns)
{
    const struct cn_tree_link *links = merged->tree.links;
    uint32_t next = 1;

    if (min_ns > 0) { /* self times become totals */
        cn_cct_merged_weigh_node(merged, (cn_cct_id)(merged->tree.count - 1), 0);
        for (size_t i = merged->tree.count; i-- > 1;)
            merged->self_ns[links[i].parent] += merged->self_ns[i];
    }
    cn_tree_sort(&merged->tree);
    merged->ids = cn_alloc(merged->tree.count, sizeof(*merged->ids));
    for (cn_cct_id i = cn_tree_after(&merged->tree, 0, 0, false); i != 0;
         i = cn_tree_after(&merged->tree, 0, i, false)) {
        bool is_entry = links[i].parent == 0;

        merged->ids[i] = is_entry || min_ns == 0 || merged->self_ns[i] >= min_ns
                             ? next++
                             : merged->ids[links[i].parent];
    }
    merged->context_count = next;
    free(merged->self_ns);
    merged->self_ns = NULL;
}
