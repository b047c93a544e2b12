#include "formats/exchange/perf/hints.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/text.h"
#include "symbols/program/package.h"

enum { LINES_MAX = 5, PERCENT_MIN = 1 };

void cn_perf_hints_count(struct cn_perf_hints *hints, const char *module)
{
    size_t known = hints->modules.count;

    hints->total++;
    /* Instructions that probes replace have no names. */
    if (!module || strcmp(module, "[uprobes]") == 0)
        return;
    uint32_t at = cn_names_add(&hints->modules, module);
    if (at == known) {
        CN_GROW(hints->counts, at, hints->capacity);
        hints->counts[at] = 0;
    }
    hints->counts[at]++;
}

static void print_line(const char *module, double percent, struct cn_text *out)
{
    struct cn_text package = {0};

    if (module[0] == '\0') {
        cn_text_printf(out,
                       "%.0f %% of samples are in code compiled at run time, without "
                       "names: let the program write /tmp/perf-PID.map\n",
                       percent);
        return;
    }
    cn_text_printf(out, "%s: %.0f %% of samples have functions without names; ",
                   cn_path_name(module), percent);
    if (!cn_path_is_file(module))
        cn_text_str_add(out, "it is not on this machine: 'cairn symbolize FILE --with "
                             "FOLDER' takes them from copies");
    else if (cn_package_find(module, &package))
        cn_text_printf(out, "install %s-dbgsym, or set DEBUGINFOD_URLS",
                       cn_text_str(&package));
    else
        cn_text_str_add(out, "it is stripped: 'cairn symbolize FILE --with FOLDER' takes "
                             "them from the unstripped program");
    cn_text_char(out, '\n');
    cn_text_done(&package);
}

void cn_perf_hints_print(const struct cn_perf_hints *hints, struct cn_text *out)
{
    uint64_t before = UINT64_MAX;
    size_t last = 0;

    /* The next in the order of counts, then of modules, each time. */
    for (size_t lines = 0; lines < LINES_MAX; lines++) {
        size_t best = SIZE_MAX;

        for (size_t i = 0; i < hints->modules.count; i++)
            if ((hints->counts[i] < before || (hints->counts[i] == before && i > last)) &&
                (best == SIZE_MAX || hints->counts[i] > hints->counts[best]))
                best = i;
        if (best == SIZE_MAX)
            return;
        before = hints->counts[best];
        last = best;
        double percent = 100 * (double)before / (double)hints->total;
        if (percent < PERCENT_MIN)
            return;
        print_line(hints->modules.list[best], percent, out);
    }
}

void cn_perf_hints_done(struct cn_perf_hints *hints)
{
    cn_names_done(&hints->modules);
    free(hints->counts);
    *hints = (struct cn_perf_hints){0};
}
