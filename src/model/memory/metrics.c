#include "model/memory/metrics.h"

#include <string.h>

struct heap_text {
    const char *name, *description;
};

/* clang-format off */
static const struct heap_text texts[CN_HEAP_METRIC_COUNT] = {
    [CN_HEAP_BYTES] = {"allocated (B)", "bytes requested from the allocator; a realloc() counts its new size"},
    [CN_HEAP_CALLS] = {"allocations", "calls that allocated"},
    [CN_HEAP_LIVE_END] = {"live at end (B)", "bytes not freed at the end of the process or of the recording"},
    [CN_HEAP_LIVE_END_CALLS] = {"live at end", "allocations not freed at the end"},
    [CN_HEAP_LIVE_PEAK] = {"live at peak (B)", "bytes not yet freed when the process had the most of them"},
    [CN_HEAP_OWN_PEAK] = {"own peak (B)", "the most bytes at once of this path and thread; peaks of several paths are at different times"},
    [CN_HEAP_TEMPORARY] = {"temporary allocations", "freed before the next allocation of the thread, or within 1 ms"},
    [CN_HEAP_FREED_ELSEWHERE] = {"freed by other threads (B)", "bytes that another thread freed"},
    [CN_HEAP_WASTE] = {"waste (B)", "bytes that the allocator gave above those requested"},
    [CN_HEAP_GROWTH] = {"grown by realloc (B)", "bytes by which realloc() enlarged blocks"},
    [CN_HEAP_FREED_FOR_OTHERS] = {"freed for other threads (B)", "bytes that this thread freed and another one allocated, whatever call path freed them"},
    [CN_HEAP_FREED] = {"freed", "allocations that were freed; the others have no lifetime yet"},
    [CN_HEAP_LIFETIME] = {"lifetime (sec)", "time from allocation to free, of all that were freed; divided by `freed` it is the mean"},
    [CN_HEAP_LIVED] = {"lived under 1 us", "allocations freed within 1 us"},
    [CN_HEAP_LIVED + 1] = {"lived 1 to 10 us", "allocations freed after 1 us or more, within 10 us"},
    [CN_HEAP_LIVED + 2] = {"lived 10 to 100 us", "allocations freed after 10 us or more, within 100 us"},
    [CN_HEAP_LIVED + 3] = {"lived 100 us to 1 ms", "allocations freed after 100 us or more, within 1 ms"},
    [CN_HEAP_LIVED + 4] = {"lived 1 to 10 ms", "allocations freed after 1 ms or more, within 10 ms"},
    [CN_HEAP_LIVED + 5] = {"lived 10 to 100 ms", "allocations freed after 10 ms or more, within 100 ms"},
    [CN_HEAP_LIVED + 6] = {"lived 100 ms to 1 s", "allocations freed after 100 ms or more, within 1 s"},
    [CN_HEAP_LIVED + 7] = {"lived 1 to 10 s", "allocations freed after 1 s or more, within 10 s"},
    [CN_HEAP_LIVED_LAST] = {"lived over 10 s", "allocations freed after 10 s or more"},
    [CN_HEAP_LEAKED] = {"leaked (B)", "bytes of blocks that no pointer of the program led to at its end"},
    [CN_HEAP_LEAKED_CALLS] = {"leaked", "allocations that no pointer of the program led to at its end"},
    [CN_HEAP_SAMPLES] = {"sampled allocations", "samples that the other values of memory are estimated from"},
};
/* clang-format on */

const char *cn_heap_metric_name(enum cn_heap_metric metric)
{
    return texts[metric].name;
}

enum cn_heap_metric cn_heap_metric_find(const char *name)
{
    unsigned i = 0;

    while (i < CN_HEAP_METRIC_COUNT && strcmp(texts[i].name, name) != 0)
        i++;
    return (enum cn_heap_metric)i;
}

bool cn_heap_metric_is_count(enum cn_heap_metric metric)
{
    return metric == CN_HEAP_CALLS || metric == CN_HEAP_LIVE_END_CALLS ||
           metric == CN_HEAP_TEMPORARY || metric == CN_HEAP_SAMPLES ||
           metric == CN_HEAP_FREED || metric == CN_HEAP_LEAKED_CALLS ||
           (metric >= CN_HEAP_LIVED && metric <= CN_HEAP_LIVED_LAST);
}

enum cn_heap_metric cn_heap_metric_lived(uint64_t lifetime_ns)
{
    unsigned metric = CN_HEAP_LIVED;

    for (uint64_t limit_ns = 1000; metric < CN_HEAP_LIVED_LAST && lifetime_ns >= limit_ns;
         limit_ns *= 10)
        metric++;
    return (enum cn_heap_metric)metric;
}

static const char *const pprof_types[CN_HEAP_METRIC_COUNT] = {
    [CN_HEAP_BYTES] = "alloc_space",
    [CN_HEAP_CALLS] = "alloc_objects",
    [CN_HEAP_LIVE_END] = "inuse_space",
    [CN_HEAP_LIVE_END_CALLS] = "inuse_objects",
};

const char *cn_heap_metric_pprof(enum cn_heap_metric metric)
{
    return metric < CN_HEAP_METRIC_COUNT ? pprof_types[metric] : NULL;
}

enum cn_heap_metric cn_heap_metric_of_pprof(const char *type, const char *unit)
{
    size_t len = strlen(type);

    for (unsigned i = 0; i < CN_HEAP_METRIC_COUNT; i++) {
        bool is_count = cn_heap_metric_is_count((enum cn_heap_metric)i);
        const char *name = pprof_types[i] ? pprof_types[i] : texts[i].name;

        if (strncmp(name, type, len) == 0 &&
            strcmp(name + len, is_count || pprof_types[i] ? "" : " (B)") == 0 &&
            strcmp(unit, is_count ? "count" : "bytes") == 0)
            return (enum cn_heap_metric)i;
    }
    return CN_HEAP_METRIC_COUNT;
}

void cn_heap_taxonomy(struct cn_taxonomy *taxonomy, struct cn_arena *arena)
{
    struct cn_presented_metric *roots =
        cn_arena_dup(arena, taxonomy->roots, taxonomy->root_count, sizeof(*roots));

    for (size_t i = 0; i < taxonomy->root_count; i++) {
        enum cn_heap_metric metric = cn_heap_metric_find(roots[i].name);

        if (metric < CN_HEAP_METRIC_COUNT)
            roots[i].description = texts[metric].description;
    }
    taxonomy->roots = roots;
}
