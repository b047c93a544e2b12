#include "cli/io/print.h"

#include <inttypes.h>

#include "analyze/io/sums.h"
#include "base/duration.h"
#include "base/size.h"
#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/shell/cli.h"
#include "model/io/system_calls.h"

enum {
    TIME,
    FAULTS,
    SHARE,
    MAJOR,
    COUNT,
    LONGEST,
    READ,
    WRITTEN,
    CALL,
    TARGET,
    MAPPING,
    SITE,
    COLUMNS
};

/* For people. */
static const struct cn_column text_columns[COLUMNS] = {
    [TIME] = CN_COLUMN_RIGHT("time", "TIME"),
    [FAULTS] = {.name = "count", .title = "FAULTS", .kind = CN_COLUMN_U64},
    [SHARE] = {.name = "percent", .title = "%", .kind = CN_COLUMN_PERCENT},
    [MAJOR] = {.name = "major", .title = "MAJOR", .kind = CN_COLUMN_U64},
    [COUNT] = {.name = "count", .title = "CALLS", .kind = CN_COLUMN_U64},
    [LONGEST] = CN_COLUMN_RIGHT("longest", "LONGEST"),
    [READ] = CN_COLUMN_RIGHT("read", "READ"),
    [WRITTEN] = CN_COLUMN_RIGHT("written", "WRITTEN"),
    [CALL] = {.name = "call", .title = "CALL", .kind = CN_COLUMN_TEXT},
    [TARGET] = {.name = "file",
                .title = "FILE OR PEER",
                .kind = CN_COLUMN_TEXT,
                .fit = CN_FIT_NAME},
    [MAPPING] = {.name = "file",
                 .title = "FILE OR MAPPING",
                 .kind = CN_COLUMN_TEXT,
                 .fit = CN_FIT_NAME},
    [SITE] = {.name = "in", .title = "IN", .kind = CN_COLUMN_TEXT, .fit = CN_FIT_NAME},
};

static const struct cn_column data_columns[] = {
    {.name = "time_ns", .kind = CN_COLUMN_U64},
    {.name = "percent", .kind = CN_COLUMN_PERCENT},
    {.name = "count", .kind = CN_COLUMN_U64},
    {.name = "failed", .kind = CN_COLUMN_U64},
    {.name = "unended", .kind = CN_COLUMN_U64},
    {.name = "longest_ns", .kind = CN_COLUMN_U64},
    {.name = "longest_at_ns", .kind = CN_COLUMN_U64},
    {.name = "read_bytes", .kind = CN_COLUMN_U64},
    {.name = "written_bytes", .kind = CN_COLUMN_U64},
    {.name = "call", .kind = CN_COLUMN_TEXT},
    {.name = "file", .kind = CN_COLUMN_TEXT},
    {.name = "in", .kind = CN_COLUMN_TEXT},
    {.name = "context", .kind = CN_COLUMN_U64},
    {.name = "major", .kind = CN_COLUMN_U64},
};

static const char *call_of(const struct cn_io_row *row)
{
    return row->call != CN_SYSTEM_CALL_NONE ? cn_system_call(row->call)->name : NULL;
}

static const char *target_of(const struct cn_io_sums *sums, const struct cn_io_row *row)
{
    return row->target < sums->calls->target_count ? sums->calls->targets[row->target]
                                                   : NULL;
}

static const char *site_of(const struct cn_io_sums *sums, const struct cn_io_row *row,
                           struct cn_text *text)
{
    cn_text_clear(text);
    cn_wait_site_print(sums->sites, row->site, text);
    return cn_text_str(text);
}

static const char *or_dash(const char *text)
{
    return text ? text : "–";
}

static const char *size(struct cn_text *text, uint64_t bytes)
{
    if (bytes == 0)
        return "";
    cn_text_clear(text);
    cn_size_print(text, bytes);
    return cn_text_str(text);
}

/* Page faults take no time of their own. */
static bool has_column(const struct cn_io_sums *sums, unsigned column)
{
    bool is_of_faults = sums->class == CN_IO_FAULTS;

    switch (column) {
    case FAULTS:
    case MAJOR:
        return is_of_faults;
    case SHARE:
        return true;
    case CALL:
        return sums->parts & CN_IO_BY_CALL;
    case TARGET:
        return sums->parts & CN_IO_BY_TARGET && !is_of_faults;
    case MAPPING:
        return sums->parts & CN_IO_BY_TARGET && is_of_faults;
    case SITE:
        return sums->parts & CN_IO_BY_SITE;
    default:
        return !is_of_faults;
    }
}

static void print_cell(struct cn_table *table, const struct cn_io_sums *sums,
                       const struct cn_io_row *row, unsigned column, struct cn_text *text)
{
    switch (column) {
    case TIME:
        cn_table_duration(table, row->time_ns);
        break;
    case SHARE:
        cn_table_f64(table, cn_percent(cn_io_row_weight(sums, row),
                                       cn_io_row_weight(sums, &sums->all)));
        break;
    case MAJOR:
        cn_table_u64(table, row->major_count);
        break;
    case FAULTS:
    case COUNT:
        cn_table_u64(table, row->count);
        break;
    case LONGEST:
        cn_table_duration(table, row->longest_ns);
        break;
    case READ:
        cn_table_str(table, size(text, row->read));
        break;
    case WRITTEN:
        cn_table_str(table, size(text, row->written));
        break;
    case CALL:
        cn_table_str(table, or_dash(call_of(row)));
        break;
    case TARGET:
    case MAPPING:
        cn_table_str(table, or_dash(target_of(sums, row)));
        break;
    default:
        cn_table_str(table, site_of(sums, row, text));
    }
}

static void print_text(const struct cn_args *args, const struct cn_io_sums *sums,
                       size_t most)
{
    struct cn_column columns[COLUMNS];
    unsigned shown[COLUMNS];
    struct cn_text text = {0};
    size_t count = 0;

    for (unsigned i = 0; i < COLUMNS; i++)
        if (has_column(sums, i)) {
            columns[count] = text_columns[i];
            shown[count++] = i;
        }
    struct cn_table *table = cn_cli_table(args, columns, count);
    for (size_t i = 0; i < sums->count && i < most; i++) {
        for (size_t k = 0; k < count; k++)
            print_cell(table, sums, &sums->list[i], shown[k], &text);
        cn_table_end_row(table);
    }
    cn_table_free(table);
    cn_text_done(&text);
}

static void print_data(const struct cn_args *args, const struct cn_io_sums *sums)
{
    struct cn_table *table =
        cn_cli_table(args, data_columns, sizeof(data_columns) / sizeof(data_columns[0]));
    struct cn_text text = {0};

    for (size_t i = 0; i < sums->count; i++) {
        const struct cn_io_row *row = &sums->list[i];

        cn_table_u64(table, row->time_ns);
        cn_table_f64(table, cn_percent(cn_io_row_weight(sums, row),
                                       cn_io_row_weight(sums, &sums->all)));
        cn_table_u64(table, row->count);
        cn_table_u64(table, row->failed_count);
        cn_table_u64(table, row->unended_count);
        cn_table_u64(table, row->longest_ns);
        cn_table_u64(table, row->longest_at_ns);
        cn_table_u64(table, row->read);
        cn_table_u64(table, row->written);
        cn_table_str(table, call_of(row));
        cn_table_str(table, target_of(sums, row));
        cn_table_str(table,
                     cn_wait_site_is_known(row->site) ? site_of(sums, row, &text) : NULL);
        cn_table_u64(table, row->context);
        cn_table_u64(table, row->major_count);
        cn_table_end_row(table);
    }
    cn_table_free(table);
    cn_text_done(&text);
}

void cn_io_print(const struct cn_args *args, const struct cn_io_sums *sums, size_t most)
{
    if (cn_cli_is_for_people(args))
        print_text(args, sums, most);
    else
        print_data(args, sums);
}

/* Of minor ones, many may be known from few samples. */
static void print_faults(const struct cn_io_sums *sums, struct cn_text *text)
{
    cn_count_print_of(text, sums->all.count, "page fault");
    if (sums->sample_count < sums->all.count) {
        cn_text_str_add(text, ", of which ");
        cn_count_print(text, sums->sample_count);
        cn_text_str_add(text, " were sampled");
    }
    cn_text_str_add(text, ": ");
    cn_count_print(text, sums->all.major_count);
    cn_text_str_add(text, " major, ");
    cn_count_print(text, sums->target_count);
    cn_text_str_add(text, cn_plural(sums->target_count, " file or other mapping",
                                    " files and other mappings"));
}

static void print_calls(const struct cn_io_sums *sums, struct cn_text *text)
{
    const struct cn_io_row *all = &sums->all;

    cn_count_print_of(text, all->count,
                      sums->class == CN_IO_DISKS ? "disk request" : "system call");
    cn_text_str_add(text, " took ");
    cn_duration_print(text, all->time_ns);
    cn_text_str_add(text, ": ");
    cn_size_print(text, all->read);
    cn_text_str_add(text, " read, ");
    cn_size_print(text, all->written);
    cn_text_str_add(text, " written, ");
    cn_count_print(text, sums->target_count);
    cn_text_str_add(text,
                    cn_plural(sums->target_count, " file or peer", " files and peers"));
    if (all->failed_count > 0)
        cn_text_printf(text, "; %" PRIu64 " failed", all->failed_count);
    if (all->unended_count > 0)
        cn_text_printf(text, "; the end of %" PRIu64 " is unknown", all->unended_count);
}

void cn_io_print_all(const struct cn_args *args, const struct cn_io_sums *sums)
{
    struct cn_text text = {0};

    if (sums->class == CN_IO_FAULTS)
        print_faults(sums, &text);
    else
        print_calls(sums, &text);
    cn_text_char(&text, '\n');
    cn_cli_print(args, &text);
    cn_text_done(&text);
}
