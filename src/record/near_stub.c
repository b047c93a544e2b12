#include "record/near_stub.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include "record/machine.h"
#include "record/shared.h"
#include "record/syscalls.h"

enum {
    STUBS_MAX = 256,
    FAR_STEP = 1 << 20,
    NEAR_STEP = 64 << 10,
    TRIES = 2000,
    LEN_MAX = 64 << 10, /* mapped at once */
};

/* No system has larger pages. */
#define PAGES_MASK (~(uintptr_t)65535)

static struct {
    uintptr_t at, target;
} stubs[STUBS_MAX];
static size_t stub_count;

static bool is_near(uintptr_t at, uintptr_t low, uintptr_t high)
{
    uintptr_t reach = (uintptr_t)1 << CN_REC_REACH_LOG2;

    return at < low ? high - at < reach : at + LEN_MAX - low < reach;
}

static uint8_t *map_at(uintptr_t at, size_t len)
{
    uint8_t *page = mmap((void *)at, len, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    if (page == (uint8_t *)at)
        return page;
    if (page != MAP_FAILED)
        (void)munmap(page, len);
    return NULL;
}

/* Map the first free pages, below and above in turn, in steps of `step` bytes. */
static uint8_t *search(uintptr_t low, uintptr_t high, size_t len, uintptr_t step)
{
    uint8_t *page = NULL;

    for (uintptr_t i = 1; i < TRIES && !page; i++) {
        uintptr_t below = (low > i * step ? low - i * step : 0) & PAGES_MASK;
        uintptr_t above = (high + i * step) & PAGES_MASK;

        if (below > 0 && is_near(below, low, high))
            page = map_at(below, len);
        if (!page && is_near(above, low, high))
            page = map_at(above, len);
    }
    return page;
}

uint8_t *cn_rec_near_map(uintptr_t low, uintptr_t high, size_t len)
{
    uint8_t *pages = len <= LEN_MAX ? search(low, high, len, FAR_STEP) : NULL;

    /* Stacks and heaps of threads may leave only small gaps near the code. */
    if (!pages && len <= LEN_MAX)
        pages = search(low, high, len, NEAR_STEP);
    return pages;
}

uintptr_t cn_rec_near_stub(uintptr_t low, uintptr_t high, uintptr_t target)
{
    uint8_t *page = NULL;

    for (size_t i = 0; i < stub_count; i++) {
        if (stubs[i].target == target && is_near(stubs[i].at, low, high))
            return stubs[i].at;
    }
    if (stub_count < STUBS_MAX)
        page = cn_rec_near_map(low, high, CN_REC_PAGE_LEN);
    if (!page)
        return 0;
    cn_rec_machine_jump(page, target);
    __builtin___clear_cache((char *)page, (char *)page + CN_REC_PAGE_LEN);
    if (!cn_rec_protect((uintptr_t)page, (uintptr_t)page + CN_REC_PAGE_LEN,
                        PROT_READ | PROT_EXEC))
        return 0;
    stubs[stub_count].at = (uintptr_t)page;
    stubs[stub_count].target = target;
    stub_count++;
    return (uintptr_t)page;
}
