/* The critical path of a stored trace. */

#include "base/text.h"
#include "cli/print/write.h"
#include "cli/shell/cli.h"
#include "cli/store/args.h"
#include "cli/store/trace_print.h"
#include "store/trace/critical_path.h"
#include "store/trace/distributed.h"

static const struct cn_column texts[] = {
    {.name = "start", .title = "START", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
    {.name = "path", .title = "ON PATH", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
    {.name = "share", .title = "SHARE", .kind = CN_COLUMN_PERCENT},
    {.name = "service", .title = "SERVICE", .kind = CN_COLUMN_TEXT},
    {.name = "call", .title = "CALL", .kind = CN_COLUMN_TEXT},
};

static const struct cn_column columns[] = {
    {.name = "start_ns", .kind = CN_COLUMN_U64},
    {.name = "path_ns", .kind = CN_COLUMN_U64},
    {.name = "share_percent", .kind = CN_COLUMN_PERCENT},
    {.name = "service", .kind = CN_COLUMN_TEXT},
    {.name = "method", .kind = CN_COLUMN_TEXT},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

struct printing {
    const struct cn_trace_set *set;
    const struct cn_critical_path *path;
    struct cn_table *table;
    bool is_text;
};

static void add_service(struct printing *printing, const struct cn_trace *trace,
                        uint32_t node)
{
    uint32_t span = trace->nodes[node].span;
    struct cn_text text = {0};

    if (span != CN_NONE && trace->spans[span].service != 0) {
        cn_words_print(trace->words, trace->spans[span].service, &text);
        cn_table_str(printing->table, cn_text_str(&text));
    } else {
        cn_table_none(printing->table);
    }
    cn_text_done(&text);
}

static bool print_call(void *arg, const struct cn_trace_branch *branch, uint32_t node,
                       uint32_t depth)
{
    struct printing *printing = arg;
    const struct cn_critical_path *path = printing->path;
    uint64_t self_ns = path->self_ns[branch - printing->set->branches][node];
    uint64_t start_ns = branch->row.time_ns + branch->trace.nodes[node].start_ns;
    struct cn_text text = {0};

    if (self_ns == UINT64_MAX)
        return false;
    cn_table_time(printing->table, printing->is_text,
                  start_ns > path->begin_ns ? start_ns - path->begin_ns : 0);
    cn_table_time(printing->table, printing->is_text, self_ns);
    cn_table_f64(printing->table,
                 100 * (double)self_ns / (double)(path->end_ns - path->begin_ns));
    add_service(printing, &branch->trace, node);
    if (printing->is_text)
        cn_indent_add(&text, depth);
    cn_words_print_method_name(branch->trace.words, branch->trace.nodes[node].method,
                               &text);
    if (branch->trace.nodes[node].flags & CN_TRACE_ERROR)
        cn_table_paint(printing->table, CN_COLOR_RED);
    cn_table_str(printing->table, cn_text_str(&text));
    cn_table_end_row(printing->table);
    cn_text_done(&text);
    return true;
}

/* The time between calls without a caller, as where their caller did not arrive: without it, shares do
 * not add up. */
static void print_between(struct printing *printing)
{
    const struct cn_critical_path *path = printing->path;
    uint64_t sum_ns = 0, start_ns = 0;

    for (size_t i = path->count; i-- > 0;)
        if (path->steps[i].branch == CN_NONE) {
            sum_ns += path->steps[i].end_ns - path->steps[i].begin_ns;
            start_ns = path->steps[i].begin_ns - path->begin_ns;
        }
    if (sum_ns == 0)
        return;
    cn_table_time(printing->table, printing->is_text, start_ns);
    cn_table_time(printing->table, printing->is_text, sum_ns);
    cn_table_f64(printing->table,
                 100 * (double)sum_ns / (double)(path->end_ns - path->begin_ns));
    cn_table_none(printing->table);
    if (printing->is_text)
        cn_table_str(printing->table, "(between calls)");
    else
        cn_table_none(printing->table);
    cn_table_end_row(printing->table);
}

void cn_trace_print_path(const struct cn_trace_set *set, const struct cn_args *args)
{
    struct cn_critical_path path;
    struct printing printing = {
        .set = set,
        .path = &path,
        .is_text = cn_cli_format(args) == CN_TABLE_TEXT,
    };

    cn_critical_path_find(&path, set);
    printing.table = cn_cli_table(args, printing.is_text ? texts : columns, COLUMNS);
    cn_trace_set_walk(set, print_call, &printing);
    print_between(&printing);
    cn_table_free(printing.table);
    cn_critical_path_done(&path);
}
