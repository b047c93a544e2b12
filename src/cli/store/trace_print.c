#include "cli/store/trace_print.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/date.h"
#include "base/duration.h"
#include "base/text.h"
#include "cli/print/write.h"
#include "cli/shell/cli.h"
#include "cli/store/args.h"
#include "model/traces/links.h"
#include "model/traces/span.h"
#include "store/trace/distributed.h"
#include "store/trace/methods.h"

enum { FRAMES_SHOWN = 8 };

static const struct cn_column tree_columns[] = {
    {.name = "start", .title = "START", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
    {.name = "duration",
     .title = "DURATION",
     .kind = CN_COLUMN_TEXT,
     .align = CN_ALIGN_RIGHT},
    {.name = "share", .title = "SHARE", .kind = CN_COLUMN_PERCENT},
    {.name = "call", .title = "CALL", .kind = CN_COLUMN_TEXT},
};

struct printed_tree {
    struct cn_table *table;
    const struct cn_trace_set *set;
    const struct cn_trace_cut *cut;
    double duration_ns; /* of the trace */
    struct cn_text line;
};

bool cn_trace_is_cut(const struct cn_trace_cut *cut, const struct cn_trace_branch *branch,
                     uint32_t node, uint32_t depth)
{
    return depth > cut->depth || branch->trace.nodes[node].duration_ns < cut->min_ns;
}

static uint64_t first_time(const struct cn_trace_set *set)
{
    return set->branches[0].row.time_ns;
}

/* Add a line below a call, with its time since the epoch or NULL. */
static void add_timed_note(struct printed_tree *tree, const uint64_t *time_ns,
                           uint32_t depth, const char *note, enum cn_color color)
{
    struct cn_text line = {0};

    if (time_ns && *time_ns >= first_time(tree->set)) {
        cn_duration_print(&line, *time_ns - first_time(tree->set));
        cn_table_str(tree->table, cn_text_str(&line));
    } else {
        cn_table_none(tree->table);
    }
    cn_text_clear(&line);
    cn_indent_add(&line, depth + 2 < CN_INDENT_MAX ? depth + 2 : CN_INDENT_MAX);
    cn_text_str_add(&line, note);
    cn_table_none(tree->table);
    cn_table_none(tree->table);
    cn_table_paint(tree->table, color);
    cn_table_str(tree->table, cn_text_str(&line));
    cn_table_end_row(tree->table);
    cn_text_done(&line);
}

static void add_note(struct printed_tree *tree, uint32_t depth, const char *note,
                     enum cn_color color)
{
    add_timed_note(tree, NULL, depth, note, color);
}

static void add_list(struct printed_tree *tree, const struct cn_trace *trace,
                     uint32_t first, uint32_t depth)
{
    for (uint32_t a = first; a != CN_NONE; a = trace->attributes[a].next) {
        cn_text_clear(&tree->line);
        cn_words_print(trace->words, trace->attributes[a].key, &tree->line);
        cn_text_str_add(&tree->line, " = ");
        cn_trace_value_print(trace, &trace->attributes[a].value, &tree->line);
        add_note(tree, depth, cn_text_str(&tree->line), CN_COLOR_BLUE);
    }
}

static void add_word(struct printed_tree *tree, const struct cn_trace *trace,
                     const char *key, uint32_t word, uint32_t depth)
{
    if (word == 0)
        return;
    cn_text_clear(&tree->line);
    cn_text_printf(&tree->line, "%s = ", key);
    cn_words_print(trace->words, word, &tree->line);
    add_note(tree, depth, cn_text_str(&tree->line), CN_COLOR_BLUE);
}

/* Its resource and scope, where they are not those of the span around it. */
static void add_shared(struct printed_tree *tree, const struct cn_trace *trace,
                       const struct cn_trace_span *span, uint32_t depth)
{
    const struct cn_trace_resource *resource = cn_trace_new_resource(trace, span);
    const struct cn_trace_scope *scope = cn_trace_new_scope(trace, span);

    if (resource)
        add_list(tree, trace, resource->attributes.first, depth);
    if (!scope || scope->name == 0)
        return;
    cn_text_clear(&tree->line);
    cn_text_str_add(&tree->line, "scope = ");
    cn_words_print(trace->words, scope->name, &tree->line);
    cn_text_str_add(&tree->line, scope->version != 0 ? " " : "");
    cn_words_print(trace->words, scope->version, &tree->line);
    add_note(tree, depth, cn_text_str(&tree->line), CN_COLOR_BLUE);
}

static void add_links(struct printed_tree *tree, const struct cn_trace *trace,
                      const struct cn_trace_span *span, uint32_t depth)
{
    for (uint32_t i = 0; i < span->link_count; i++) {
        cn_text_clear(&tree->line);
        cn_text_str_add(&tree->line, "links to ");
        cn_trace_link_print(trace, &cn_trace_span_links(trace, span)[i], &tree->line);
        add_note(tree, depth, cn_text_str(&tree->line), CN_COLOR_BLUE);
    }
}

/* The exception of the call is printed after them, with its frames: its event has only the time. */
static void add_events(struct printed_tree *tree, const struct cn_trace *trace,
                       const struct cn_trace_span *span, uint32_t depth)
{
    const struct cn_trace_event *events = cn_trace_span_events(trace, span),
                                *thrown = NULL;

    for (uint32_t i = 0; i < span->event_count; i++)
        if (cn_trace_event_is_exception(trace, &events[i]))
            thrown = &events[i];
    for (uint32_t i = 0; i < span->event_count; i++) {
        const char *what = events[i].is_annotation ? "annotation = " : "event = ";

        cn_text_clear(&tree->line);
        cn_text_str_add(&tree->line, what);
        if (&events[i] == thrown)
            cn_words_print(trace->words, events[i].name, &tree->line);
        else
            cn_trace_event_print(trace, &events[i], &tree->line);
        add_timed_note(tree, &events[i].time_ns, depth, cn_text_str(&tree->line),
                       CN_COLOR_BLUE);
    }
}

static void add_attributes(struct printed_tree *tree, const struct cn_trace *trace,
                           uint32_t node, uint32_t depth)
{
    const struct cn_trace_node *call = &trace->nodes[node];

    add_list(tree, trace, call->first_attribute, depth);
    if (call->span == CN_NONE)
        return;
    const struct cn_trace_span *span = &trace->spans[call->span];
    add_shared(tree, trace, span, depth);
    add_word(tree, trace, "status.message", span->status_message, depth);
    add_links(tree, trace, span, depth);
    add_events(tree, trace, span, depth);
}

static void add_frames(struct printed_tree *tree, const struct cn_words *words,
                       uint32_t stack, uint32_t depth)
{
    size_t count = cn_word_part_count(words, stack);

    for (size_t i = 0; i < count && i < FRAMES_SHOWN; i++) {
        uint32_t frame = cn_word_part(words, stack, i);

        cn_text_clear(&tree->line);
        cn_text_str_add(&tree->line, cn_word_part(words, frame, 0) != 0 ? "at " : "");
        cn_words_print(words, frame, &tree->line);
        add_note(tree, depth + 1, cn_text_str(&tree->line), CN_COLOR_NONE);
    }
    if (count > FRAMES_SHOWN) {
        cn_text_clear(&tree->line);
        cn_text_printf(&tree->line, "... %zu more", count - FRAMES_SHOWN);
        add_note(tree, depth + 1, cn_text_str(&tree->line), CN_COLOR_NONE);
    }
}

static void add_exceptions(struct printed_tree *tree, const struct cn_trace *trace,
                           uint32_t node, uint32_t depth)
{
    const struct cn_words *words = trace->words;
    const char *lead = "threw ";

    /* A cause has a lower number than the exception it caused, so this ends. */
    for (uint32_t e = trace->nodes[node].exception;
         e != 0 && cn_word_kind(words, e) == CN_WORD_EXCEPTION;
         e = cn_word_part(words, e, 3)) {
        cn_text_clear(&tree->line);
        cn_text_str_add(&tree->line, lead);
        cn_words_print(words, cn_word_part(words, e, 0), &tree->line);
        if (cn_word_part(words, e, 1) != 0) {
            cn_text_str_add(&tree->line, ": ");
            cn_words_print(words, cn_word_part(words, e, 1), &tree->line);
        }
        add_note(tree, depth, cn_text_str(&tree->line), CN_COLOR_RED);
        add_frames(tree, words, cn_word_part(words, e, 2), depth);
        lead = "caused by ";
    }
}

/* The time of a call since the first of all, as far as the clocks of the agents agree. */
static uint64_t start_of(const struct cn_trace_set *set,
                         const struct cn_trace_branch *branch, uint32_t node)
{
    return branch->row.time_ns - first_time(set) + branch->trace.nodes[node].start_ns;
}

static bool print_call(void *arg, const struct cn_trace_branch *branch, uint32_t node,
                       uint32_t depth)
{
    struct printed_tree *tree = arg;
    const struct cn_trace_node *call = &branch->trace.nodes[node];

    if (cn_trace_is_cut(tree->cut, branch, node, depth))
        return false;
    cn_text_clear(&tree->line);
    cn_duration_print(&tree->line, start_of(tree->set, branch, node));
    cn_table_str(tree->table, cn_text_str(&tree->line));
    cn_text_clear(&tree->line);
    cn_duration_print(&tree->line, call->duration_ns);
    cn_text_str_add(&tree->line, call->flags & CN_TRACE_OPEN ? "+" : "");
    cn_table_str(tree->table, cn_text_str(&tree->line));
    cn_table_f64(tree->table, tree->duration_ns > 0
                                  ? 100 * (double)call->duration_ns / tree->duration_ns
                                  : 0);
    cn_text_clear(&tree->line);
    cn_indent_add(&tree->line, depth);
    cn_words_print_method_name(branch->trace.words, call->method, &tree->line);
    if (call->span != CN_NONE && branch->trace.spans[call->span].type != 0) {
        cn_text_str_add(&tree->line, "  [");
        cn_words_print(branch->trace.words, branch->trace.spans[call->span].type,
                       &tree->line);
        cn_text_char(&tree->line, ']');
    }
    if (call->flags & CN_TRACE_ERROR)
        cn_table_paint(tree->table, CN_COLOR_RED);
    cn_table_str(tree->table, cn_text_str(&tree->line));
    cn_table_end_row(tree->table);
    add_attributes(tree, &branch->trace, node, depth);
    add_exceptions(tree, &branch->trace, node, depth);
    return true;
}

void cn_trace_print_tree(const struct cn_trace_set *set, const struct cn_args *args,
                         const struct cn_trace_cut *cut)
{
    const struct cn_store_row *row = &set->branches[0].row;
    struct printed_tree tree = {
        .set = set, .cut = cut, .duration_ns = (double)cn_trace_set_duration_ns(set)};
    struct cn_text head = {0};

    cn_cli_page(args);
    cn_text_printf(&head, "Trace %016" PRIx64 "%016" PRIx64 ", ", row->trace_high,
                   row->trace_low);
    cn_date_print(&head, row->time_ns, 3);
    cn_text_str_add(&head, " UTC\n\n");
    cn_cli_print(args, &head);
    tree.table = cn_cli_table(args, tree_columns, 4);
    cn_trace_set_walk(set, print_call, &tree);
    cn_table_free(tree.table);
    cn_text_done(&tree.line);
    cn_text_done(&head);
}

static const struct cn_column method_texts[] = {
    {.name = "calls", .title = "CALLS", .kind = CN_COLUMN_U64},
    {.name = "errors", .title = "ERRORS", .kind = CN_COLUMN_U64},
    {.name = "self", .title = "SELF", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
    {.name = "total", .title = "TOTAL", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
    {.name = "min", .title = "MIN", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
    {.name = "max", .title = "MAX", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
    {.name = "method", .title = "METHOD", .kind = CN_COLUMN_TEXT},
};

static const struct cn_column method_columns[] = {
    {.name = "calls", .kind = CN_COLUMN_U64},
    {.name = "errors", .kind = CN_COLUMN_U64},
    {.name = "self_ns", .kind = CN_COLUMN_U64},
    {.name = "total_ns", .kind = CN_COLUMN_U64},
    {.name = "min_ns", .kind = CN_COLUMN_U64},
    {.name = "max_ns", .kind = CN_COLUMN_U64},
    {.name = "method", .kind = CN_COLUMN_TEXT},
};
enum { METHOD_COLUMNS = sizeof(method_columns) / sizeof(method_columns[0]) };

static void print_method(struct cn_table *table, bool is_text,
                         const struct cn_trace_methods *methods,
                         const struct cn_trace_method *method)
{
    const uint64_t times[] = {method->self_ns, method->total_ns, method->min_ns,
                              method->max_ns};

    cn_table_u64(table, method->calls);
    if (method->errors > 0)
        cn_table_paint(table, CN_COLOR_RED);
    cn_table_u64(table, method->errors);
    for (size_t i = 0; i < 4; i++)
        cn_table_time(table, is_text, times[i]);
    cn_table_str(table, methods->names.list[method->name]);
    cn_table_end_row(table);
}

void cn_trace_print_methods(const struct cn_trace_set *set, const struct cn_args *args,
                            const struct cn_trace_cut *cut)
{
    bool is_text = cn_cli_format(args) == CN_TABLE_TEXT;
    struct cn_trace_methods methods;

    cn_trace_methods_build(&methods, set, cut->depth, cut->min_ns);
    struct cn_table *table =
        cn_cli_table(args, is_text ? method_texts : method_columns, METHOD_COLUMNS);
    for (size_t i = 0; i < methods.count; i++)
        print_method(table, is_text, &methods, &methods.list[i]);
    cn_table_free(table);
    cn_trace_methods_done(&methods);
}
