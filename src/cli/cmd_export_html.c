/* cairn export-html: one page to send to somebody. */

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/out.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/command.h"
#include "server/page_export.h"

/* The page appears under its name when it is complete. */
static bool write_page(const char *path, const struct cn_text *page, struct cn_error *err)
{
    struct cn_text part = {0};
    struct cn_out out = {0};
    bool ok;

    cn_text_printf(&part, "%s.part-%ld", path, (long)getpid());
    ok = cn_out_open(&out, cn_text_str(&part), err) &&
         cn_out_write(&out, page->chars, page->len, err) && cn_out_close(&out, err);
    if (ok && rename(cn_text_str(&part), path) != 0)
        ok = cn_fail_errno(err, "%s: cannot create it", path);
    if (!ok) {
        cn_out_abandon(&out);
        (void)unlink(cn_text_str(&part));
    }
    cn_text_done(&part);
    return ok;
}

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *target = cn_args_operand(args, 1);
    struct cn_text page = {0};
    bool ok;

    if (!cn_args_has(args, "force") && access(target, F_OK) == 0)
        return cn_fail(err, CN_ERR_IO, "%s exists already; use -f to replace it", target);
    ok = cn_page_export(cn_args_operand(args, 0), &page, err) &&
         write_page(target, &page, err);
    if (ok)
        cn_cli_say(args, "wrote %s: %zu kB; open it in a browser", target,
                   page.len / 1024);
    cn_text_done(&page);
    return ok;
}

static const struct cn_option options[] = {
    {.name = "force", .letter = 'f', .help = "replace DST if it exists"},
    {0},
};

static const struct cn_example examples[] = {
    {"cairn export-html run.db run.html", "a page to attach to a report"},
    {0},
};

const struct cn_command cn_cmd_export_html = {
    .name = "export-html",
    .section = CN_SECTION_VIEW,
    .operands = "SRC DST",
    .operand_min = 2,
    .operand_max = 2,
    .summary = "write a page that shows a database or recording without a server",
    .description =
        "Writes one file that holds the viewer and what it shows: the tree, the flame "
        "graph and a summary of the timeline. It opens from the disk in any browser and "
        "needs no network. Contexts that hold less than a five-thousandth of the whole, "
        "and all threads but the first 64, are left out.",
    .examples = examples,
    .options = options,
    .run = run,
};
