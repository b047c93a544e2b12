#include "cli/diff/sides.h"

#include <string.h>

#include "analyze/wakers/path_database.h"
#include "cli/shell/cli.h"
#include "cli/shell/progress.h"

static const char *const thread_options[CN_SIDES] = {"threads-a", "threads-b"};
static const char *const time_options[CN_SIDES] = {"time-a", "time-b"};
static const char *const query_options[CN_SIDES] = {"query-a", "query-b"};

/* True if a side is a selection of its source. */
static bool has_selection(const struct cn_args *args)
{
    for (int i = 0; i < CN_SIDES; i++)
        if (cn_args_has(args, thread_options[i]) || cn_args_has(args, time_options[i]) ||
            cn_args_has(args, query_options[i]))
            return true;
    return false;
}

bool cn_sides_parse(struct cn_sides *out, const struct cn_args *args,
                    struct cn_error *err)
{
    size_t count = cn_args_count(args), first = args->separator;

    static const char *const others[] = {"metric",    "waits", "threads-a",
                                         "threads-b", "over",  "per"};

    *out = (struct cn_sides){.paths = {args->operands, args->operands}};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (!cn_args_exclusive(args, "critical-path", others[i], err))
            return false;
    if (count == 1 && first == SIZE_MAX && has_selection(args)) {
        out->count[CN_SIDE_A] = out->count[CN_SIDE_B] = 1;
        return true;
    }
    if (first == SIZE_MAX && count == 2)
        first = 1;
    if (first == SIZE_MAX && count > 2)
        return cn_fail(err, CN_ERR_USAGE,
                       "%zu operands: separate the runs of A from those of B by --, as "
                       "in 'A1 A2 A3 -- B1 B2 B3'",
                       count);
    if (count < 2 || first == 0 || first >= count)
        return cn_fail(err, CN_ERR_USAGE,
                       "side %s is empty: expected A B, or A... -- B...",
                       count == 0 || first == 0 ? "A" : "B");
    out->count[CN_SIDE_A] = first;
    out->count[CN_SIDE_B] = count - first;
    out->paths[CN_SIDE_B] = args->operands + first;
    return true;
}

static bool select_time(struct cn_compare_run *run, const struct cn_args *args,
                        struct cn_error *err)
{
    const char *option = time_options[run->side], *text = cn_args_value(args, option);

    run->has_range = text != NULL;
    run->is_recorded = cn_args_has(args, time_options[!run->side]);
    return !text || !run->db->has_timelines ||
           cn_view_time_parse(run->db, option, text, &run->begin_ns, &run->end_ns, err);
}

/* With --critical-path, the run is its critical path. */
static bool choose_path(struct cn_compare_run *run, const struct cn_args *args,
                        struct cn_database **out, struct cn_error *err)
{
    uint64_t begin_ns = run->has_range ? run->begin_ns : 0;
    uint64_t end_ns = run->has_range ? run->end_ns : UINT64_MAX;

    if (!cn_args_has(args, "critical-path"))
        return true;
    if (!cn_wait_path_database_new(out, run->db, begin_ns, end_ns, err))
        return false;
    run->db = *out;
    run->has_range = false;
    run->is_derived = true;
    return true;
}

static bool add_run(struct cn_comparison *c, const char *path, enum cn_side side,
                    struct cn_sides *sides, const struct cn_args *args,
                    cn_sides_visit visit, void *arg, struct cn_error *err)
{
    struct cn_values threads = cn_args_values(args, thread_options[side]);
    struct cn_opened opened;
    struct cn_compare_run run = {
        .side = side,
        .metric = cn_args_value(args, "metric"),
        .counts_waits = cn_args_has(args, "waits"),
        .threads = threads.list,
        .threads_count = threads.count,
        .has_durations = !sides->has_threads_as_runs && sides->count[CN_SIDE_A] == 1 &&
                         sides->count[CN_SIDE_B] == 1,
    };
    struct cn_database *path_db = NULL;
    struct cn_bar bar;

    if (!cn_view_open(&opened, args, path, query_options[side], err))
        return false;
    run.db = opened.db;
    run.is_of_traces = opened.is_of_traces;
    if (!sides->damaged && cn_opened_is_damaged(&opened))
        sides->damaged = path;
    cn_bar_begin(&bar, args);
    bool ok = (select_time(&run, args, err) && choose_path(&run, args, &path_db, err) &&
               (sides->has_threads_as_runs
                    ? cn_comparison_add_threads(c, &run, &bar.progress, err)
                    : cn_comparison_add(c, &run, &bar.progress, err) ||
                          cn_args_misnamed(args, "metric", err)) &&
               (!visit || visit(arg, opened.db, &bar.progress, err))) ||
              cn_fail_in(err, "%s", path);
    cn_bar_end(&bar);
    cn_database_close(path_db);
    cn_opened_close(&opened);
    return ok;
}

bool cn_sides_add(struct cn_comparison *c, struct cn_sides *sides,
                  const struct cn_args *args, cn_sides_visit visit, void *arg,
                  struct cn_error *err)
{
    for (int side = 0; side < CN_SIDES; side++)
        for (size_t i = 0; i < sides->count[side]; i++)
            if (!add_run(c, sides->paths[side][i], (enum cn_side)side, sides, args, visit,
                         arg, err))
                return false;
    if (c->bases[CN_SIDE_A] && c->bases[CN_SIDE_B] &&
        strcmp(c->bases[CN_SIDE_A], c->bases[CN_SIDE_B]) != 0)
        cn_cli_say(args, "A has %s, B has %s: differences contain the difference of both",
                   c->bases[CN_SIDE_A], c->bases[CN_SIDE_B]);
    return true;
}

bool cn_sides_check(const struct cn_sides *sides, struct cn_error *err)
{
    return !sides->damaged ||
           cn_fail(err, CN_ERR_FORMAT, "%s is damaged; compared up to the damage",
                   sides->damaged);
}
