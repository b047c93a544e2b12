#include "cli/database/compare_sides.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
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

enum { THREADS_MAX = 256 }; /* as runs */

/* The selected threads, as runs whose mean is the sum over threads. */
static bool add_threads(struct cn_comparison *c, const struct cn_compare_run *all,
                        const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_costs *costs = cn_alloc(1, sizeof(*costs));
    size_t first = c->run_count;
    bool ok = true;

    cn_costs_init(costs, all->db);
    for (size_t i = 0; i < all->threads_count && ok; i++)
        ok = cn_costs_select(costs, all->threads[i], err);
    for (uint32_t i = 1; i < all->db->profile_count && ok; i++) {
        struct cn_compare_run run = *all;
        struct cn_profile profile;
        char number[16];
        const char *const list[] = {number};

        ok = cn_database_profile(all->db, i, &profile, err);
        if (!ok || profile.is_summary || !cn_costs_is_selected(costs, i))
            continue;
        if (c->run_count - first == THREADS_MAX)
            ok = cn_fail(err, CN_ERR_USAGE,
                         "more than %d threads; select some with --threads-a and "
                         "--threads-b",
                         THREADS_MAX);
        (void)snprintf(number, sizeof(number), "%u", i);
        run.threads = list;
        run.threads_count = 1;
        run.may_be_empty = true;
        ok = ok && cn_comparison_add(c, &run, progress, err);
    }
    cn_costs_done(costs);
    free(costs);
    if (ok && c->run_count - first < 2)
        ok = cn_fail(err, CN_ERR_USAGE, "--over threads needs at least two threads");
    for (size_t i = first; i < c->run_count && ok; i++)
        cn_comparison_scale(c, i, (double)(c->run_count - first));
    return ok;
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
    ok = ((has_threads_as_runs ? add_threads(c, &run, &bar.progress, err)
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
