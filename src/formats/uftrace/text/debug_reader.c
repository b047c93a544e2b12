#include "formats/uftrace/text/debug_reader.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/sort.h"

static bool add_function(struct cn_uft_debug *debug, struct cn_bytes text)
{
    struct cn_uft_debug_function function = {0};

    if (!cn_uft_scan_hex(&text, &function.offset) || !cn_uft_scan_spaces(&text))
        return false;
    function.name = text;
    CN_PUSH(debug->list, debug->count, debug->capacity, function);
    return true;
}

static bool add_line(struct cn_uft_debug *debug, struct cn_bytes line)
{
    struct cn_uft_debug_function *last =
        debug->count > 0 ? &debug->list[debug->count - 1] : NULL;

    if (cn_uft_scan_literal(&line, "F: "))
        return add_function(debug, line);
    if (cn_uft_scan_literal(&line, "E: ")) {
        CN_PUSH(debug->enums, debug->enum_count, debug->enum_capacity, line);
        return true;
    }
    if (!last)
        return false;
    if (cn_uft_scan_literal(&line, "L: ")) {
        if (!cn_uft_scan_u32(&line, &last->line) || !cn_uft_scan_spaces(&line))
            return false;
        last->file = line;
        return true;
    }
    if (cn_uft_scan_literal(&line, "A: "))
        last->arguments = line;
    else if (cn_uft_scan_literal(&line, "R: "))
        last->result = line;
    else
        return false;
    return true;
}

void cn_uft_debug_read(struct cn_bytes file, struct cn_uft_debug *out,
                       cn_uft_bad_line_fn bad, void *arg)
{
    struct cn_uft_lines lines;
    struct cn_bytes line;
    struct cn_error err = {0};
    enum cn_step step;

    *out = (struct cn_uft_debug){0};
    cn_uft_lines_begin(&lines, file);
    while ((step = cn_uft_lines_next(&lines, &line, &err)) != CN_END) {
        if (step == CN_ITEM &&
            (cn_uft_module_head_scan(line, &out->head) || add_line(out, line)))
            continue;
        if (step == CN_ITEM)
            (void)cn_uft_lines_fail(&lines, line, &err);
        bad(arg, lines.off, &err);
    }
    CN_SORT(out->list, out->count, CN_UP(struct cn_uft_debug_function, offset),
            CN_UP(struct cn_uft_debug_function, name.ptr));
}

void cn_uft_debug_done(struct cn_uft_debug *debug)
{
    free(debug->list);
    free(debug->enums);
    *debug = (struct cn_uft_debug){0};
}

const struct cn_uft_debug_function *cn_uft_debug_find(const struct cn_uft_debug *debug,
                                                      uint64_t offset)
{
    size_t at = 0;

    if (debug->count > 0 && offset > 0)
        at = cn_search_u64(&debug->list->offset, debug->count, sizeof(*debug->list),
                           offset - 1);
    return at < debug->count && debug->list[at].offset == offset ? &debug->list[at]
                                                                 : NULL;
}
