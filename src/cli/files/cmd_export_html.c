/* cairn export-html: the viewer and its data in one page. */

#include "base/files/sink.h"
#include "base/text.h"
#include "cli/recording/recording_options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "server/page/page_export.h"

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *target = cn_args_operand(args, 1);
    struct cn_text page = {0};
    struct cn_sink sink = {0};
    bool ok =
        cn_sink_open(&sink, target, cn_args_has(args, "force"), err) &&
        cn_page_export(cn_args_operand(args, 0), cn_args_has(args, "raw"), &page, err) &&
        cn_sink_write(&sink, page.chars, page.len, err) && cn_sink_commit(&sink, err);

    if (ok)
        cn_cli_say(args, "wrote %s: %zu kB; open it in a browser", target,
                   page.len / 1024);
    else
        cn_sink_abandon(&sink);
    cn_text_done(&page);
    return ok;
}

static const struct cn_option options[] = {
    {.name = "force", .letter = 'f', .help = "replace DST if it exists"},
    CN_RECORDING_RAW_OPTION,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn export-html run.db run.html", "write a page to attach to a report"},
    {0},
};

const struct cn_command cn_cmd_export_html = {
    .name = "export-html",
    .section = CN_SECTION_VIEW,
    .operands = "SRC DST",
    .operand_min = 2,
    .operand_max = 2,
    .summary = "export a database, recording or store as one HTML page",
    .description =
        "Writes one file with the viewer and its data: the tree, the flame graph and a "
        "summary of the timeline. Any browser opens it from disk, without a network. For "
        "a store, it shows the calls of all traces added up. Contexts below a "
        "five-thousandth of the whole, and all threads but the first 64, are omitted.",
    .examples = examples,
    .options = options,
    .run = run,
};
