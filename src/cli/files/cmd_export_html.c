/* cairn export-html: the viewer and its data in one page. */

#include <inttypes.h>

#include "base/files/sink.h"
#include "cli/recording/recording_options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "server/page/page_export.h"

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *target = cn_args_operand(args, 1);
    struct cn_sink sink = {0};
    uint64_t size;
    bool ok =
        cn_sink_open(&sink, target, cn_args_has(args, "force"), err) &&
        cn_page_export(&sink, cn_args_operand(args, 0), cn_args_has(args, "raw"), err);

    size = sink.written;
    ok = ok && cn_sink_commit(&sink, err);
    if (ok)
        cn_cli_say(args, "wrote %s: %" PRIu64 " kB; open it in a browser", target,
                   size / 1024);
    else
        cn_sink_abandon(&sink);
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
        "Writes one file with the viewer, the engine that answers it, and the data: all "
        "views work as with cairn view, with the same numbers. Any browser opens it from "
        "disk, without a network. What only this machine knows is added: source "
        "locations "
        "of a recording, symbols of samples.",
    .examples = examples,
    .options = options,
    .run = run,
};
