#include "base/run/progress.h"

#include <stddef.h>

static bool is_part_stopped(void *arg)
{
    const struct cn_progress *whole = ((struct cn_progress_part *)arg)->whole;

    return whole->is_stopped && whole->is_stopped(whole->arg);
}

static bool report_part(void *arg, const char *what, uint64_t done, uint64_t total,
                        const char *unit)
{
    struct cn_progress_part *part = arg;

    for (struct cn_progress_part *at = part->before; at; at = at->before)
        if (!atomic_load(&at->has_ended))
            return !is_part_stopped(part);
    return part->whole->report(part->whole->arg, what, done, total, unit);
}

const struct cn_progress *cn_progress_part_begin(struct cn_progress_part *part,
                                                 const struct cn_progress *whole,
                                                 struct cn_progress_part *before)
{
    part->progress = (struct cn_progress){report_part, part, is_part_stopped};
    part->whole = whole;
    part->before = before;
    atomic_init(&part->has_ended, false);
    return whole ? &part->progress : NULL;
}

void cn_progress_part_end(struct cn_progress_part *part)
{
    atomic_store(&part->has_ended, true);
}
