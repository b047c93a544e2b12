/* cairn store stats: what a store holds. */

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/store/store_query.h"
#include "model/traces/words.h"
#include "store/index/columns.h"
#include "store/segment/reader.h"

/* What people read. */
static const struct cn_column texts[] = {
    {.name = "segment", .title = "SEGMENT", .kind = CN_COLUMN_TEXT},
    {.name = "state", .title = "STATE", .kind = CN_COLUMN_TEXT},
    {.name = "first", .title = "FIRST", .kind = CN_COLUMN_TEXT},
    {.name = "last", .title = "LAST", .kind = CN_COLUMN_TEXT},
    {.name = "spans", .title = "SPANS", .kind = CN_COLUMN_U64},
    {.name = "records", .title = "CALLS", .kind = CN_COLUMN_U64},
    {.name = "errors", .title = "FAILED", .kind = CN_COLUMN_U64},
    {.name = "words", .title = "WORDS", .kind = CN_COLUMN_U64},
    {.name = "size", .title = "SIZE", .kind = CN_COLUMN_TEXT, .align = CN_ALIGN_RIGHT},
};

/* What programs read. */
static const struct cn_column columns[] = {
    {.name = "segment", .kind = CN_COLUMN_TEXT},
    {.name = "state", .kind = CN_COLUMN_TEXT},
    {.name = "first_ns", .kind = CN_COLUMN_U64},
    {.name = "last_ns", .kind = CN_COLUMN_U64},
    {.name = "spans", .kind = CN_COLUMN_U64},
    {.name = "records", .kind = CN_COLUMN_U64},
    {.name = "errors", .kind = CN_COLUMN_U64},
    {.name = "words", .kind = CN_COLUMN_U64},
    {.name = "bytes", .kind = CN_COLUMN_U64},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

struct totals {
    uint64_t first_ns, last_ns, spans, records, errors, words, len;
};

static uint64_t files_len(const char *dir)
{
    DIR *list = opendir(dir);
    const struct dirent *entry;
    uint64_t len = 0;
    struct stat st;

    if (!list)
        return 0;
    while ((entry = readdir(list))) {
        if (fstatat(dirfd(list), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISREG(st.st_mode))
            len += (uint64_t)st.st_size;
    }
    (void)closedir(list);
    return len;
}

static bool add_up(const struct cn_segment *segment, struct totals *out,
                   struct cn_error *err)
{
    const struct cn_columns *all = cn_segment_columns(segment);
    struct cn_store_column records, errors, flags;

    *out = (struct totals){
        .spans = all->row_count,
        .words = cn_segment_words(segment)->count,
        .len = files_len(cn_segment_path(segment)),
    };
    cn_columns_range(all, CN_STORE_FIELD_time_ns, &out->first_ns, &out->last_ns);
    if (!cn_columns_field(all, CN_STORE_FIELD_records, &records, err) ||
        !cn_columns_field(all, CN_STORE_FIELD_errors, &errors, err) ||
        !cn_columns_field(all, CN_STORE_FIELD_flags, &flags, err))
        return false;
    for (uint32_t row = 0; row < all->row_count; row++) {
        /* The calls of a span inside of another are counted there. */
        if (!(cn_store_column_at(&flags, row) & CN_ROW_EMBEDDED))
            out->records += cn_store_column_at(&records, row);
        out->errors += cn_store_column_at(&errors, row) > 0;
    }
    return true;
}

static void put_time(struct cn_table *table, bool is_text, bool exists, uint64_t time_ns)
{
    struct cn_text text = {0};

    cn_store_time_print(&text, time_ns);
    if (!exists)
        cn_table_none(table);
    else if (is_text)
        cn_table_str(table, cn_text_str(&text));
    else
        cn_table_u64(table, time_ns);
    cn_text_done(&text);
}

static void put_row(struct cn_table *table, bool is_text, const char *name,
                    const char *state, const struct totals *totals)
{
    struct cn_text size = {0};

    cn_table_str(table, name);
    cn_table_str(table, state);
    put_time(table, is_text, totals->spans > 0, totals->first_ns);
    put_time(table, is_text, totals->spans > 0, totals->last_ns);
    cn_table_u64(table, totals->spans);
    cn_table_u64(table, totals->records);
    cn_table_u64(table, totals->errors);
    cn_table_u64(table, totals->words);
    cn_size_print(&size, totals->len);
    if (is_text)
        cn_table_str(table, cn_text_str(&size));
    else
        cn_table_u64(table, totals->len);
    cn_table_end_row(table);
    cn_text_done(&size);
}

static const char *state_of(const struct cn_segment *segment)
{
    if (cn_segment_is_damaged(segment))
        return "damaged";
    return cn_segment_is_sealed(segment) ? "sealed" : "open";
}

static void include(struct totals *sum, const struct totals *totals)
{
    if (totals->spans == 0)
        return;
    sum->first_ns = totals->first_ns < sum->first_ns ? totals->first_ns : sum->first_ns;
    sum->last_ns = totals->last_ns > sum->last_ns ? totals->last_ns : sum->last_ns;
}

static bool print(const struct cn_store *store, const struct cn_args *args,
                  struct cn_error *err)
{
    bool is_text = cn_cli_format(args) == CN_TABLE_TEXT, ok = true;
    struct cn_table *table = cn_cli_table(args, is_text ? texts : columns, COLUMNS);
    struct totals sum = {.first_ns = UINT64_MAX};

    for (size_t i = 0; ok && i < cn_store_segment_count(store); i++) {
        const struct cn_segment *segment = cn_store_segment(store, i);
        struct totals totals;
        char name[16];

        ok = add_up(segment, &totals, err);
        if (!ok)
            break;
        (void)snprintf(name, sizeof(name), "%06" PRIx32, cn_segment_number(segment));
        put_row(table, is_text, name, state_of(segment), &totals);
        include(&sum, &totals);
        sum.spans += totals.spans;
        sum.records += totals.records;
        sum.errors += totals.errors;
        sum.words += totals.words;
        sum.len += totals.len;
    }
    if (ok && is_text)
        put_row(table, is_text, "all", "", &sum);
    cn_table_free(table);
    return ok;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_store *store;
    bool ok;

    if (!cn_store_open(&store, cn_args_operand(args, 0), err))
        return false;
    ok = print(store, args, err);
    cn_store_close(store);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION_FORMAT,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn store stats traces", "segments, times, counts and sizes"},
    {0},
};

const struct cn_command cn_cmd_store_stats = {
    .name = "store stats",
    .section = CN_SECTION_STORE,
    .operands = "STORE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "tell what a store holds",
    .description =
        "Shows for each segment whether it is sealed, from when its traces are, "
        "how many spans and calls they have, how many spans have errors, and "
        "what all of it takes on disk.",
    .examples = examples,
    .options = options,
    .run = run,
};
