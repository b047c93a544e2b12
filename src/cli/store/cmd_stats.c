/* cairn store stats: the contents of a store. */

#include <inttypes.h>
#include <stdio.h>

#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/store/args.h"
#include "store/segment/reader.h"

/* For text output. */
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
    {.name = "lane", .title = "LANE", .kind = CN_COLUMN_TEXT}, /* if one has a name */
};

/* For JSON and CSV. */
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
    {.name = "lane", .kind = CN_COLUMN_TEXT},
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

/* `lane` may be NULL: there is no column for it. */
static void put_row(struct cn_table *table, bool is_text, const char *name,
                    const char *state, const struct cn_segment_summary *s,
                    const char *lane)
{
    cn_table_str(table, name);
    cn_table_str(table, state);
    if (s->spans > 0) {
        cn_store_put_time(table, is_text, s->first_ns);
        cn_store_put_time(table, is_text, s->last_ns);
    } else {
        cn_table_none(table);
        cn_table_none(table);
    }
    cn_table_u64(table, s->spans);
    cn_table_u64(table, s->records);
    cn_table_u64(table, s->failed_spans);
    cn_table_u64(table, s->words);
    cn_store_put_size(table, is_text, s->disk_len);
    if (lane)
        cn_table_str(table, lane);
    cn_table_end_row(table);
}

static bool has_named_lane(const struct cn_store *store)
{
    for (size_t i = 0; i < cn_store_segment_count(store); i++)
        if (cn_segment_lane(cn_store_segment(store, i))[0] != '\0')
            return true;
    return false;
}

static const char *state_of(const struct cn_segment *segment)
{
    if (cn_segment_is_damaged(segment))
        return "damaged";
    return cn_segment_is_sealed(segment) ? "sealed" : "open";
}

static bool print(const struct cn_store *store, const struct cn_args *args,
                  struct cn_error *err)
{
    bool is_text = cn_cli_format(args) == CN_TABLE_TEXT, ok = true;
    bool has_lanes = !is_text || has_named_lane(store);
    struct cn_table *table =
        cn_cli_table(args, is_text ? texts : columns, has_lanes ? COLUMNS : COLUMNS - 1);
    struct cn_segment_summary sum = {.first_ns = UINT64_MAX}, summary;

    for (size_t i = 0; ok && i < cn_store_segment_count(store); i++) {
        const struct cn_segment *segment = cn_store_segment(store, i);
        char name[16];

        ok = cn_segment_summarize(segment, &summary, err);
        if (!ok)
            break;
        (void)snprintf(name, sizeof(name), "%06" PRIx32, cn_segment_number(segment));
        put_row(table, is_text, name, state_of(segment), &summary,
                has_lanes ? cn_segment_lane(segment) : NULL);
        cn_segment_summary_add(&sum, &summary);
    }
    if (ok && is_text)
        put_row(table, is_text, "all", "", &sum, has_lanes ? "" : NULL);
    cn_table_free(table);
    cn_store_say_sampled(args, store);
    return ok;
}

static bool check(const struct cn_args *args, const struct cn_store *store,
                  const char *path, struct cn_error *err)
{
    return cn_store_warn_damage(args, store) == 0 ||
           cn_fail(err, CN_ERR_FORMAT, "%s is damaged: what is shown is incomplete",
                   path);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *path = cn_args_operand(args, 0);
    struct cn_store *store;

    if (!cn_store_open(&store, path, err))
        return false;
    cn_store_warn_missing(args, store);
    bool ok = print(store, args, err) && check(args, store, path, err);
    cn_store_close(store);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION_FORMAT,
    CN_OPTION_CACHE_SIZE,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn store stats traces", "segments, times, counts and sizes"},
    {"cairn store stats traces --format json", "the same for a program"},
    {0},
};

const struct cn_command cn_cmd_store_stats = {
    .name = "store stats",
    .operands = "STORE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "show the contents of a store",
    .description =
        "Shows for each segment its state, the times of its traces, the number of spans, "
        "calls, failed spans and distinct strings, its size on disk, and the lane that "
        "wrote it, if that has a name.",
    .examples = examples,
    .options = options,
    .run = run,
};
