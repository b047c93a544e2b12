#include "cli/waits/print.h"

#include "analyze/wakers/sums.h"
#include "base/duration.h"
#include "base/text.h"
#include "cli/shell/cli.h"
#include "model/contexts/context.h"

enum {
    TIME,
    SHARE,
    COUNT,
    LONGEST,
    KIND,
    THREAD,
    SITE,
    BY,
    COLUMNS,
};

/* For people. */
static const struct cn_column text_columns[COLUMNS] = {
    [TIME] = {.name = "time",
              .title = "TIME",
              .kind = CN_COLUMN_TEXT,
              .align = CN_ALIGN_RIGHT},
    [SHARE] = {.name = "percent", .title = "%", .kind = CN_COLUMN_PERCENT},
    [COUNT] = {.name = "count", .title = "COUNT", .kind = CN_COLUMN_U64},
    [LONGEST] = {.name = "longest",
                 .title = "LONGEST",
                 .kind = CN_COLUMN_TEXT,
                 .align = CN_ALIGN_RIGHT},
    [KIND] = {.name = "kind", .title = "FOR", .kind = CN_COLUMN_TEXT},
    [THREAD] = {.name = "thread", .title = "THREAD", .kind = CN_COLUMN_TEXT},
    [SITE] = {.name = "in", .title = "IN", .kind = CN_COLUMN_TEXT, .fit = CN_FIT_NAME},
    [BY] = {.name = "by",
            .title = "WOKEN BY",
            .kind = CN_COLUMN_TEXT,
            .fit = CN_FIT_NAME},
};

static const struct cn_column data_columns[] = {
    {.name = "time_ns", .kind = CN_COLUMN_U64},
    {.name = "percent", .kind = CN_COLUMN_PERCENT},
    {.name = "count", .kind = CN_COLUMN_U64},
    {.name = "longest_ns", .kind = CN_COLUMN_U64},
    {.name = "longest_at_ns", .kind = CN_COLUMN_U64},
    {.name = "kind", .kind = CN_COLUMN_TEXT},
    {.name = "thread", .kind = CN_COLUMN_TEXT},
    {.name = "in", .kind = CN_COLUMN_TEXT},
    {.name = "woken_by", .kind = CN_COLUMN_TEXT},
    {.name = "woken_in", .kind = CN_COLUMN_TEXT},
    {.name = "context", .kind = CN_COLUMN_U64},
    {.name = "waker_context", .kind = CN_COLUMN_U64},
};

static const char *kind_name(const struct cn_wait_row *row)
{
    return row->kind < CN_WAIT_FOR_KINDS ? cn_wait_kind_names[row->kind] : "running";
}

static double percent(const struct cn_wait_sums *sums, const struct cn_wait_row *row)
{
    return sums->total_ns > 0 ? 100.0 * (double)row->time_ns / (double)sums->total_ns : 0;
}

static bool has_site(struct cn_wait_site site)
{
    return site.own != CN_NONE || site.call != CN_NONE;
}

static void add_site(const struct cn_wait_sums *sums, struct cn_wait_site site,
                     struct cn_text *out)
{
    cn_text_clear(out);
    if (has_site(site))
        cn_wait_site_print(sums->sites, site, out);
}

/* "end of worker", "worker: take → pthread_mutex_unlock". */
static void add_waker(const struct cn_wait_sums *sums, const struct cn_wait_row *row,
                      struct cn_text *out)
{
    const char *name = row->by_name != CN_NONE ? sums->names.list[row->by_name] : NULL;

    cn_text_clear(out);
    if (row->is_ending)
        cn_text_str_add(out, "end of ");
    if (name)
        cn_text_str_add(out, name);
    if (row->is_ending || !has_site(row->by))
        return;
    if (name)
        cn_text_str_add(out, ": ");
    cn_wait_site_print(sums->sites, row->by, out);
}

static void print_text(const struct cn_args *args, const struct cn_wait_sums *sums,
                       bool is_path, size_t most)
{
    struct cn_table *table =
        cn_cli_table(args, text_columns, is_path ? COLUMNS - 1 : COLUMNS);
    struct cn_text text = {0};

    for (size_t i = 0; i < sums->count && i < most; i++) {
        const struct cn_wait_row *row = &sums->list[i];

        cn_text_clear(&text);
        cn_duration_print(&text, row->time_ns);
        cn_table_str(table, cn_text_str(&text));
        cn_table_f64(table, percent(sums, row));
        cn_table_u64(table, row->count);
        cn_text_clear(&text);
        cn_duration_print(&text, row->longest_ns);
        cn_table_str(table, cn_text_str(&text));
        cn_table_str(table, kind_name(row));
        cn_table_str(table, sums->names.list[row->name]);
        cn_text_clear(&text);
        cn_wait_site_print(sums->sites, row->site, &text);
        cn_table_str(table, cn_text_str(&text));
        if (!is_path) {
            add_waker(sums, row, &text);
            cn_table_str(table, cn_text_str(&text));
        }
        cn_table_end_row(table);
    }
    cn_table_free(table);
    cn_text_done(&text);
}

static void print_data(const struct cn_args *args, const struct cn_wait_sums *sums)
{
    struct cn_table *table =
        cn_cli_table(args, data_columns, sizeof(data_columns) / sizeof(data_columns[0]));
    struct cn_text text = {0};

    for (size_t i = 0; i < sums->count; i++) {
        const struct cn_wait_row *row = &sums->list[i];

        cn_table_u64(table, row->time_ns);
        cn_table_f64(table, percent(sums, row));
        cn_table_u64(table, row->count);
        cn_table_u64(table, row->longest_ns);
        cn_table_u64(table, row->longest_at_ns);
        cn_table_str(table, kind_name(row));
        cn_table_str(table, sums->names.list[row->name]);
        add_site(sums, row->site, &text);
        cn_table_str(table, has_site(row->site) ? cn_text_str(&text) : NULL);
        cn_table_str(table,
                     row->by_name != CN_NONE ? sums->names.list[row->by_name] : NULL);
        add_site(sums, row->by, &text);
        cn_table_str(table, row->is_ending      ? "end"
                            : has_site(row->by) ? cn_text_str(&text)
                                                : NULL);
        cn_table_u64(table, row->context);
        cn_table_u64(table, row->by_context);
        cn_table_end_row(table);
    }
    cn_table_free(table);
    cn_text_done(&text);
}

void cn_waits_print(const struct cn_args *args, const struct cn_wait_sums *sums,
                    bool is_path, size_t most)
{
    if (cn_cli_format(args) == CN_TABLE_TEXT || cn_cli_format(args) == CN_TABLE_MARKDOWN)
        print_text(args, sums, is_path, most);
    else
        print_data(args, sums);
}
