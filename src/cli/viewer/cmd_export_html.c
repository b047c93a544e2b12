/* cairn export-html: the viewer and its data in one page. */

#include <inttypes.h>
#include <string.h>

#include "base/files/sink.h"
#include "cli/record/options.h"
#include "cli/recording/options.h"
#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "cli/shell/open.h"
#include "cli/views/options.h"
#include "server/page/export.h"

static bool parse_range(const char *text, uint64_t span_ns, uint64_t *from_ns,
                        uint64_t *to_ns, struct cn_error *err)
{
    return cn_view_offsets_parse("time-range", text, span_ns, from_ns, to_ns, err);
}

static bool write_page(const struct cn_args *args, struct cn_sink *sink,
                       struct cn_page_missing *missing, struct cn_error *err)
{
    struct cn_page_options options = {
        .is_raw = cn_args_has(args, "raw"),
        .query = cn_args_value(args, "query"),
        .range = {cn_args_value(args, "time-range"), parse_range},
    };
    struct cn_open_options how = {.is_raw = options.is_raw};
    const char *size = cn_args_value(args, "max-size");
    struct cn_opened source;

    if (cn_args_has(args, "empty"))
        return cn_page_viewer(sink, err);
    if (!cn_cli_open(&source, args, cn_args_operand(args, 0), 0, &how, err))
        return false;
    if (cn_cli_check_kinds(args, &source, err) &&
        (!size || cn_record_size_parse("max-size", size, &options.size_max, err)))
        return cn_page_export(sink, &source, &options, missing, err);
    cn_opened_close(&source);
    return false;
}

/* After the page is complete: name the damage that it has. */
static bool check_damage(const struct cn_args *args, struct cn_page_missing *missing,
                         struct cn_error *err)
{
    const char *path = cn_args_operand(args, 0);
    char *save = NULL;

    if (missing->damage.len == 0)
        return true;
    for (char *line = strtok_r(missing->damage.chars, "\n", &save); line;
         line = strtok_r(NULL, "\n", &save))
        cn_cli_warn(args, "%s: %s", path, line);
    return cn_fail(err, CN_ERR_FORMAT, "%s is damaged: the page is incomplete", path);
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    size_t count = cn_args_has(args, "empty") ? 1 : 2;
    struct cn_page_missing missing = {0};
    struct cn_sink sink = {0};
    bool ok;

    if (cn_args_count(args) != count)
        return cn_fail(err, CN_ERR_USAGE,
                       count == 1 ? "--empty takes no SRC: cairn export-html --empty DST"
                                  : "DST is missing: cairn export-html SRC DST");
    const char *target = cn_args_operand(args, count - 1);
    ok = cn_sink_open(&sink, target, cn_args_has(args, "force"), err) &&
         write_page(args, &sink, &missing, err);
    uint64_t size = sink.written;
    ok = ok && cn_sink_commit(&sink, err);
    if (ok)
        cn_cli_say(args, "wrote %s: %" PRIu64 " kB%s%s; open it in a browser", target,
                   size / 1024, missing.left_out.len > 0 ? ", without " : "",
                   cn_text_str(&missing.left_out));
    else
        cn_sink_abandon(&sink);
    ok = ok && check_damage(args, &missing, err);
    cn_page_missing_done(&missing);
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION("empty", 0, NULL, "no SRC: a viewer into which people drop files"),
    CN_OPTION("force", 'f', NULL, "replace DST if it exists"),
    CN_OPTION("max-size", 0, "SIZE",
              "of the page, e.g. 20M: leave out the list of calls, then timelines, then "
              "sources, if it is larger"),
    CN_OPTION_FOR(CN_FOR_STORES, "query", 0, "QUERY", "only the traces that match"),
    CN_OPTION("time-range", 'r', "FROM~TO",
              "only this time, as offsets from the start: 1.5s~2s, ~300ms; except for "
              "recordings also 10%~20%"),
    CN_RECORDING_RAW_OPTION,
    {0},
};

static const struct cn_example examples[] = {
    {"cairn export-html run.db run.html", "write a page to attach to a report"},
    {"cairn export-html shop slow.html --query 'duration > 1s'",
     "the slow traces of a store"},
    {"cairn export-html run.data part.html -r 10ms~20ms",
     "ten milliseconds of a recording"},
    {"cairn export-html --empty viewer.html",
     "write a viewer for people without cairn; they drop files into it"},
    {0},
};

const struct cn_command cn_cmd_export_html = {
    .name = "export-html",
    .operands = "[SRC] DST",
    .operand_min = 1,
    .operand_max = 2,
    .scope = CN_FOR_DATA,
    .summary = "export a database, recording or store as one HTML page",
    .description =
        "Writes one file with the viewer, the engine that answers it, and the data: all "
        "views work as with cairn view, with the same numbers. Any browser opens it from "
        "disk, without a network. What only this machine knows is added: source "
        "locations "
        "of a recording, symbols of samples. Of damaged data the page shows what "
        "precedes "
        "the damage, and the exit status is 3.",
    .examples = examples,
    .options = options,
    .run = run,
};
