/* cairn graph: the call graph of a recording. */

#include <unistd.h>

#include "analyze/calls/graph.h"
#include "analyze/calls/tasks.h"
#include "cli/graph/print.h"
#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "model/calls/recording.h"

/* Print the sessions, newest first. */
static bool print_graph(struct cn_graph_printer *printer, const struct cn_call_tree *tree,
                        const char *function, struct cn_error *err)
{
    bool is_found = !function;

    for (uint32_t id = tree->rec->session_count + 1; id-- > 0;) {
        for (uint32_t at = cn_call_tree_first(tree, 0); at;
             at = cn_call_tree_next(tree, at)) {
            struct cn_call_subgraph sub;

            if (cn_call_tree_id(tree, at) != id)
                continue;
            if (!function) {
                cn_graph_print_session(printer, tree, at);
            } else if (cn_call_subgraph_build(&sub, tree, at, function)) {
                cn_graph_print_function(printer, tree, at, &sub, function);
                cn_call_subgraph_done(&sub);
                is_found = true;
            }
        }
    }
    return is_found ||
           cn_fail(err, CN_ERR_NOT_FOUND, "function '%s' was never called", function);
}

static bool graph_tasks(struct cn_recording_setup *setup,
                        struct cn_graph_printer *printer, struct cn_error *err)
{
    struct cn_call_tasks tasks;

    cn_call_tasks_build(&tasks, &setup->query, setup->workers);
    cn_graph_print_tasks(printer, setup->rec, &tasks);
    cn_recording_tell_base(setup, "cairn tree");
    cn_cli_print(setup->args, &printer->out);
    bool ok = cn_recording_setup_result(setup, &tasks.damages, err);
    cn_call_tasks_done(&tasks);
    return ok;
}

/* `arg` is the name of a function, or NULL for all. */
static bool show(struct cn_recording_setup *setup, void *arg, struct cn_error *err)
{
    const char *function = arg;
    struct cn_graph_printer printer = {
        .args = setup->args, .has_srcline = cn_args_has(setup->args, "srcline")};
    struct cn_call_graph graph;
    bool ok = cn_graph_fields_parse(
        &printer, cn_recording_setup_value(setup, "output-fields"), err);

    if (ok && cn_args_has(setup->args, "task")) {
        ok = graph_tasks(setup, &printer, err);
    } else if (ok) {
        ok = cn_call_graph_build(
                 &graph, &setup->query, setup->workers,
                 (struct cn_call_graph_options){
                     .is_apart = function != NULL,
                     .with_extremes = cn_graph_fields_need_extremes(&printer)},
                 err) &&
             print_graph(&printer, &graph.tree, function, err);
        if (ok)
            cn_recording_tell_base(setup, "cairn tree");
        cn_cli_print(setup->args, &printer.out);
        ok = ok && cn_recording_setup_result(setup, &graph.damages, err);
        cn_call_graph_done(&graph);
    }
    cn_text_done(&printer.out);
    return ok;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *first = cn_args_find_operand(args, 0);
    const char *second = cn_args_find_operand(args, 1);
    /* A lone operand is a recording if that path exists, else a function. */
    bool is_path =
        second || (first && !cn_args_has(args, "data") && access(first, F_OK) == 0);

    struct cn_recording_source source = {0};

    return cn_cli_fit(args, err) &&
           cn_data_path(args, is_path ? first : NULL, &source.path, err) &&
           cn_recording_show(args, &source, show,
                             (void *)(uintptr_t)(is_path ? second : first), err);
}

static const struct cn_option options[] = {
    CN_RECORDING_OPTIONS,
    CN_RECORDING_RAW_OPTION,
    CN_RECORDING_FIELDS_OPTION(
        "columns: total, self, addr, total-avg, total-max, total-min, the same for "
        "self, all, none; +FIELD adds to the default (total)"),
    CN_OPTION("task", 0, NULL, "show the tree of tasks instead of functions"),
    CN_RECORDING_SRCLINE_OPTION,
    CN_RECORDING_THREADS_OPTION,
    CN_OPTION_WIDTH,
    CN_RECORDING_HTML_OPTION,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn graph", "show the call graph: who calls whom, how often, how long"},
    {"cairn graph run.data parse -f +self", "show callers and callees of parse"},
    {"cairn graph run.data --task", "show processes and threads"},
    {0},
};

const struct cn_command cn_cmd_graph = {
    .name = "graph",
    .operands = "[DIR] [FUNC]",
    .operand_max = 2,
    .scope = CN_FOR_CALLS,
    .summary = "show the call graph of a recording",
    .description =
        "Prints a tree of calls for each program that was run. Calls of a function along "
        "the same call path are one line, with their number and their total time. A "
        "function that calls only one other is printed above it without a branch.\n\n"
        "With FUNC, prints the call paths that lead to FUNC, and the calls below "
        "it.\n\n" CN_RECORDING_THREADS_TEXT "\n\n"
        "Damaged data is read up to the damage, which is then reported; the exit status "
        "is 3.",
    .examples = examples,
    .options = options,
    .run = run,
};
