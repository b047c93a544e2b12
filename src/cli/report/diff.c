/* cairn report --diff: the rows of two reports side by side. */

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/text.h"
#include "cli/print/fixed_width.h"
#include "cli/recording/options.h"
#include "cli/report/print.h"
#include "cli/shell/cli.h"
#include "model/calls/recording.h"

enum {
    GAP = 3,
    COMPACT_WIDTH = 11, /* of a difference */
    VALUE_WIDTH = 10,
    PERCENT_WIDTH = 8, /* of a difference beside both values */
    FULL_TIME_WIDTH = 35,
    FULL_WIDTH = 32,
    NAME_RULE = 20,
};

struct pair {
    const char *name;
    const struct cn_call_row *base, *other; /* NULL: none */
};

struct diff {
    const struct cn_recording *base_rec, *other_rec;
    const struct cn_report_layout *layout;
    struct pair *pairs;
    size_t count;
    bool is_absolute, is_percent, is_full;
    int sort_column;
};

static uint64_t side_value(const struct diff *diff, const struct pair *pair,
                           enum cn_report_field field, bool is_other)
{
    const struct cn_call_row *row = is_other ? pair->other : pair->base;

    return row ? cn_report_value(is_other ? diff->other_rec : diff->base_rec, row, field)
               : 0;
}

static int64_t change(const struct diff *diff, const struct pair *pair,
                      enum cn_report_field field)
{
    return (int64_t)(side_value(diff, pair, field, true) -
                     side_value(diff, pair, field, false));
}

/* NAN if the base is 0. */
static double percent_change(const struct diff *diff, const struct pair *pair,
                             enum cn_report_field field)
{
    uint64_t base = side_value(diff, pair, field, false);

    if (base == 0)
        return (double)NAN;
    return 100 * (double)change(diff, pair, field) / (double)base;
}

static bool is_deviation(enum cn_report_field field)
{
    return cn_report_fields[field].flags & CN_OUTPUT_PERCENT;
}

/* A deviation, in percent. */
static double deviation(const struct pair *pair, enum cn_report_field field,
                        bool is_other)
{
    const struct cn_call_row *row = is_other ? pair->other : pair->base;

    return row ? cn_report_percent(row, field) : 0;
}

/* In points of percent. */
static double deviation_change(const struct pair *pair, enum cn_report_field field)
{
    return deviation(pair, field, true) - deviation(pair, field, false);
}

static double sort_value(const struct diff *diff, const struct pair *pair,
                         enum cn_report_field field)
{
    bool is_other = diff->sort_column == 1;
    double value;

    if (diff->sort_column < 2)
        return is_deviation(field) ? deviation(pair, field, is_other)
                                   : (double)side_value(diff, pair, field, is_other);
    value = is_deviation(field) ? deviation_change(pair, field)
            : diff->is_percent && (cn_report_fields[field].flags & CN_OUTPUT_TIME)
                ? percent_change(diff, pair, field)
                : (double)change(diff, pair, field);
    if (isnan(value))
        value = 0;
    return diff->is_absolute ? fabs(value) : value;
}

static int compare_pairs(const void *a, const void *b, void *arg)
{
    const struct diff *diff = arg;
    const struct pair *x = a, *y = b;

    for (size_t i = 0; i < diff->layout->key_count; i++) {
        enum cn_report_field field = (enum cn_report_field)diff->layout->keys[i];

        if (diff->layout->keys[i] < 0)
            continue;
        double p = sort_value(diff, x, field);
        double q = sort_value(diff, y, field);
        if (p != q)
            return p > q ? -1 : 1;
    }
    return strcmp(x->name, y->name);
}

/* Merge the rows of both reports, which are sorted by name. */
static void pair_rows(struct diff *diff, const struct cn_call_report *base,
                      const struct cn_call_report *other)
{
    size_t i = 0, k = 0;

    diff->pairs = cn_alloc(base->row_count + other->row_count, sizeof(*diff->pairs));
    while (i < base->row_count || k < other->row_count) {
        struct pair *pair = &diff->pairs[diff->count++];
        int order = i == base->row_count ? 1
                    : k == other->row_count
                        ? -1
                        : strcmp(base->rows[i].name, other->rows[k].name);

        if (order <= 0)
            pair->base = &base->rows[i++];
        if (order >= 0)
            pair->other = &other->rows[k++];
        pair->name = pair->base ? pair->base->name : pair->other->name;
    }
}

static size_t group_width(const struct diff *diff, int field)
{
    if (!diff->is_full)
        return COMPACT_WIDTH;
    return (cn_report_fields[field].flags & CN_OUTPUT_TIME) && !diff->is_percent
               ? FULL_TIME_WIDTH
               : FULL_WIDTH;
}

static void add_heading(struct cn_text *text, const struct diff *diff)
{
    for (int i = 0; i < CN_REPORT_FIELD_COUNT; i++) {
        if (!diff->layout->has[i])
            continue;
        cn_text_fill(text, ' ', GAP);
        cn_text_fill(text, ' ',
                     group_width(diff, i) - strlen(cn_report_fields[i].heading) -
                         (diff->is_full ? strlen(" (diff)") : 0));
        cn_text_str_add(text, cn_report_fields[i].heading);
        if (diff->is_full)
            cn_text_str_add(text, " (diff)");
    }
    cn_text_str_add(text, "   Function\n");
    for (int i = 0; i < CN_REPORT_FIELD_COUNT; i++) {
        if (diff->layout->has[i]) {
            cn_text_fill(text, ' ', GAP);
            cn_text_fill(text, '=', group_width(diff, i));
        }
    }
    cn_text_fill(text, ' ', GAP);
    cn_text_fill(text, '=', NAME_RULE);
    cn_text_char(text, '\n');
}

static void add_signed_time(struct cn_text *text, int64_t ns)
{
    struct cn_text number = {0};
    uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    const char *digits;

    if (ns == 0) {
        cn_right_add(text, "0 us", COMPACT_WIDTH);
        return;
    }
    cn_duration_add(&number, size);
    digits = cn_text_str(&number);
    digits += strspn(digits, " ");
    cn_text_fill(text, ' ', COMPACT_WIDTH - 1 - strlen(digits));
    cn_text_char(text, ns < 0 ? '-' : '+');
    cn_text_str_add(text, digits);
    cn_text_done(&number);
}

static void add_percent(struct cn_text *text, double percent, size_t width)
{
    if (isnan(percent)) {
        cn_right_add(text, "N/A", width - 1);
        cn_text_char(text, ' ');
        return;
    }
    cn_text_printf(text, "%+*.2f%%", (int)width - 1, percent);
}

static void add_compact(struct cn_text *text, const struct diff *diff,
                        const struct pair *pair, enum cn_report_field field)
{
    if (is_deviation(field))
        cn_text_printf(text, "%+*.2f%%pt", COMPACT_WIDTH - 3,
                       deviation_change(pair, field));
    else if (cn_report_fields[field].flags & CN_OUTPUT_NUMBER)
        cn_text_printf(text, "%+*" PRId64, COMPACT_WIDTH, change(diff, pair, field));
    else if (diff->is_percent)
        add_percent(text, percent_change(diff, pair, field), COMPACT_WIDTH);
    else
        add_signed_time(text, change(diff, pair, field));
}

static void add_full(struct cn_text *text, const struct diff *diff,
                     const struct pair *pair, enum cn_report_field field)
{
    bool is_number = cn_report_fields[field].flags & CN_OUTPUT_NUMBER;

    if (is_deviation(field)) {
        cn_text_printf(text, "%*.2f%% %*.2f%% %+*.2f%%pt", VALUE_WIDTH - 1,
                       deviation(pair, field, false), VALUE_WIDTH - 1,
                       deviation(pair, field, true), VALUE_WIDTH - 3,
                       deviation_change(pair, field));
        return;
    }
    for (int is_other = 0; is_other <= 1; is_other++) {
        uint64_t value = side_value(diff, pair, field, is_other != 0);

        if (is_number)
            cn_number_add(text, value, VALUE_WIDTH);
        else if (value > 0)
            cn_duration_add(text, value);
        else
            cn_right_add(text, "-", VALUE_WIDTH);
        cn_text_str_add(text, is_number ? " " : "  ");
    }
    if (is_number)
        cn_text_printf(text, "%+*" PRId64, VALUE_WIDTH, change(diff, pair, field));
    else if (diff->is_percent)
        add_percent(text, percent_change(diff, pair, field), PERCENT_WIDTH);
    else
        add_signed_time(text, change(diff, pair, field));
}

static void add_pair(struct cn_text *text, const struct diff *diff,
                     const struct pair *pair)
{
    for (int i = 0; i < CN_REPORT_FIELD_COUNT; i++) {
        if (!diff->layout->has[i])
            continue;
        cn_text_fill(text, ' ', GAP);
        if (diff->is_full)
            add_full(text, diff, pair, (enum cn_report_field)i);
        else
            add_compact(text, diff, pair, (enum cn_report_field)i);
    }
    cn_text_fill(text, ' ', GAP);
    cn_utf8_add_printable(text, pair->name);
    cn_text_char(text, '\n');
}

static void add_origin(struct cn_text *text, unsigned index, const char *what,
                       const struct cn_recording *rec)
{
    const char *command = cn_recording_fact(rec, "cmdline");

    cn_text_printf(text, "#  [%u] %s: %s\t(from ", index, what, rec->path);
    cn_utf8_add_printable(text, command ? command : "an unknown command");
    cn_text_str_add(text, ")\n");
}

static void print_text(const struct cn_args *args, const struct diff *diff)
{
    struct cn_text text = {0};

    cn_text_str_add(&text, "#\n# uftrace diff\n");
    add_origin(&text, 0, "base", diff->base_rec);
    add_origin(&text, 1, "diff", diff->other_rec);
    cn_text_str_add(&text, "#\n");
    add_heading(&text, diff);
    for (size_t i = 0; i < diff->count; i++)
        add_pair(&text, diff, &diff->pairs[i]);
    cn_cli_print(args, &text);
    cn_text_done(&text);
}

/* Three columns per field: before, after, and the change. */
static void print_table(const struct cn_args *args, const struct diff *diff)
{
    struct cn_column columns[3 * CN_REPORT_FIELD_COUNT + 1] = {0};
    struct cn_arena arena = {0};
    size_t count = 0;

    for (int i = 0; i < CN_REPORT_FIELD_COUNT; i++) {
        static const char *const sides[] = {"base_", "other_", "change_"};

        for (size_t s = 0; diff->layout->has[i] && s < 3; s++)
            columns[count++] = (struct cn_column){
                .name =
                    cn_arena_printf(&arena, "%s%s", sides[s], cn_report_fields[i].key),
                .title = "",
                .kind = s < 2 && !is_deviation((enum cn_report_field)i) ? CN_COLUMN_U64
                                                                        : CN_COLUMN_F64,
            };
    }
    columns[count++] =
        (struct cn_column){.name = "function", .title = "", .kind = CN_COLUMN_TEXT};
    struct cn_table *table = cn_cli_table(args, columns, count);
    for (size_t p = 0; p < diff->count; p++) {
        for (int i = 0; i < CN_REPORT_FIELD_COUNT; i++) {
            enum cn_report_field field = (enum cn_report_field)i;

            if (!diff->layout->has[i])
                continue;
            if (is_deviation(field)) {
                cn_table_f64(table, deviation(&diff->pairs[p], field, false));
                cn_table_f64(table, deviation(&diff->pairs[p], field, true));
                cn_table_f64(table, deviation_change(&diff->pairs[p], field));
                continue;
            }
            cn_table_u64(table, side_value(diff, &diff->pairs[p], field, false));
            cn_table_u64(table, side_value(diff, &diff->pairs[p], field, true));
            cn_table_f64(table, (double)change(diff, &diff->pairs[p], field));
        }
        cn_table_str(table, diff->pairs[p].name);
        cn_table_end_row(table);
    }
    cn_table_free(table);
    cn_arena_done(&arena);
}

static bool parse_policy(struct diff *diff, const char *policy, struct cn_error *err)
{
    const struct {
        const char *name;
        bool *flag;
        bool value;
    } words[] = {
        {"abs", &diff->is_absolute, true},    {"no-abs", &diff->is_absolute, false},
        {"percent", &diff->is_percent, true}, {"no-percent", &diff->is_percent, false},
        {"full", &diff->is_full, true},       {"compact", &diff->is_full, false},
    };
    size_t count = sizeof(words) / sizeof(words[0]);

    for (const char *at = policy; *at;) {
        size_t len = strcspn(at, ","), i = 0;

        while (i < count &&
               (strlen(words[i].name) != len || memcmp(words[i].name, at, len) != 0))
            i++;
        if (i == count)
            return cn_fail(err, CN_ERR_USAGE,
                           "--diff-policy: '%.*s' is not one of abs, no-abs, percent, "
                           "no-percent, compact, full",
                           (int)len, at);
        *words[i].flag = words[i].value;
        at += len + (at[len] == ',');
    }
    return true;
}

bool cn_report_print_diff(const struct cn_recording_setup *setup,
                          const struct cn_report_layout *layout,
                          const struct cn_call_report *base,
                          const struct cn_recording *other_rec,
                          const struct cn_call_report *other, struct cn_error *err)
{
    const struct cn_args *args = setup->args;
    const char *policy = cn_args_value(args, "diff-policy");
    struct diff diff = {
        .base_rec = setup->rec,
        .other_rec = other_rec,
        .layout = layout,
        .is_absolute = true,
    };
    uint64_t column;

    if ((policy && !parse_policy(&diff, policy, err)) ||
        !cn_args_u64(args, "sort-column", 0, 2, 2, &column, err))
        return false;
    diff.sort_column = (int)column;
    pair_rows(&diff, base, other);
    if (diff.count > 0)
        qsort_r(diff.pairs, diff.count, sizeof(*diff.pairs), compare_pairs, &diff);
    if (cn_cli_format(args) == CN_TABLE_TEXT)
        print_text(args, &diff);
    else
        print_table(args, &diff);
    free(diff.pairs);
    return true;
}
