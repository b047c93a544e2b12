/* cairn graph --task: the tree of tasks. */

#include <stdlib.h>

#include "analyze/calls/tasks.h"
#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "cli/graph/print.h"
#include "cli/print/fixed_width.h"
#include "model/calls/recording.h"

enum { TID_WIDTH = 7, FIELDS_WIDTH = 35 };

/* Tasks as a forest; indices are those of the list of costs. */
struct forest {
    const struct cn_recording *rec;
    const struct cn_call_tasks *tasks;
    uint32_t *order;  /* by first record */
    uint32_t *parent; /* CN_NONE: a root */
    bool *is_thread;  /* of its parent's process */
    uint32_t *depth;  /* processes above */
};

static int compare_starts(const void *a, const void *b, void *tasks)
{
    const struct cn_task_cost *list = ((const struct cn_call_tasks *)tasks)->list;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    if (list[x].first_ns != list[y].first_ns)
        return list[x].first_ns < list[y].first_ns ? -1 : 1;
    return x < y ? -1 : x > y;
}

static uint32_t position_of(const struct forest *forest, uint32_t task)
{
    for (uint32_t i = 0; task != CN_NONE && i < forest->tasks->count; i++)
        if (forest->tasks->list[i].task == task)
            return i;
    return CN_NONE;
}

/* The parent of a thread is the main thread of its process. */
static void find_parents(struct forest *forest)
{
    const struct cn_recording *rec = forest->rec;

    for (uint32_t i = 0; i < forest->tasks->count; i++) {
        const struct cn_task *task = &rec->tasks[forest->tasks->list[i].task];

        forest->is_thread[i] = task->tid != task->pid;
        forest->parent[i] = position_of(
            forest,
            forest->is_thread[i] ? cn_recording_find_task(rec, task->pid) : task->parent);
        if (forest->parent[i] == i)
            forest->parent[i] = CN_NONE;
    }
}

static void add_task(struct cn_graph_printer *printer, const struct forest *forest,
                     uint32_t at, unsigned level)
{
    const struct cn_task_cost *cost = &forest->tasks->list[at];
    const struct cn_task *task = &forest->rec->tasks[cost->task];
    struct cn_text *out = &printer->out;
    uint64_t total_ns = cost->last_ns - cost->first_ns;
    bool is_child = forest->parent[at] != CN_NONE;

    if (is_child && !forest->is_thread[at]) {
        cn_text_fill(out, ' ', FIELDS_WIDTH);
        cn_text_str_add(out, " :");
        for (unsigned i = 0; i < level; i++)
            cn_text_str_add(out, "  |    ");
        cn_text_char(out, '\n');
    }
    cn_text_str_add(out, "  ");
    cn_duration_add(out, total_ns);
    cn_text_str_add(out, "  ");
    cn_duration_add(out, total_ns > cost->slept_ns ? total_ns - cost->slept_ns : 0);
    cn_text_str_add(out, "  [");
    cn_number_add(out, task->tid, TID_WIDTH);
    cn_text_str_add(out, "] :");
    for (unsigned i = 1; i < level; i++)
        cn_text_str_add(out, "  |    ");
    cn_text_str_add(out, !is_child ? " " : forest->is_thread[at] ? "  +-" : "  +----");
    cn_utf8_add_printable(out, task->name);
    cn_text_char(out, '\n');
}

/* Print children below their parents, in the order of their first record. A task has at
 * most one parent, so none is visited twice; a cycle of parents is not reached. */
static void add_below(struct cn_graph_printer *printer, const struct forest *forest)
{
    size_t count = forest->tasks->count;
    uint32_t *stack = cn_alloc(count + 1, sizeof(*stack));
    size_t depth = 0;

    for (size_t i = count; i-- > 0;)
        if (forest->parent[forest->order[i]] == CN_NONE)
            stack[depth++] = forest->order[i];
    while (depth > 0) {
        uint32_t at = stack[--depth];

        add_task(printer, forest, at, forest->depth[at]);
        /* Processes last: threads belong to the task itself. */
        for (int pass = 0; pass < 2; pass++) {
            for (size_t i = count; i-- > 0;) {
                uint32_t child = forest->order[i];

                if (forest->parent[child] != at ||
                    forest->is_thread[child] != (pass != 0))
                    continue;
                forest->depth[child] = forest->depth[at] + 1;
                stack[depth++] = child;
            }
        }
    }
    free(stack);
}

void cn_graph_print_tasks(struct cn_graph_printer *printer,
                          const struct cn_recording *rec,
                          const struct cn_call_tasks *tasks)
{
    struct forest forest = {
        .rec = rec,
        .tasks = tasks,
        .order = cn_alloc(tasks->count, sizeof(*forest.order)),
        .parent = cn_alloc(tasks->count, sizeof(*forest.parent)),
        .is_thread = cn_alloc(tasks->count, sizeof(*forest.is_thread)),
        .depth = cn_alloc(tasks->count, sizeof(*forest.depth)),
    };

    cn_text_str_add(&printer->out, "========== TASK GRAPH ==========\n"
                                   "# TOTAL TIME   SELF TIME     TID      TASK NAME\n");
    for (uint32_t i = 0; i < tasks->count; i++)
        forest.order[i] = i;
    if (tasks->count > 0)
        qsort_r(forest.order, tasks->count, sizeof(*forest.order), compare_starts,
                (void *)(uintptr_t)tasks);
    find_parents(&forest);
    add_below(printer, &forest);
    cn_text_char(&printer->out, '\n');
    free(forest.order);
    free(forest.parent);
    free(forest.is_thread);
    free(forest.depth);
}
