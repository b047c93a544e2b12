/* cairn graph: who called whom in a recording. */

#include <stdlib.h>
#include <unistd.h>

#include "analyze/calls/call_graph.h"
#include "analyze/calls/call_tasks.h"
#include "base/alloc.h"
#include "cli/recording/graph_print.h"
#include "cli/recording/recording_options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "model/calls/recording.h"

/* Sessions, the newest first. */
static uint32_t *list_sessions(const struct cn_call_tree *tree, size_t *count)
{
    uint32_t *list = cn_alloc(tree->rec->session_count + 1, sizeof(*list));
    size_t used = 0;

    for (uint32_t id = tree->rec->session_count + 1; id-- > 0;)
        for (uint32_t at = tree->nodes[0].first_child; at; at = tree->nodes[at].next)
            if (tree->nodes[at].id == id)
                list[used++] = at;
    *count = used;
    return list;
}

static bool print_graph(struct cn_graph_printer *printer, const struct cn_call_tree *tree,
                        const char *function, struct cn_error *err)
{
    size_t count;
    uint32_t *sessions = list_sessions(tree, &count);
    bool is_found = !function;

    for (size_t i = 0; i < count; i++) {
        struct cn_call_subgraph sub;

        if (!function) {
            cn_graph_print_session(printer, tree, sessions[i]);
        } else if (cn_call_subgraph_build(&sub, tree, sessions[i], function)) {
            cn_graph_print_function(printer, tree, sessions[i], &sub, function);
            cn_call_subgraph_done(&sub);
            is_found = true;
        }
    }
    free(sessions);
    if (!is_found)
        return cn_fail(err, CN_ERR_NOT_FOUND, "function '%s' was never called", function);
    return true;
}

static bool graph_tasks(struct cn_recording_setup *setup,
                        struct cn_graph_printer *printer, struct cn_error *err)
{
    struct cn_call_tasks tasks;
    bool ok;

    cn_call_tasks_build(&tasks, &setup->query, setup->workers);
    cn_graph_print_tasks(printer, setup->rec, &tasks);
    cn_cli_print(setup->args, &printer->out);
    ok = cn_recording_setup_result(setup, &tasks.damages, err);
    cn_call_tasks_done(&tasks);
    return ok;
}

static bool graph_calls(struct cn_recording_setup *setup,
                        struct cn_graph_printer *printer, const char *function,
                        struct cn_error *err)
{
    struct cn_call_graph graph;
    bool ok = cn_call_graph_build(&graph, &setup->query, setup->workers, function != NULL,
                                  err) &&
              print_graph(printer, &graph.tree, function, err);

    cn_cli_print(setup->args, &printer->out);
    ok = ok && cn_recording_setup_result(setup, &graph.damages, err);
    cn_call_graph_done(&graph);
    return ok;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    size_t count = cn_args_count(args);
    const char *first = count > 0 ? cn_args_operand(args, 0) : NULL;
    /* A lone operand is a recording when there is one of that name, else a
     * function. */
    bool is_path =
        count == 2 || (first && !cn_args_has(args, "data") && access(first, F_OK) == 0);
    const char *function = count == 2 ? cn_args_operand(args, 1) : is_path ? NULL : first;
    struct cn_graph_printer printer = {.has_srcline = cn_args_has(args, "srcline")};
    struct cn_recording_setup setup;
    bool ok = cn_recording_setup_open(
                  &setup, args, cn_recording_path(args, is_path ? first : NULL), err) &&
              cn_graph_fields_parse(
                  &printer, cn_recording_setup_value(&setup, "output-fields"), err);

    if (ok && cn_args_has(args, "task"))
        ok = graph_tasks(&setup, &printer, err);
    else if (ok)
        ok = graph_calls(&setup, &printer, function, err);
    cn_text_done(&printer.out);
    cn_recording_setup_done(&setup);
    return ok;
}

static const struct cn_option options[] = {
    CN_RECORDING_OPTIONS,
    CN_RECORDING_RAW_OPTION,
    CN_RECORDING_FIELDS_OPTION(
        "columns: total, self, addr, total-avg, self-avg, none; +FIELD adds to "
        "total"),
    {.name = "task", .help = "show tasks and who started them instead of functions"},
    CN_RECORDING_SRCLINE_OPTION,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn graph", "see who called whom, how often and for how long"},
    {"cairn graph run.data parse -f +self", "see who called parse, and what it called"},
    {"cairn graph run.data --task", "see processes and threads"},
    {0},
};

const struct cn_command cn_cmd_graph = {
    .name = "graph",
    .section = CN_SECTION_RECORDING,
    .operands = "[DIR] [FUNC]",
    .operand_max = 2,
    .summary = "show who called whom in a recording",
    .description =
        "Prints a tree of calls for each program that was run: all calls of a function "
        "along the same path are one line, with their number and the time they took "
        "together. A function that calls only one other stands above it without a "
        "branch.\n\n"
        "With FUNC, only what FUNC calls, after the ways that lead to it.\n\n"
        "Damaged data counts up to the damage, which is then reported; the exit status "
        "is 3.",
    .examples = examples,
    .options = options,
    .run = run,
};
