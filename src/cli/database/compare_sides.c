#include "cli/database/compare_sides.h"

#include "cli/database/open_database.h"
#include "cli/shell/progress.h"

bool cn_sides_parse(struct cn_sides *out, const struct cn_args *args,
                    struct cn_error *err)
{
    size_t count = cn_args_count(args), first = args->separator;

    *out = (struct cn_sides){.paths = {args->operands, args->operands}};
    if (count == 1 && first == SIZE_MAX &&
        (cn_args_has(args, "threads-a") || cn_args_has(args, "threads-b"))) {
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

static bool add_run(struct cn_comparison *c, const char *path, enum cn_side side,
                    bool has_threads_as_runs, const struct cn_args *args,
                    cn_sides_visit visit, void *arg, struct cn_error *err)
{
    struct cn_values threads =
        cn_args_values(args, side == CN_SIDE_A ? "threads-a" : "threads-b");
    struct cn_opened_database opened;
    struct cn_compare_run run = {
        .side = side,
        .metric = cn_args_value(args, "metric"),
        .counts_waits = cn_args_has(args, "waits"),
        .threads = threads.list,
        .threads_count = threads.count,
    };
    struct cn_bar bar;
    bool ok;

    if (!cn_opened_database_open(&opened, args, path, true, err)) {
        cn_opened_database_close(&opened);
        return false;
    }
    run.db = opened.db;
    cn_bar_begin(&bar, args);
    ok = ((has_threads_as_runs ? cn_comparison_add_threads(c, &run, &bar.progress, err)
                               : cn_comparison_add(c, &run, &bar.progress, err)) &&
          (!visit || visit(arg, opened.db, &bar.progress, err))) ||
         cn_fail_in(err, "%s", path);
    cn_bar_end(&bar);
    cn_opened_database_close(&opened);
    return ok;
}

bool cn_sides_add(struct cn_comparison *c, const struct cn_sides *sides,
                  const struct cn_args *args, cn_sides_visit visit, void *arg,
                  struct cn_error *err)
{
    for (int side = 0; side < CN_SIDES; side++)
        for (size_t i = 0; i < sides->count[side]; i++)
            if (!add_run(c, sides->paths[side][i], (enum cn_side)side,
                         sides->has_threads_as_runs, args, visit, arg, err))
                return false;
    return true;
}
