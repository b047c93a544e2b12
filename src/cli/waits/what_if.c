#include "cli/waits/what_if.h"

#include <stdlib.h>

#include "analyze/wakers/what_if.h"
#include "base/alloc.h"
#include "base/text.h"
#include "cli/shell/cli.h"

static const struct cn_column columns[] = {
    {.name = "thread", .kind = CN_COLUMN_TEXT},
    {.name = "recorded_ns", .kind = CN_COLUMN_U64},
    {.name = "predicted_ns", .kind = CN_COLUMN_U64},
    {.name = "least_ns", .kind = CN_COLUMN_U64},
    {.name = "most_ns", .kind = CN_COLUMN_U64},
    {.name = "missing_wakeups", .kind = CN_COLUMN_U64},
    {.name = "assumes", .kind = CN_COLUMN_TEXT},
    {.name = "inferred_waits", .kind = CN_COLUMN_U64},
};

static bool parse(struct cn_values texts, struct cn_what_if_change *changes,
                  struct cn_error *err)
{
    for (size_t i = 0; i < texts.count; i++)
        if (!cn_what_if_parse(texts.list[i], &changes[i], err))
            return cn_fail_in(err, "--" CN_WAITS_WHAT_IF);
    return true;
}

bool cn_waits_check_what_if(const struct cn_args *args, struct cn_error *err)
{
    static const char *const others[] = {"critical-path", "time-range", "rows"};
    struct cn_values texts = cn_args_values(args, CN_WAITS_WHAT_IF);
    struct cn_what_if_change *changes = cn_alloc(texts.count + 1, sizeof(*changes));
    bool ok = parse(texts, changes, err);

    free(changes);
    for (size_t i = 0; ok && i < sizeof(others) / sizeof(others[0]); i++)
        if (texts.count > 0 && cn_args_has(args, others[i]))
            ok = cn_fail(err, CN_ERR_USAGE,
                         "--" CN_WAITS_WHAT_IF " is about the whole run: it cannot be "
                         "combined with --%s",
                         others[i]);
    return ok;
}

/* A number that is not known has none, but a range. */
static void print_data(const struct cn_args *args, const struct cn_what_if *answer,
                       const char *thread, const char *assumptions)
{
    struct cn_table *table =
        cn_cli_table(args, columns, sizeof(columns) / sizeof(columns[0]));

    cn_table_str(table, thread);
    cn_table_u64(table, answer->recorded_ns);
    if (answer->least_ns == answer->most_ns)
        cn_table_u64(table, answer->most_ns);
    else
        cn_table_none(table);
    cn_table_u64(table, answer->least_ns);
    cn_table_u64(table, answer->most_ns);
    cn_table_u64(table, answer->missing);
    cn_table_str(table, assumptions);
    cn_table_u64(table, answer->inferred);
    cn_table_end_row(table);
    cn_table_free(table);
}

static void print(const struct cn_args *args, const struct cn_what_if *answer,
                  const struct cn_what_if_change *changes, size_t count,
                  const char *thread)
{
    struct cn_text text = {0};

    if (cn_cli_is_for_people(args)) {
        cn_what_if_print(answer, changes, count, thread, &text);
        cn_text_str_add(&text, "; ");
        cn_what_if_print_assumptions(answer, changes, count, &text);
        cn_text_char(&text, '\n');
        cn_cli_print(args, &text);
    } else {
        cn_what_if_print_assumptions(answer, changes, count, &text);
        print_data(args, answer, thread, cn_text_str(&text));
    }
    cn_text_done(&text);
}

bool cn_waits_print_what_if(const struct cn_args *args, struct cn_database *db,
                            const struct cn_wait_graph *graph,
                            const struct cn_frames *frames, uint32_t profile,
                            const char *thread, struct cn_error *err)
{
    struct cn_values texts = cn_args_values(args, CN_WAITS_WHAT_IF);
    struct cn_what_if_change *changes = cn_alloc(texts.count, sizeof(*changes));
    struct cn_what_if answer;
    bool ok =
        parse(texts, changes, err) &&
        cn_what_if_replay(&answer, db, graph, frames, changes, texts.count, profile, err);

    if (ok)
        print(args, &answer, changes, texts.count, thread);
    free(changes);
    return ok;
}
