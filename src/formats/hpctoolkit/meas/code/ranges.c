/* "First range wins" in n log n: the distinct ends of all ranges divide the addresses into
 * intervals, and a bit set marks the intervals that are taken. A range is kept if the next
 * taken interval comes after it. For each word of the bit set, a bit of the level above is set
 * if the word is not 0, so that the next bit is found in a few steps. Each interval of a kept
 * range is marked once.
 */
#include "formats/hpctoolkit/meas/code/ranges.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/sort.h"

enum { WORD_BITS = 64, LEVEL_MAX = 6 };

struct bits {
    uint64_t *levels[LEVEL_MAX];
    size_t counts[LEVEL_MAX]; /* words */
    size_t level_count;
};

static void bits_init(struct bits *bits, size_t count)
{
    do {
        count = count / WORD_BITS + 1;
        bits->levels[bits->level_count] = cn_alloc(count, sizeof(uint64_t));
        bits->counts[bits->level_count++] = count;
    } while (count > 1);
}

static void bits_done(struct bits *bits)
{
    for (size_t i = 0; i < bits->level_count; i++)
        free(bits->levels[i]);
}

static void bits_set(struct bits *bits, size_t at)
{
    for (size_t level = 0; level < bits->level_count; level++) {
        bits->levels[level][at / WORD_BITS] |= UINT64_C(1) << at % WORD_BITS;
        at /= WORD_BITS;
    }
}

/* The first bit that is set, from `at` on; SIZE_MAX if there is none. */
static size_t bits_next(const struct bits *bits, size_t at)
{
    size_t level = 0;

    for (;;) {
        uint64_t word = at / WORD_BITS < bits->counts[level]
                            ? bits->levels[level][at / WORD_BITS] >> at % WORD_BITS
                            : 0;

        if (word) {
            at += (size_t)ffsll((long long)word) - 1;
            if (level == 0)
                return at;
            level--;
            at *= WORD_BITS;
        } else {
            at = at / WORD_BITS + 1;
            if (++level == bits->level_count)
                return SIZE_MAX;
        }
    }
}

void cn_hpc_ranges_add(struct cn_hpc_ranges *ranges, struct cn_hpc_range range)
{
    CN_PUSH(ranges->list, ranges->count, ranges->capacity, range);
}

/* The distinct ends of all ranges, sorted. */
static size_t list_ends(const struct cn_hpc_ranges *ranges, uint64_t *ends)
{
    size_t count = 0;

    for (size_t i = 0; i < ranges->count; i++) {
        ends[2 * i] = ranges->list[i].begin;
        ends[2 * i + 1] = ranges->list[i].end;
    }
    CN_SORT_VALUES(ends, ranges->count * 2);
    for (size_t i = 0; i < ranges->count * 2; i++)
        if (count == 0 || ends[count - 1] != ends[i])
            ends[count++] = ends[i];
    return count;
}

void cn_hpc_ranges_settle(struct cn_hpc_ranges *ranges)
{
    uint64_t *ends = cn_alloc(ranges->count * 2, sizeof(*ends));
    struct bits taken = {0};
    size_t kept = 0, end_count;

    if (ranges->count == 0)
        return;
    end_count = list_ends(ranges, ends);
    bits_init(&taken, end_count);
    for (size_t i = 0; i < ranges->count; i++) {
        struct cn_hpc_range range = ranges->list[i];
        size_t begin = cn_search_u64(ends, end_count, sizeof(*ends), range.begin) - 1;
        size_t end = cn_search_u64(ends, end_count, sizeof(*ends), range.end) - 1;

        if (bits_next(&taken, begin) < end)
            continue;
        for (size_t at = begin; at < end; at++)
            bits_set(&taken, at);
        ranges->list[kept++] = range;
    }
    ranges->count = kept;
    CN_SORT(ranges->list, kept, CN_UP(struct cn_hpc_range, begin));
    bits_done(&taken);
    free(ends);
}

const struct cn_hpc_range *cn_hpc_ranges_find(const struct cn_hpc_ranges *ranges,
                                              uint64_t address)
{
    size_t count = ranges->count == 0 ? 0
                                      : cn_search_u64(&ranges->list->begin, ranges->count,
                                                      sizeof(*ranges->list), address);

    return count > 0 && address < ranges->list[count - 1].end ? &ranges->list[count - 1]
                                                              : NULL;
}

void cn_hpc_ranges_done(struct cn_hpc_ranges *ranges)
{
    free(ranges->list);
    *ranges = (struct cn_hpc_ranges){0};
}
