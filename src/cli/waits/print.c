#include "cli/waits/print.h"

#include "analyze/wakers/sums.h"
#include "base/text.h"
#include "cli/print/quantity.h"
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
    LOCK,
    COLUMNS,
};

/* For people. */
static const struct cn_column text_columns[COLUMNS] = {
    [TIME] = CN_COLUMN_RIGHT("time", "TIME"),
    [SHARE] = {.name = "percent", .title = "%", .kind = CN_COLUMN_PERCENT},
    [COUNT] = {.name = "count", .title = "COUNT", .kind = CN_COLUMN_U64},
    [LONGEST] = CN_COLUMN_RIGHT("longest", "LONGEST"),
    [KIND] = {.name = "kind", .title = "FOR", .kind = CN_COLUMN_TEXT},
    [THREAD] = {.name = "thread", .title = "THREAD", .kind = CN_COLUMN_TEXT},
    [SITE] = {.name = "in", .title = "IN", .kind = CN_COLUMN_TEXT, .fit = CN_FIT_NAME},
    [BY] = {.name = "by",
            .title = "WOKEN BY",
            .kind = CN_COLUMN_TEXT,
            .fit = CN_FIT_NAME},
    [LOCK] = {.name = "lock",
              .title = "LOCK",
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
    {.name = "evidence", .kind = CN_COLUMN_TEXT},
    {.name = "lock", .kind = CN_COLUMN_TEXT},
};

/* What the kind is known from; none if it is unknown. */
static const char *evidence(const struct cn_wait_row *row)
{
    return row->kind == CN_WAIT_FOR_UNKNOWN ? NULL
           : row->is_inferred               ? "inferred"
                                            : "recorded";
}

static void add_site(const struct cn_wait_sums *sums, struct cn_wait_site site,
                     struct cn_text *out)
{
    cn_text_clear(out);
    if (cn_wait_site_is_known(site))
        cn_wait_site_print(sums->sites, site, out);
}

static const char *lock_of(const struct cn_wait_sums *sums, const struct cn_wait_row *row)
{
    return row->lock != CN_NONE ? sums->names.list[row->lock] : NULL;
}

static bool has_locks(const struct cn_wait_sums *sums, size_t most)
{
    for (size_t i = 0; i < sums->count && i < most; i++)
        if (sums->list[i].lock != CN_NONE)
            return true;
    return false;
}

static void print_text(const struct cn_args *args, const struct cn_wait_sums *sums,
                       bool is_path, size_t most)
{
    bool with_locks = has_locks(sums, most);
    struct cn_table *table = cn_cli_table(args, text_columns,
                                          is_path      ? BY
                                          : with_locks ? COLUMNS
                                                       : LOCK);
    struct cn_text text = {0};

    for (size_t i = 0; i < sums->count && i < most; i++) {
        const struct cn_wait_row *row = &sums->list[i];

        cn_table_duration(table, row->time_ns);
        cn_table_f64(table, cn_percent(row->time_ns, sums->total_ns));
        cn_table_u64(table, row->count);
        cn_table_duration(table, row->longest_ns);
        cn_text_clear(&text);
        cn_text_printf(&text, "%s%s", cn_wait_kind_name(row->kind),
                       row->is_inferred ? " (inferred)" : "");
        cn_table_str(table, cn_text_str(&text));
        cn_table_str(table, sums->names.list[row->name]);
        cn_text_clear(&text);
        cn_wait_site_print(sums->sites, row->site, &text);
        cn_table_str(table, cn_text_str(&text));
        if (!is_path) {
            cn_text_clear(&text);
            cn_wait_row_print_waker(sums, row, &text);
            cn_table_str(table, cn_text_str(&text));
        }
        if (!is_path && with_locks)
            cn_table_str(table, lock_of(sums, row));
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
        cn_table_f64(table, cn_percent(row->time_ns, sums->total_ns));
        cn_table_u64(table, row->count);
        cn_table_u64(table, row->longest_ns);
        cn_table_u64(table, row->longest_at_ns);
        cn_table_str(table, cn_wait_kind_name(row->kind));
        cn_table_str(table, sums->names.list[row->name]);
        add_site(sums, row->site, &text);
        cn_table_str(table, cn_wait_site_is_known(row->site) ? cn_text_str(&text) : NULL);
        cn_table_str(table,
                     row->by_name != CN_NONE ? sums->names.list[row->by_name] : NULL);
        add_site(sums, row->by, &text);
        cn_table_str(table, row->is_ending                   ? "end"
                            : cn_wait_site_is_known(row->by) ? cn_text_str(&text)
                                                             : NULL);
        cn_table_u64(table, row->context);
        cn_table_u64(table, row->by_context);
        cn_table_str(table, evidence(row));
        cn_table_str(table, lock_of(sums, row));
        cn_table_end_row(table);
    }
    cn_table_free(table);
    cn_text_done(&text);
}

void cn_waits_print(const struct cn_args *args, const struct cn_wait_sums *sums,
                    bool is_path, size_t most)
{
    if (cn_cli_is_for_people(args))
        print_text(args, sums, is_path, most);
    else
        print_data(args, sums);
}
