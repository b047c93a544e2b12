#include "formats/exchange/perf/gaps.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/sort.h"

struct cn_perf_gap {
    uint64_t begin_ns, end_ns;
};

void cn_perf_gaps_done(struct cn_perf_gaps *gaps)
{
    cn_map_done(&gaps->seen_of);
    free(gaps->list);
    free(gaps->seen_ns);
}

void cn_perf_gaps_see(struct cn_perf_gaps *gaps, uint32_t cpu, uint64_t time_ns)
{
    uint32_t at = *cn_map_at(&gaps->seen_of, cpu, (uint32_t)gaps->seen_count);

    if (at == gaps->seen_count)
        CN_PUSH(gaps->seen_ns, gaps->seen_count, gaps->seen_capacity, time_ns);
    gaps->seen_ns[at] = time_ns;
}

void cn_perf_gaps_add(struct cn_perf_gaps *gaps, uint32_t cpu, uint64_t time_ns)
{
    uint32_t at = cn_map_find(&gaps->seen_of, cpu, UINT32_MAX);
    uint64_t since_ns = at < gaps->seen_count ? gaps->seen_ns[at] : 0;

    CN_PUSH(gaps->list, gaps->count, gaps->capacity,
            (struct cn_perf_gap){since_ns, time_ns});
}

/* Times without a gap between two of them are one. */
void cn_perf_gaps_finish(struct cn_perf_gaps *gaps)
{
    size_t kept = 0;

    CN_SORT(gaps->list, gaps->count, CN_UP(struct cn_perf_gap, begin_ns));
    for (size_t i = 0; i < gaps->count; i++) {
        struct cn_perf_gap gap = gaps->list[i];

        if (kept > 0 && gap.begin_ns <= gaps->list[kept - 1].end_ns) {
            if (gap.end_ns > gaps->list[kept - 1].end_ns)
                gaps->list[kept - 1].end_ns = gap.end_ns;
        } else {
            gaps->list[kept++] = gap;
        }
    }
    gaps->count = kept;
}

bool cn_perf_gaps_is_sure(const struct cn_perf_gaps *gaps, uint64_t begin_ns,
                          uint64_t end_ns)
{
    if (gaps->count == 0)
        return true;
    size_t i = cn_search_below_u64(&gaps->list->end_ns, gaps->count, sizeof(*gaps->list),
                                   begin_ns);
    return i == gaps->count || gaps->list[i].begin_ns > end_ns;
}
