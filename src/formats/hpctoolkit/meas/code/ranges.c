/* Who comes first wins, in n log n: the distinct ends of all ranges cut the
 * addresses into pieces, and a set of bits says which pieces are taken. A range is
 * kept when the next taken piece lies behind it. The set has a summary a level up
 * for each 64 bits, so that the next bit is found in a few steps however far it is.
 * The pieces of kept ranges are marked once.
 */
#include "formats/hpctoolkit/meas/code/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

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

/* The first bit at `at` or behind it; SIZE_MAX when there is none. */
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
    ranges->list =
        cn_grow(ranges->list, ranges->count, &ranges->capacity, sizeof(*ranges->list));
    ranges->list[ranges->count++] = range;
}

static int compare_numbers(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static int compare_begins(const void *left, const void *right)
{
    const struct cn_hpc_range *a = left, *b = right;

    return (a->begin > b->begin) - (a->begin < b->begin);
}

static size_t list_cuts(const struct cn_hpc_ranges *ranges, uint64_t *cuts)
{
    size_t count = 0;

    for (size_t i = 0; i < ranges->count; i++) {
        cuts[2 * i] = ranges->list[i].begin;
        cuts[2 * i + 1] = ranges->list[i].end;
    }
    qsort(cuts, ranges->count * 2, sizeof(*cuts), compare_numbers);
    for (size_t i = 0; i < ranges->count * 2; i++)
        if (count == 0 || cuts[count - 1] != cuts[i])
            cuts[count++] = cuts[i];
    return count;
}

static size_t find_cut(const uint64_t *cuts, size_t count, uint64_t address)
{
    size_t begin = 0, end = count;

    while (end - begin > 1) {
        size_t middle = begin + (end - begin) / 2;

        if (cuts[middle] <= address)
            begin = middle;
        else
            end = middle;
    }
    return begin;
}

void cn_hpc_ranges_settle(struct cn_hpc_ranges *ranges)
{
    uint64_t *cuts = cn_alloc(ranges->count * 2, sizeof(*cuts));
    struct bits taken = {0};
    size_t kept = 0, cut_count;

    if (ranges->count == 0)
        return;
    cut_count = list_cuts(ranges, cuts);
    bits_init(&taken, cut_count);
    for (size_t i = 0; i < ranges->count; i++) {
        size_t begin = find_cut(cuts, cut_count, ranges->list[i].begin);
        size_t end = find_cut(cuts, cut_count, ranges->list[i].end);

        if (bits_next(&taken, begin) < end)
            continue;
        for (size_t at = begin; at < end; at++)
            bits_set(&taken, at);
        ranges->list[kept++] = ranges->list[i];
    }
    ranges->count = kept;
    qsort(ranges->list, kept, sizeof(*ranges->list), compare_begins);
    bits_done(&taken);
    free(cuts);
}

const struct cn_hpc_range *cn_hpc_ranges_find(const struct cn_hpc_ranges *ranges,
                                              uint64_t address)
{
    size_t begin = 0, end = ranges->count;

    while (begin < end) {
        size_t middle = begin + (end - begin) / 2;

        if (address < ranges->list[middle].begin)
            end = middle;
        else if (address >= ranges->list[middle].end)
            begin = middle + 1;
        else
            return &ranges->list[middle];
    }
    return NULL;
}

void cn_hpc_ranges_done(struct cn_hpc_ranges *ranges)
{
    free(ranges->list);
    *ranges = (struct cn_hpc_ranges){0};
}
