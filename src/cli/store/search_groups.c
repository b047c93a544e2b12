/* Groups of what a search finds, by value and by time. */

#include "cli/store/search_groups.h"

#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/store/args.h"
#include "store/groups/group.h"
#include "store/groups/steps.h"

static const struct cn_column group_texts[] = {
    {.name = "count", .title = "COUNT", .kind = CN_COLUMN_U64},
    {.name = "error_percent", .title = "ERRORS", .kind = CN_COLUMN_PERCENT},
    {.name = "p50", .title = "P50", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
    {.name = "p90", .title = "P90", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
    {.name = "p99", .title = "P99", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
    {.name = "max", .title = "MAX", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
    {.name = "value", .title = "VALUE", .kind = CN_COLUMN_TEXT},
};
enum { GROUP_TEXTS = sizeof(group_texts) / sizeof(group_texts[0]) };

static const struct cn_column group_columns[] = {
    {.name = "count", .kind = CN_COLUMN_U64},
    {.name = "error_percent", .kind = CN_COLUMN_PERCENT},
    {.name = "error_count", .kind = CN_COLUMN_U64},
    {.name = "p50_ns", .kind = CN_COLUMN_U64},
    {.name = "p90_ns", .kind = CN_COLUMN_U64},
    {.name = "p99_ns", .kind = CN_COLUMN_U64},
    {.name = "max_ns", .kind = CN_COLUMN_U64},
    {.name = "total_ns", .kind = CN_COLUMN_U64},
    {.name = "value", .kind = CN_COLUMN_TEXT},
};
enum { GROUP_COLUMNS = sizeof(group_columns) / sizeof(group_columns[0]) };

static const struct cn_column value_columns[] = {
    {.name = "count", .title = "COUNT", .kind = CN_COLUMN_U64},
    {.name = "value", .title = "VALUE", .kind = CN_COLUMN_TEXT},
};

static void add_value(struct cn_table *table, struct cn_text *text,
                      const struct cn_groups *groups, const struct cn_group *group)
{
    cn_text_clear(text);
    cn_words_print(&groups->values, group->value, text);
    cn_table_str(table, cn_text_str(text));
    cn_table_end_row(table);
}

static void print_group(struct cn_table *table, bool is_text, struct cn_text *text,
                        const struct cn_groups *groups, const struct cn_group *group)
{
    const uint64_t durations[] = {group->p50_ns, group->p90_ns, group->p99_ns,
                                  group->max_ns};

    if (group->error_count > 0)
        cn_table_paint(table, CN_COLOR_RED);
    cn_table_f64(table, 100.0 * (double)group->error_count / (double)group->count);
    if (!is_text)
        cn_table_u64(table, group->error_count);
    for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++)
        cn_table_time(table, is_text, durations[i]);
    if (!is_text)
        cn_table_u64(table, group->total_ns);
    add_value(table, text, groups, group);
}

bool cn_store_print_groups(struct cn_store_query *query, const struct cn_args *args,
                           enum cn_search_unit unit, uint64_t limit, uint64_t offset,
                           struct cn_error *err)
{
    const char *by = cn_args_value(args, "group-by");
    bool has_values_only = !by, is_text = cn_cli_format(args) == CN_TABLE_TEXT;
    struct cn_column columns[GROUP_COLUMNS + 1];
    struct cn_groups groups;
    struct cn_text text = {0};

    if (has_values_only)
        by = cn_args_value(args, "values");
    if (!cn_search_group(query->search, query->query, unit, by, SIZE_MAX, &groups, err))
        return false;
    bool has_estimates = cn_store_has_estimates(query->store);
    struct cn_table *table = cn_store_table(args,
                                            has_values_only ? value_columns
                                            : is_text       ? group_texts
                                                            : group_columns,
                                            has_values_only ? 2
                                            : is_text       ? GROUP_TEXTS
                                                            : GROUP_COLUMNS,
                                            0, has_estimates, columns);
    for (size_t i = (size_t)offset; i < groups.count && i - offset < limit; i++) {
        cn_store_put_count(table, groups.list[i].count, has_estimates,
                           groups.list[i].estimate);
        if (has_values_only) {
            add_value(table, &text, &groups, &groups.list[i]);
        } else {
            print_group(table, is_text, &text, &groups, &groups.list[i]);
        }
    }
    cn_table_free(table);
    if (groups.count == 0)
        cn_cli_say(args, "no %s matches", unit == CN_SEARCH_SPANS ? "span" : "trace");
    cn_text_done(&text);
    cn_groups_done(&groups);
    return true;
}

static const struct cn_column step_texts[] = {
    {.name = "time", .title = "TIME", .kind = CN_COLUMN_TEXT},
    {.name = "count", .title = "COUNT", .kind = CN_COLUMN_U64},
    {.name = "rate", .title = "PER SECOND", .kind = CN_COLUMN_FIXED, .decimals = 3},
    {.name = "error_percent", .title = "ERRORS", .kind = CN_COLUMN_PERCENT},
    {.name = "p50", .title = "P50", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
    {.name = "p90", .title = "P90", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
    {.name = "p99", .title = "P99", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
};

static const struct cn_column step_columns[] = {
    {.name = "time_ns", .kind = CN_COLUMN_U64},
    {.name = "count", .kind = CN_COLUMN_U64},
    {.name = "count_per_second", .kind = CN_COLUMN_F64},
    {.name = "error_percent", .kind = CN_COLUMN_PERCENT},
    {.name = "p50_ns", .kind = CN_COLUMN_U64},
    {.name = "p90_ns", .kind = CN_COLUMN_U64},
    {.name = "p99_ns", .kind = CN_COLUMN_U64},
};
enum { STEP_COLUMNS = sizeof(step_columns) / sizeof(step_columns[0]) };

bool cn_store_print_steps(struct cn_store_query *query, const struct cn_args *args,
                          enum cn_search_unit unit, uint64_t count, struct cn_error *err)
{
    bool is_text = cn_cli_format(args) == CN_TABLE_TEXT;
    struct cn_search_steps steps;

    if (!cn_search_steps(query->search, query->query, unit, (size_t)count, &steps, err))
        return false;
    bool has_estimates = cn_store_has_estimates(query->store);
    struct cn_column columns[STEP_COLUMNS + 1];
    struct cn_table *table = cn_store_table(args, is_text ? step_texts : step_columns,
                                            STEP_COLUMNS, 1, has_estimates, columns);
    for (size_t i = 0; steps.step_ns > 0 && i < steps.count; i++) {
        const struct cn_search_step *step = &steps.list[i];
        const uint64_t durations[] = {step->p50_ns, step->p90_ns, step->p99_ns};

        cn_store_put_time(table, is_text, steps.first_ns + i * steps.step_ns);
        cn_store_put_count(table, step->count, has_estimates, step->estimate);
        cn_store_put_rate(table, step->count, steps.step_ns);
        if (step->count > 0)
            cn_table_f64(table, 100.0 * (double)step->error_count / (double)step->count);
        else
            cn_table_none(table);
        for (size_t d = 0; d < sizeof(durations) / sizeof(durations[0]); d++) {
            if (step->count > 0)
                cn_table_time(table, is_text, durations[d]);
            else
                cn_table_none(table);
        }
        cn_table_end_row(table);
    }
    cn_table_free(table);
    if (steps.step_ns == 0)
        cn_cli_say(args, "no %s matches", unit == CN_SEARCH_SPANS ? "span" : "trace");
    cn_search_steps_done(&steps);
    return true;
}
