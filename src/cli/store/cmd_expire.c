/* cairn store expire: remove the oldest traces. */

#include "base/date.h"
#include "base/duration.h"
#include "base/run/clock.h"
#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/store/args.h"
#include "store/maintenance/maintenance.h"

static bool read_limits(const struct cn_args *args, struct cn_store_limits *limits,
                        struct cn_error *err)
{
    const char *age = cn_args_value(args, "older-than");
    const char *before = cn_args_value(args, "before");
    uint64_t ns, last_ns, now = cn_clock_date_ns();

    if (age && before)
        return cn_fail(err, CN_ERR_USAGE, "--older-than and --before exclude each other");
    if (age) {
        if (!cn_duration_parse(age, CN_BARE_REFUSED, &ns, err))
            return cn_fail_in(err, "--older-than");
        limits->before_ns = now > ns ? now - ns : 1;
    }
    if (before && !cn_date_parse(before, &limits->before_ns, &last_ns, err))
        return false;
    if (!cn_size_option(args, "max-size", &limits->len_max, err) ||
        !cn_share_option(args, "max-disk", &limits->disk_max, err) ||
        !cn_args_u64(args, "max-count", 1, UINT64_MAX, 0, &limits->count_max, err))
        return false;
    if (limits->before_ns == 0 && limits->len_max == 0 && limits->count_max == 0 &&
        limits->disk_max <= 0)
        return cn_fail(err, CN_ERR_USAGE,
                       "no limit given; use --older-than, --before, --max-size, "
                       "--max-count or --max-disk");
    return true;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_store_limits limits = {0};
    struct cn_store_expiry removed;
    struct cn_text text = {0};

    if (!read_limits(args, &limits, err) ||
        !cn_store_expire(cn_args_operand(args, 0), &limits, &removed, err))
        return false;
    cn_store_expiry_print(&text, &removed);
    cn_cli_say(args, "%s", cn_text_str(&text));
    cn_text_done(&text);
    return true;
}

static const struct cn_option options[] = {
    CN_OPTION("older-than", 0, "TIME", "remove older traces, such as 30d"),
    CN_OPTION("before", 0, "DATE", "remove traces from before this time"),
    CN_OPTION("max-size", 0, "SIZE", "limit the size, such as 100G"),
    CN_OPTION("max-count", 0, "N", "limit the number of traces"),
    CN_OPTION(
        "max-disk", 0, "PERCENT",
        "remove until so much of the file system is used, by anything, such as 80%"),
    CN_OPTION_CACHE_SIZE,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn store expire traces --older-than=30d --max-size=100G",
     "keep a month, at most 100 GiB"},
    {"cairn store expire traces --before=2026-01-01",
     "remove traces from before this day"},
    {0},
};

const struct cn_command cn_cmd_store_expire = {
    .name = "store expire",
    .operands = "STORE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "remove the oldest traces of a store",
    .description =
        "Removes whole segments, the oldest first, until the limits are met: a segment "
        "is removed if all its traces are too old, or if the newer segments reach the "
        "size or the number of traces. Pinned traces are kept, see cairn-store-pin(1). A "
        "collector has the store for itself: it removes old traces while it runs, with "
        "--keep of cairn-serve(1).",
    .examples = examples,
    .options = options,
    .run = run,
};
