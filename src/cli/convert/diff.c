#include "cli/convert/diff.h"

#include "analyze/compare/comparison.h"
#include "base/files/sink.h"
#include "cli/shell/progress.h"
#include "cli/views/options.h"
#include "formats/exchange/write/stacks/diff.h"
#include "model/format.h"
#include "open/host/target.h"

static bool add_side(struct cn_comparison *c, enum cn_side side, const char *path,
                     const struct cn_args *args, bool *is_damaged, struct cn_error *err)
{
    struct cn_opened opened = {0};
    struct cn_bar bar;
    bool ok = cn_view_open(&opened, args, path, NULL, err);

    if (ok) {
        struct cn_compare_run run = {
            .side = side,
            .db = opened.db,
            .metric = cn_args_value(args, "metric"),
            .counts_waits = cn_args_has(args, "waits"),
            .is_of_traces = opened.is_of_traces,
        };

        *is_damaged |= cn_opened_is_damaged(&opened);
        cn_bar_begin(&bar, args);
        ok = cn_comparison_add(c, &run, &bar.progress, err) ||
             cn_args_misnamed(args, "metric", err) || cn_fail_in(err, "%s", path);
        cn_bar_end(&bar);
    }
    cn_opened_close(&opened);
    return ok;
}

bool cn_convert_diff(const struct cn_args *args, const struct cn_format *format,
                     struct cn_error *err)
{
    const char *target = cn_args_operand(args, CN_SIDES);
    struct cn_comparison c;
    bool is_damaged = false, ok = true;

    if (!cn_diff_stacks_has(format))
        return cn_fail(err, CN_ERR_USAGE, "--diff writes folded and pprof, not %s",
                       format->name);
    for (int side = 0; side < CN_SIDES && ok; side++)
        ok = cn_target_check_source(target, cn_args_operand(args, (size_t)side), false,
                                    err);
    if (!ok || (!cn_sink_is_stdout(target) &&
                !cn_target_check(target, format, cn_args_has(args, "force"), err)))
        return false;
    cn_comparison_init(&c);
    for (int side = 0; side < CN_SIDES && ok; side++)
        ok = add_side(&c, (enum cn_side)side, cn_args_operand(args, (size_t)side), args,
                      &is_damaged, err);
    if (ok) {
        cn_comparison_finish(&c);
        ok = cn_diff_stacks_write(&c, format, target, cn_args_has(args, "force"), err);
    }
    cn_comparison_done(&c);
    return ok && (!is_damaged || cn_fail(err, CN_ERR_FORMAT,
                                         "a side is damaged; compared up to the "
                                         "damage"));
}
