#include "cli/diff/waited.h"

#include <math.h>

#include "analyze/compare/explain.h"
#include "analyze/wakers/causes.h"
#include "analyze/wakers/path_database.h"
#include "base/text.h"
#include "cli/diff/sides.h"
#include "cli/shell/cli.h"

enum { CHANGES_SHOWN = 3 };

/* Of a duration, so that next to nothing is not named. */
#define LEAST_SHARE 0.01

void cn_diff_waited_init(struct cn_diff_waited *waited, const struct cn_sides *sides)
{
    *waited = (struct cn_diff_waited){.sides = sides, .is_known = true};
    cn_comparison_init(&waited->c);
}

void cn_diff_waited_done(struct cn_diff_waited *waited)
{
    cn_comparison_done(&waited->c);
}

bool cn_diff_waited_add(void *arg, struct cn_database *db,
                        const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_diff_waited *waited = arg;
    struct cn_compare_run run = {.is_derived = true};

    run.side =
        waited->run_count++ < waited->sides->count[CN_SIDE_A] ? CN_SIDE_A : CN_SIDE_B;
    waited->is_known = waited->is_known && db->states && db->wakeups.count > 0;
    if (waited->is_known && !cn_wait_path_database_new(&run.db, db, 0, UINT64_MAX, err)) {
        waited->is_known = false;
        if (err->kind != CN_ERR_NOT_FOUND)
            return false;
    }
    if (!waited->is_known)
        return true;
    bool ok = cn_comparison_add(&waited->c, &run, progress, err);
    cn_database_close(run.db);
    return ok;
}

void cn_diff_waited_print(struct cn_diff_waited *waited, const struct cn_args *args)
{
    const struct cn_comparison *c = &waited->c;
    struct cn_text text = {0};
    struct cn_explanation e;
    size_t count = 0;

    if (!waited->is_known || waited->run_count == 0)
        return;
    cn_comparison_finish(&waited->c);
    cn_explain(&e, c, CHANGES_SHOWN);
    for (size_t i = 0; i < e.count && count < CHANGES_SHOWN; i++) {
        double change = cn_change_of(&e.list[i]);

        if (e.list[i].evidence.verdict == CN_VERDICT_NOISE ||
            fabs(change) < LEAST_SHARE * fmax(c->whole[CN_SIDE_A], c->whole[CN_SIDE_B]))
            continue;
        cn_text_str_add(&text, count++ == 0 ? "critical path: " : ", ");
        cn_wait_cause_print_change(c->names.list[e.list[i].name],
                                   (int64_t)llround(1e9 * change), &text);
    }
    if (count > 0) {
        cn_text_char(&text, '\n');
        cn_cli_print(args, &text);
    }
    cn_explanation_done(&e);
    cn_text_done(&text);
}
