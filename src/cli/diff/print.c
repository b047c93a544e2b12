#include "cli/diff/print.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/compare/explain.h"
#include "analyze/compare/line.h"
#include "base/alloc.h"
#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/print/write.h"
#include "cli/shell/cli.h"

enum { COLUMN_MAX = 20 };

struct diff_printer {
    const struct cn_diff_style *style;
    enum cn_table_format format;
    bool is_for_people;
    struct cn_table *table;
    struct cn_column columns[COLUMN_MAX];
    size_t column_count;
    bool has_verdicts;
    struct cn_text titles[3], label, path;
};

/* One row, whatever it is. */
struct diff_line {
    const char *kind;
    size_t depth;
    struct cn_compare_line numbers;
    const char *function, *label, *path;
};

/* Six significant digits of the larger side. */
static struct cn_column value_column(const struct diff_printer *p, const char *name,
                                     const char *title)
{
    const struct cn_comparison *c = p->style->c;
    double whole = fmax(fabs(c->whole[CN_SIDE_A]), fabs(c->whole[CN_SIDE_B]));
    double digits = whole > 0 ? floor(log10(whole)) + 1 : NAN;
    struct cn_column column = {.name = name, .title = title, .kind = CN_COLUMN_F64};

    if (isfinite(digits) && digits > -6 && c->scaling != CN_SCALE_PER_CALL) {
        column.kind = CN_COLUMN_FIXED;
        column.decimals = digits >= 6 ? 0 : (unsigned)(6 - fmax(digits, 0));
        /* Counts are whole numbers. */
        if (whole == floor(whole) && p->style->gross == floor(p->style->gross) &&
            c->run_count == 2)
            column.decimals = 0;
    }
    return column;
}

static void add_column(struct diff_printer *p, struct cn_column column)
{
    p->columns[p->column_count++] = column;
}

static void begin(struct diff_printer *p, const struct cn_diff_style *style,
                  const struct cn_args *args)
{
    const struct cn_comparison *c = style->c;
    struct cn_column difference;

    *p = (struct diff_printer){.style = style,
                               .format = cn_cli_format(args),
                               .is_for_people = cn_cli_is_for_people(args)};
    p->has_verdicts = cn_comparison_over(c) != CN_OVER_NOTHING;
    cn_text_printf(&p->titles[0], "A: %s%s%s%s", style->cost, *style->cost ? " " : "",
                   c->metric, style->ideal ? ", ideal" : "");
    cn_text_printf(&p->titles[1], "B");
    cn_text_printf(&p->titles[2], "%s", style->ideal ? "LOSS" : "DIFFERENCE");
    add_column(p, value_column(p, "a", cn_text_str(&p->titles[0])));
    add_column(p, value_column(p, "b", cn_text_str(&p->titles[1])));
    difference =
        value_column(p, style->ideal ? "loss" : "difference", cn_text_str(&p->titles[2]));
    difference.has_sign = true;
    add_column(p, difference);
    add_column(p, value_column(p, "plus_minus", p->has_verdicts ? "±95%" : NULL));
    add_column(p, (struct cn_column){.name = "ratio",
                                     .title = "RATIO",
                                     .kind = CN_COLUMN_FIXED,
                                     .decimals = 3});
    add_column(p, (struct cn_column){.name = "share_percent",
                                     .title = "SHARE",
                                     .kind = CN_COLUMN_PERCENT,
                                     .has_sign = true});
    add_column(p, (struct cn_column){.name = "real",
                                     .title = p->has_verdicts ? "REAL" : NULL,
                                     .kind = CN_COLUMN_TEXT});
    add_column(p, (struct cn_column){.name = "p", .kind = CN_COLUMN_F64});
    add_column(p, (struct cn_column){.name = "rank_p", .kind = CN_COLUMN_F64});
    add_column(p, (struct cn_column){.name = "kind", .kind = CN_COLUMN_TEXT});
    add_column(p, (struct cn_column){.name = "depth", .kind = CN_COLUMN_U64});
    add_column(p, (struct cn_column){.name = "calls_a", .kind = CN_COLUMN_F64});
    add_column(p, (struct cn_column){.name = "calls_b", .kind = CN_COLUMN_F64});
    add_column(p, (struct cn_column){.name = "function", .kind = CN_COLUMN_TEXT});
    add_column(p, (struct cn_column){.name = "path", .kind = CN_COLUMN_TEXT});
    add_column(p, (struct cn_column){.name = "label",
                                     .title = "CONTEXT",
                                     .kind = CN_COLUMN_TEXT,
                                     .fit = CN_FIT_NAME});
    p->table = cn_cli_table(args, p->columns, p->column_count);
}

static void end(struct diff_printer *p)
{
    cn_table_free(p->table);
    for (size_t i = 0; i < sizeof(p->titles) / sizeof(*p->titles); i++)
        cn_text_done(&p->titles[i]);
    cn_text_done(&p->label);
    cn_text_done(&p->path);
}

static void add_number(struct cn_table *table, double value)
{
    if (isfinite(value))
        cn_table_f64(table, value);
    else
        cn_table_none(table);
}

static const char *verdict_text(enum cn_verdict verdict, bool is_for_people)
{
    static const char *const words[] = {"?", "yes", "noise", "small"};

    return verdict == CN_VERDICT_UNKNOWN && !is_for_people ? "unknown" : words[verdict];
}

static void print_line(struct diff_printer *p, const struct diff_line *line)
{
    const struct cn_compare_line *numbers = &line->numbers;

    add_number(p->table, numbers->value[CN_SIDE_A]);
    add_number(p->table, numbers->value[CN_SIDE_B]);
    cn_table_paint(p->table, numbers->difference > 0   ? CN_COLOR_RED
                             : numbers->difference < 0 ? CN_COLOR_GREEN
                                                       : CN_COLOR_NONE);
    add_number(p->table, numbers->difference);
    add_number(p->table, numbers->half_width);
    add_number(p->table, numbers->ratio);
    add_number(p->table, numbers->share_percent);
    cn_table_str(p->table, verdict_text(numbers->verdict, p->is_for_people));
    add_number(p->table, numbers->p);
    add_number(p->table, numbers->rank_p);
    cn_table_str(p->table, line->kind);
    cn_table_u64(p->table, line->depth);
    add_number(p->table, numbers->calls[CN_SIDE_A]);
    add_number(p->table, numbers->calls[CN_SIDE_B]);
    cn_table_str(p->table, line->function);
    cn_table_str(p->table, line->path);
    cn_table_str(p->table, line->label);
    cn_table_end_row(p->table);
}

static void add_count(struct cn_text *text, double count)
{
    cn_count_print(text, (uint64_t)(count + 0.5));
}

/* "new: main > solve > norm", "norm (12 call paths), calls 1,000 → 2,000". */
static void describe(struct diff_printer *p, const struct cn_change *change)
{
    const struct cn_comparison *c = p->style->c;
    double a = change->calls[CN_SIDE_A], b = change->calls[CN_SIDE_B];

    cn_text_clear(&p->label);
    cn_text_clear(&p->path);
    cn_comparison_path_add(&p->path, c, change->node);
    if (change->kind != CN_CHANGE_SELF && change->kind != CN_CHANGE_CALLS)
        cn_text_printf(&p->label, "%s: ", cn_change_kind_name(change->kind));
    if (cn_change_has_path(change))
        cn_text_str_add(&p->label, cn_text_str(&p->path));
    else
        cn_comparison_label_add(&p->label, c, change->node);
    if (change->path_count > 1)
        cn_text_printf(&p->label, " (%u call paths)", change->path_count);
    if (change->kind != CN_CHANGE_NEW && change->kind != CN_CHANGE_GONE &&
        fabs(b - a) > 0.01 * a) {
        cn_text_str_add(&p->label, ", calls ");
        add_count(&p->label, a);
        cn_text_str_add(&p->label, " → ");
        add_count(&p->label, b);
    } else if (b != a && change->kind != CN_CHANGE_SELF) {
        cn_text_str_add(&p->label, ", ");
        cn_count_print_of(&p->label, (uint64_t)(fmax(a, b) + 0.5), "call");
    }
}

static void print_whole(struct diff_printer *p, const struct cn_explanation *e)
{
    struct diff_line line = {
        .kind = "whole",
        .numbers = cn_compare_line_of_change(p->style->c, &e->whole, p->style->gross),
        .label = "whole program",
    };

    print_line(p, &line);
}

static void print_change(struct diff_printer *p, const struct cn_change *change)
{
    const struct cn_comparison *c = p->style->c;
    struct diff_line line = {
        .kind = cn_change_kind_name(change->kind),
        .numbers = cn_compare_line_of_change(c, change, p->style->gross),
        .function = c->names.list[change->name],
    };

    describe(p, change);
    line.label = cn_text_str(&p->label);
    line.path = cn_text_str(&p->path);
    print_line(p, &line);
}

/* The answer first. */
static void print_sentence(const struct cn_diff_style *style,
                           const struct cn_explanation *e, enum cn_table_format format)
{
    struct cn_text text = {0};

    cn_explanation_sentence_add(&text, style->c, e);
    cn_text_str_add(&text, format == CN_TABLE_MARKDOWN ? "\n\n" : "\n");
    cn_text_flush(&text, stdout);
    cn_text_done(&text);
}

/* How much of the change the lines explain, and whether there is evidence. */
static void print_summary(const struct cn_diff_style *style,
                          const struct cn_explanation *e, const struct cn_args *args)
{
    const struct cn_comparison *c = style->c;
    struct cn_text text = {0};
    double percent = e->gross > 0 ? 100 * e->shown_gross / e->gross : 100;
    bool has_runs = e->over == CN_OVER_RUNS || e->over == CN_OVER_THREADS;

    if (has_runs)
        cn_text_printf(&text, "%zu and %zu %s: ", c->side_runs[CN_SIDE_A],
                       c->side_runs[CN_SIDE_B], cn_compare_over_name(e->over));
    if (e->changed_count == 0)
        cn_text_str_add(&text, "no difference");
    else if (e->over != CN_OVER_NOTHING && e->real_count + e->unknown_count == 0)
        cn_text_str_add(&text, "no context changed by more than noise");
    else if (e->over != CN_OVER_NOTHING && e->unknown_count == 0)
        cn_text_printf(
            &text, "%zu of %zu real %s %.0f%% of them", e->shown, e->real_count,
            cn_plural(e->real_count, "change explains", "changes explain"), percent);
    else if (e->over != CN_OVER_NOTHING)
        cn_text_printf(&text, "%zu of %zu %s %.0f%% of them", e->shown,
                       e->real_count + e->unknown_count,
                       cn_plural(e->real_count + e->unknown_count,
                                 "change that is or may be real explains",
                                 "changes that are or may be real explain"),
                       percent);
    else
        cn_text_printf(
            &text, "%zu of %zu %s %.0f%% of the change", e->shown, e->changed_count,
            cn_plural(e->changed_count, "change explains", "changes explain"), percent);
    if (cn_compare_over_is_single(e->over) && e->changed_count > 0)
        cn_text_printf(&text, "; over %s: one run each", cn_compare_over_name(e->over));
    if (e->over == CN_OVER_NOTHING && e->shown > 0)
        cn_text_str_add(&text, "; one run, no error bar");
    if (c->uncounted > 0)
        cn_text_printf(&text, "; %zu %s left out", c->uncounted,
                       cn_plural(c->uncounted, "context that one side never calls is",
                                 "contexts that one side never calls are"));
    cn_text_char(&text, '\n');
    if (cn_cli_format(args) == CN_TABLE_MARKDOWN && e->changed_count > 0)
        (void)putchar('\n');
    cn_text_flush(&text, stdout);
    cn_text_done(&text);
}

void cn_diff_print_changes(const struct cn_diff_style *style,
                           const struct cn_explanation *e, const struct cn_args *args)
{
    enum cn_table_format format = cn_cli_format(args);
    bool is_text = cn_cli_is_for_people(args);
    struct diff_printer p;

    if (is_text && e->changed_count > 0)
        print_sentence(style, e, format);
    if (!is_text || e->changed_count > 0) {
        begin(&p, style, args);
        if (e->changed_count > 0)
            print_whole(&p, e);
        for (size_t i = 0; i < e->shown; i++)
            print_change(&p, &e->list[i]);
        end(&p);
    }
    if (is_text)
        print_summary(style, e, args);
}

struct diff_level {
    uint32_t next;
};

static void print_row(struct diff_printer *p, const struct cn_compare_row *row,
                      size_t depth)
{
    const struct cn_comparison *c = p->style->c;
    struct diff_line line = {
        .kind = "row",
        .depth = depth,
        .numbers = cn_compare_line_of_row(c, row, p->style->gross),
        .function = c->names.list[c->nodes[row->node].name],
    };

    cn_text_clear(&p->path);
    cn_comparison_path_add(&p->path, c, row->node);
    cn_text_clear(&p->label);
    if (p->format == CN_TABLE_TEXT)
        cn_indent_add(&p->label, depth);
    cn_comparison_label_add(&p->label, c, row->node);
    line.label = cn_text_str(&p->label);
    line.path = cn_text_str(&p->path);
    print_line(p, &line);
}

void cn_diff_print_rows(const struct cn_diff_style *style, struct cn_compare_rows *rows,
                        size_t depth_max, const struct cn_args *args)
{
    struct diff_printer p;
    struct diff_level *levels = NULL;
    size_t depth = 0, capacity = 0, printed = 0;

    begin(&p, style, args);
    CN_GROW(levels, depth, capacity);
    levels[depth++].next = cn_compare_rows_sort(rows, CN_NONE);
    while (depth > 0) {
        uint32_t at = levels[depth - 1].next;

        if (at == CN_NONE) {
            depth--;
            continue;
        }
        levels[depth - 1].next = rows->list[at].next_sibling;
        if (rows->list[at].gross == 0 &&
            rows->list[at].value[CN_SIDE_A] == rows->list[at].value[CN_SIDE_B])
            continue;
        print_row(&p, &rows->list[at], depth - 1);
        printed++;
        if (depth < depth_max) {
            CN_GROW(levels, depth, capacity);
            levels[depth++].next = cn_compare_rows_sort(rows, at);
        }
    }
    end(&p);
    free(levels);
    if (printed == 0)
        cn_cli_say(args, "no difference");
}
