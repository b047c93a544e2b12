#include "cli/database/analyze_samples.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/files/disk_usage.h"
#include "base/run/pool.h"
#include "base/run/ranks.h"
#include "base/text.h"
#include "cli/print/quantity.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/progress.h"
#include "formats/formats.h"
#include "model/contexts/database.h"

enum { JOBS_MAX = 1024 };

static const char *const options[] = {
    "output", "force", "threads", "title",   "no-trace", "no-source", "strict",
    "no-mpi", "help",  "quiet",   "verbose", "color",    "no-pager",
};

static bool check_options(const struct cn_args *args, struct cn_error *err)
{
    for (size_t i = 0; i < args->given_count; i++) {
        const char *name = args->given[i].option->name;
        bool is_known = false;

        for (size_t k = 0; k < sizeof(options) / sizeof(*options); k++)
            is_known = is_known || strcmp(name, options[k]) == 0;
        if (!is_known)
            return cn_fail(err, CN_ERR_USAGE, "--%s does not go with samples", name);
    }
    return true;
}

static bool is_of_samples(const char *path)
{
    const struct cn_format *format;
    struct cn_error ignored;

    return cn_format_probe(path, &format, &ignored) && format->is_file &&
           format->open_database;
}

bool cn_analyze_finds_samples(const struct cn_args *args, bool *found,
                              struct cn_error *err)
{
    size_t count = cn_args_count(args), sample_count = 0;

    for (size_t i = 0; i < count; i++)
        sample_count += is_of_samples(cn_args_operand(args, i));
    if (sample_count > 0 && count > 1)
        return cn_fail(err, CN_ERR_USAGE,
                       "%s holds samples: such files are analysed one at a time",
                       cn_args_operand(args, 0));
    *found = sample_count > 0;
    return !*found || check_options(args, err);
}

static void on_loss(void *arg, const char *what, uint64_t count)
{
    cn_cli_warn(arg, "not kept: %" PRIu64 " %s", count, what);
}

static bool write_database(const struct cn_args *args, struct cn_database *db,
                           const char *target, struct cn_error *err)
{
    struct cn_bar bar = {0};
    struct cn_write_options writing = {
        .replace = cn_args_has(args, "force"),
        .without_timelines = cn_args_has(args, "no-trace"),
        .without_sources = cn_args_has(args, "no-source"),
        .progress = &bar.progress,
        .on_loss = on_loss,
        .on_loss_arg = (void *)(uintptr_t)args,
    };
    uint64_t jobs;
    bool ok;

    if (!cn_args_u64(args, "threads", 1, JOBS_MAX, cn_pool_default_workers(), &jobs, err))
        return false;
    writing.workers = (unsigned)jobs;
    cn_bar_begin(&bar, args);
    ok = cn_format_find("hpctoolkit-v4")->write_database(db, target, &writing, err);
    cn_bar_end(&bar);
    return ok;
}

static void tell_result(const struct cn_args *args, const struct cn_database *db,
                        const char *target)
{
    struct cn_disk_usage usage = cn_disk_usage(target);
    struct cn_text text = {0};

    cn_count_print_of(&text, db->context_limit, "context");
    cn_text_str_add(&text, ", ");
    cn_count_print_of(&text, db->profile_count - 1, "thread");
    cn_text_str_add(&text, ", ");
    cn_size_print(&text, usage.bytes);
    cn_cli_say(args, "wrote %s: %s", target, cn_text_str(&text));
    cn_text_done(&text);
}

static bool analyse(const struct cn_args *args, const char *target, struct cn_error *err)
{
    const char *title = cn_args_value(args, "title");
    struct cn_database *db = NULL;
    bool ok;

    if (!cn_format_open_database(cn_args_operand(args, 0), &db, err))
        return false;
    if (title)
        db->title = title;
    for (const struct cn_warning *w = db->warnings; w; w = w->next)
        cn_cli_warn(args, "%s", w->text);
    ok = !db->warnings || !cn_args_has(args, "strict") ||
         cn_fail(err, CN_ERR_FORMAT, "%s is not written: --strict allows no damage",
                 target);
    ok = ok && write_database(args, db, target, err);
    if (ok)
        tell_result(args, db, target);
    cn_database_close(db);
    return ok;
}

bool cn_analyze_samples(const struct cn_args *args, struct cn_ranks *ranks,
                        struct cn_error *err)
{
    const char *target = cn_args_value(args, "output");
    struct stat st;
    bool ok = true;

    if (!target || target[0] == '\0')
        ok = cn_fail(err, CN_ERR_USAGE, "-o is missing: where should the database go?");
    else if (!cn_args_has(args, "force") && lstat(target, &st) == 0)
        ok = cn_fail(err, CN_ERR_IO, "%s exists already; use -f to replace it", target);
    /* One file is work for one process. */
    ok = ok && (!cn_ranks_is_first(ranks) || analyse(args, target, err));
    return cn_ranks_agree(ranks, ok, err);
}
