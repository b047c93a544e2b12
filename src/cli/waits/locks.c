#include "cli/waits/locks.h"

#include <inttypes.h>

#include "analyze/wakers/lock_rows.h"
#include "analyze/wakers/recorded_locks.h"
#include "base/duration.h"
#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/print/table.h"
#include "cli/shell/cli.h"

static const struct cn_column text_columns[] = {
    {.name = "lock", .title = "LOCK", .kind = CN_COLUMN_TEXT, .fit = CN_FIT_NAME},
    CN_COLUMN_RIGHT("time", "WAITED"),
    {.name = "percent", .title = "%", .kind = CN_COLUMN_PERCENT},
    {.name = "count", .title = "COUNT", .kind = CN_COLUMN_U64},
    {.name = "threads", .title = "THREADS", .kind = CN_COLUMN_U64},
    CN_COLUMN_RIGHT("longest", "LONGEST"),
    {.name = "by", .title = "GIVEN BY", .kind = CN_COLUMN_TEXT, .fit = CN_FIT_NAME},
    CN_COLUMN_RIGHT("kept", "KEPT"),
    {.name = "taken", .title = "TAKEN IN", .kind = CN_COLUMN_TEXT, .fit = CN_FIT_NAME},
    {.name = "meanwhile",
     .title = "MEANWHILE",
     .kind = CN_COLUMN_TEXT,
     .fit = CN_FIT_NAME},
};

enum { TEXT_COLUMNS = sizeof(text_columns) / sizeof(text_columns[0]) };

static const struct cn_column data_columns[] = {
    {.name = "lock", .kind = CN_COLUMN_TEXT},
    {.name = "address", .kind = CN_COLUMN_U64},
    {.name = "process", .kind = CN_COLUMN_U64},
    {.name = "time_ns", .kind = CN_COLUMN_U64},
    {.name = "percent", .kind = CN_COLUMN_PERCENT},
    {.name = "count", .kind = CN_COLUMN_U64},
    {.name = "threads", .kind = CN_COLUMN_U64},
    {.name = "longest_ns", .kind = CN_COLUMN_U64},
    {.name = "longest_at_ns", .kind = CN_COLUMN_U64},
    {.name = "waits_in", .kind = CN_COLUMN_TEXT},
    {.name = "given_by", .kind = CN_COLUMN_TEXT},
    {.name = "given_in", .kind = CN_COLUMN_TEXT},
    {.name = "meanwhile", .kind = CN_COLUMN_TEXT},
    {.name = "meanwhile_percent", .kind = CN_COLUMN_PERCENT},
    {.name = "taken_in", .kind = CN_COLUMN_TEXT},
    {.name = "taken_path", .kind = CN_COLUMN_TEXT},
    {.name = "kept_count", .kind = CN_COLUMN_U64},
    {.name = "kept_ns", .kind = CN_COLUMN_U64},
    {.name = "longest_kept_ns", .kind = CN_COLUMN_U64},
};

/* "packer: pack → pthread_mutex_unlock" */
static void print_giver(const struct cn_lock_row *row, struct cn_text *out)
{
    if (row->thread)
        cn_text_str_add(out, row->thread);
    if (row->thread && row->released_in)
        cn_text_str_add(out, ": ");
    if (row->released_in)
        cn_text_str_add(out, row->released_in);
}

static void print_row(struct cn_table *table, struct cn_text *text,
                      const struct cn_lock_rows *rows, const struct cn_lock_row *row,
                      bool has_meanwhile)
{
    cn_text_clear(text);
    cn_text_str_add(text, row->lock);
    if (!row->is_variable)
        cn_text_printf(text, " at 0x%" PRIx64, row->address);
    cn_table_str(table, cn_text_str(text));
    cn_table_duration(table, row->time_ns);
    cn_table_f64(table, cn_percent(row->time_ns, rows->total_ns));
    cn_table_u64(table, row->count);
    cn_table_u64(table, row->waiter_count);
    cn_table_duration(table, row->longest_ns);
    cn_text_clear(text);
    print_giver(row, text);
    cn_table_str(table, cn_text_str(text));
    if (row->kept_count > 0)
        cn_table_duration(table, row->longest_kept_ns);
    else
        cn_table_none(table);
    cn_table_str(table, row->taken_in);
    cn_text_clear(text);
    if (row->meanwhile)
        cn_text_printf(text, "%.0f %% %s", cn_percent(row->meanwhile_ns, row->seen_ns),
                       row->meanwhile);
    if (has_meanwhile)
        cn_table_str(table, cn_text_str(text));
    cn_table_end_row(table);
}

static void print_data(struct cn_table *table, const struct cn_lock_rows *rows,
                       const struct cn_lock_row *row)
{
    cn_table_str(table, row->lock);
    cn_table_u64(table, row->address);
    cn_table_u64(table, row->process);
    cn_table_u64(table, row->time_ns);
    cn_table_f64(table, cn_percent(row->time_ns, rows->total_ns));
    cn_table_u64(table, row->count);
    cn_table_u64(table, row->waiter_count);
    cn_table_u64(table, row->longest_ns);
    cn_table_u64(table, row->longest_at_ns);
    cn_table_str(table, row->waits);
    cn_table_str(table, row->thread);
    cn_table_str(table, row->released_in);
    cn_table_str(table, row->meanwhile);
    cn_table_f64(table, cn_percent(row->meanwhile_ns, row->seen_ns));
    cn_table_str(table, row->taken_in);
    cn_table_str(table, row->taken_path);
    cn_table_u64(table, row->kept_count);
    cn_table_u64(table, row->kept_ns);
    cn_table_u64(table, row->longest_kept_ns);
    cn_table_end_row(table);
}

void cn_locks_print(const struct cn_args *args, const struct cn_lock_rows *rows,
                    size_t most)
{
    bool is_text = cn_cli_is_for_people(args);
    bool has_meanwhile = false;

    for (size_t i = 0; i < rows->count; i++)
        has_meanwhile = has_meanwhile || rows->list[i].meanwhile;
    size_t columns = is_text ? (size_t)TEXT_COLUMNS - !has_meanwhile
                             : sizeof(data_columns) / sizeof(data_columns[0]);
    struct cn_table *table =
        cn_cli_table(args, is_text ? text_columns : data_columns, columns);
    struct cn_text text = {0};

    for (size_t i = 0; i < rows->count && (i < most || !is_text); i++) {
        if (is_text)
            print_row(table, &text, rows, &rows->list[i], has_meanwhile);
        else
            print_data(table, rows, &rows->list[i]);
    }
    cn_table_free(table);
    cn_text_done(&text);
}

/* "threads waited 383 ms for locks: 99.1 % for mutex queue_lock, which packer took in take" */
static void print_sentence(const struct cn_args *args, const struct cn_lock_rows *rows)
{
    struct cn_text text = {0};

    cn_text_str_add(&text, "threads waited ");
    cn_duration_print(&text, rows->total_ns);
    cn_text_str_add(&text, " for locks");
    if (rows->count > 0) {
        const struct cn_lock_row *row = &rows->list[0];

        cn_text_printf(&text, ": %.1f %% for %s",
                       cn_percent(row->lock_ns, rows->total_ns), row->lock);
        if (row->thread && row->taken_in)
            cn_text_printf(&text, ", which %s took in %s", row->thread, row->taken_in);
        else if (row->thread && row->released_in)
            cn_text_printf(&text, ", until %s called %s", row->thread, row->released_in);
    }
    cn_text_char(&text, '\n');
    cn_cli_print(args, &text);
    cn_text_done(&text);
}

static void warn(const struct cn_args *args, const char *path, size_t call_count,
                 size_t without_address)
{
    if (call_count == 0 && without_address == 0)
        cn_cli_warn(args, "%s has no calls for locks; cairn record --locks records them",
                    path);
    else if (without_address > 0)
        cn_cli_warn(
            args,
            "%s: %zu %s for locks %s left out: their arguments were not recorded; "
            "cairn record --locks records them",
            path, without_address, cn_plural(without_address, "call", "calls"),
            cn_plural(without_address, "is", "are"));
}

bool cn_locks_print_recorded(const struct cn_args *args, const char *path,
                             const struct cn_recording *rec, size_t most,
                             struct cn_error *err)
{
    struct cn_lock_rows rows = {0};
    size_t call_count = 0, without_address = 0;
    bool ok = cn_recorded_locks_build(&rows, rec, &call_count, &without_address, err) &&
              cn_cli_fit(args, err);

    if (ok) {
        warn(args, path, call_count, without_address);
        if (cn_cli_format(args) == CN_TABLE_TEXT)
            print_sentence(args, &rows);
        cn_locks_print(args, &rows, most);
        cn_cli_say_left_out(args, rows.count, most);
    }
    cn_lock_rows_done(&rows);
    return ok;
}
