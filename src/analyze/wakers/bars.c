#include "analyze/wakers/bars.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/wakers/chain.h"
#include "base/alloc.h"
#include "model/contexts/context.h"

/* A part that begins within a column after the last bar of its thread is of the same bar, unless both can
 * be seen by themselves. */
static bool joins(const struct cn_wait_bar *bar, const struct cn_chain_part *part,
                  uint64_t column_ns)
{
    uint64_t gap_ns = part->begin_ns - bar->end_ns;

    if (gap_ns == 0 && bar->kind == part->kind)
        return true;
    return gap_ns < column_ns && bar->longest_ns < column_ns &&
           part->end_ns - part->begin_ns < column_ns;
}

/* `last` is the bar of each profile. */
static void add_part(struct cn_wait_bars *bars, uint32_t *last,
                     const struct cn_chain_part *part, uint64_t column_ns)
{
    uint64_t ns = part->end_ns - part->begin_ns;
    uint32_t *of_thread = &last[part->profile];

    if (*of_thread == CN_NONE || !joins(&bars->list[*of_thread], part, column_ns)) {
        *of_thread = (uint32_t)bars->count;
        CN_PUSH(bars->list, bars->count, bars->capacity,
                (struct cn_wait_bar){.begin_ns = part->begin_ns,
                                     .end_ns = part->begin_ns,
                                     .profile = part->profile,
                                     .kind = part->kind});
    }
    struct cn_wait_bar *bar = &bars->list[*of_thread];
    bar->end_ns = part->end_ns;
    bar->path_ns += ns;
    bar->parts++;
    if (ns > bar->longest_ns) {
        bar->longest_ns = ns;
        bar->kind = part->kind;
    }
}

/* The parts of a path are in it from the last to the first. */
void cn_wait_bars_build(struct cn_wait_bars *out, const struct cn_wait_chain *path,
                        uint64_t begin_ns, uint64_t end_ns, uint64_t column_ns)
{
    uint32_t *last = cn_alloc((size_t)path->profile_count + 1, sizeof(*last));

    *out = (struct cn_wait_bars){0};
    memset(last, UINT8_MAX, ((size_t)path->profile_count + 1) * sizeof(*last));
    for (size_t i = path->count; i-- > 0;) {
        struct cn_chain_part part = cn_wait_chain_at(path, i);

        if (part.begin_ns < begin_ns)
            part.begin_ns = begin_ns;
        if (part.end_ns > end_ns)
            part.end_ns = end_ns;
        if (part.begin_ns < part.end_ns)
            add_part(out, last, &part, column_ns);
    }
    free(last);
}

void cn_wait_bars_done(struct cn_wait_bars *bars)
{
    free(bars->list);
    *bars = (struct cn_wait_bars){0};
}
