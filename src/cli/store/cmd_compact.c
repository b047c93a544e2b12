/* cairn store compact: join small segments. */

#include "base/text.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/store/args.h"
#include "store/maintenance/maintenance.h"
#include "store/sampling/sampling.h"

/* `text` receives what was done. */
static bool sample(const struct cn_args *args, struct cn_text *text, struct cn_error *err)
{
    struct cn_sampling_counts sampled;
    struct cn_sample_rules *rules;

    if (!cn_sample_option(args, &rules, err))
        return false;
    bool ok = !rules || cn_store_sample(cn_args_operand(args, 0), rules, &sampled, err);
    if (ok && rules)
        cn_sampling_counts_print(text, &sampled);
    cn_sample_rules_free(rules);
    return ok;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    struct cn_store_compaction done;
    struct cn_text sampled = {0}, text = {0};
    bool ok = sample(args, &sampled, err) &&
              cn_store_compact(cn_args_operand(args, 0), cn_compression_option(args),
                               &done, err);

    if (sampled.len > 0)
        cn_cli_say(args, "%s", cn_text_str(&sampled));
    if (ok) {
        cn_store_compaction_print(&text, &done);
        cn_cli_say(args, "%s", cn_text_str(&text));
    }
    if (ok && done.damaged > 0) {
        *err = done.damage;
        ok = false;
    }
    cn_text_done(&sampled);
    cn_text_done(&text);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTIONS_SAMPLE(""),
    CN_OPTION_COMPRESSION(
        "rewrite segments in this form: spans by column (columns, default "
        "unless the store was made with another)"),
    CN_OPTION_CACHE_SIZE,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn store compact traces", "join small segments"},
    {"cairn store compact traces && cairn store stats traces",
     "and list those that are left"},
    {"cairn store compact traces --sample 'errors: 100%' --sample 'rest: 5%'",
     "drop 95 % of the traces without errors"},
    {"cairn store compact traces --compression=deflate",
     "store it so that versions up to 0.9 can read it"},
    {0},
};

const struct cn_command cn_cmd_store_compact = {
    .name = "store compact",
    .operands = "STORE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "join small segments of a store",
    .description =
        "Joins consecutive segments that are small enough to fit into one. "
        "Strings are then "
        "stored once, and searches read fewer files.\n\n"
        "Segments that versions up to 0.9 wrote take fewer bytes afterwards: "
        "their spans are stored by column, as those of new stores are. Those "
        "versions cannot read the store then; --compression=deflate goes back, "
        "and keeps it so. A store that was made with --compression stays as it "
        "is.\n\n"
        "With --sample, traces are dropped first, for good, from all segments "
        "that were not sampled so far; those of cairn store pin stay. Counts "
        "of what is left are extrapolated by the rates: see "
        "docs/production.md.",
    .examples = examples,
    .options = options,
    .run = run,
};
