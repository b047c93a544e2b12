#include "cli/shell/open.h"

#include <inttypes.h>

#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/kinds.h"
#include "cli/shell/progress.h"
#include "launcher/files/recording_dir.h"

unsigned cn_cli_kinds_of(const struct cn_opened *opened)
{
    return cn_kind_of(opened->format) | (opened->rank_count > 0 ? CN_FOR_DATABASES : 0);
}

bool cn_cli_check_kinds(const struct cn_args *args, const struct cn_opened *opened,
                        struct cn_error *err)
{
    return cn_kinds_check(args, cn_cli_kinds_of(opened), opened->path, err);
}

bool cn_cli_load(struct cn_opened *opened, const struct cn_args *args, unsigned wants,
                 struct cn_error *err)
{
    struct cn_bar bar;

    cn_bar_begin_late(&bar, args);
    bool ok = cn_opened_load(opened, wants, &bar.progress, err);
    cn_bar_end(&bar);
    return ok;
}

bool cn_cli_open(struct cn_opened *out, const struct cn_args *args, const char *path,
                 unsigned wants, const struct cn_open_options *options,
                 struct cn_error *err)
{
    cn_recording_dir_wait(path);
    if (!cn_open(out, path, 0, options, err))
        return false;
    if (cn_cli_load(out, args, wants, err))
        return true;
    cn_opened_close(out);
    return false;
}

void cn_cli_warn_lost(const struct cn_args *args, uint64_t count)
{
    if (count > 0)
        cn_cli_warn(args, "%" PRIu64 " %s lost while recording", count,
                    cn_plural(count, "record was", "records were"));
}

void cn_cli_warn_opened(const struct cn_args *args, const struct cn_opened *opened)
{
    for (const struct cn_warning *w = cn_opened_warnings(opened); w; w = w->next)
        cn_cli_warn(args, "%s: %s", opened->path, w->text);
    cn_cli_warn_lost(args, opened->about.analysis.lost_count);
    if (opened->about.analysis.notes)
        cn_cli_say_lines(args, opened->about.analysis.notes);
}

bool cn_cli_check_opened(const struct cn_opened *opened, struct cn_error *err)
{
    return !cn_opened_is_damaged(opened) ||
           cn_fail(err, CN_ERR_FORMAT, "%s is damaged: what is shown is incomplete",
                   opened->path);
}
