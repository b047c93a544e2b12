/* cairn analyze of a file of samples that another tool has written: perf.data, pprof,
 * folded stacks and others. */

#include "cli/database/analyze.h"
#include "cli/shell/cli.h"
#include "model/contexts/database.h"
#include "open/formats.h"

bool cn_analyze_samples(struct cn_analysis *a, struct cn_error *err)
{
    struct cn_database *db = NULL;
    bool ok;

    if (!cn_analysis_set_target(a, cn_args_value(a->args, "output"), err) ||
        !cn_format_open_database(cn_args_operand(a->args, 0), &db, err))
        return false;
    if (a->title)
        db->title = a->title;
    for (const struct cn_warning *w = db->warnings; w; w = w->next) {
        cn_cli_warn(a->args, "%s", w->text);
        a->is_damaged |= w->is_damage;
    }
    ok = !a->is_damaged || !a->is_strict ||
         cn_fail(err, CN_ERR_FORMAT,
                 "%s is not written: data is damaged and --strict was given", a->target);
    cn_bar_begin(&a->bar, a->args);
    ok = ok && cn_analysis_write(a, db, 0, err);
    cn_bar_end(&a->bar);
    if (ok)
        cn_analysis_tell(a, db->context_limit, db->profile_count - 1, NULL, NULL);
    cn_database_close(db);
    return ok;
}
