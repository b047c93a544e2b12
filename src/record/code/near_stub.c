#include "record/code/near_stub.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>

#include "record/code/machine.h"
#include "record/shared.h"
#include "record/syscalls.h"

enum { STUBS_MAX = 256, FAR_STEP = 1 << 20, NEAR_STEP = 64 << 10, TRIES = 2000 };

/* No system has larger pages. */
#define PAGES_MASK (~(uintptr_t)65535)

static struct {
    uintptr_t at, target;
} stubs[STUBS_MAX];
static size_t stub_count;

/* The code from `low` to `high`, and the length of what is mapped near it. */
struct stub_place {
    uintptr_t low, high;
    size_t len;
};

static bool is_near(const struct stub_place *place, uintptr_t at)
{
    uintptr_t reach = (uintptr_t)1 << CN_REC_REACH_LOG2;

    return at < place->low ? place->high - at < reach
                           : at + place->len - place->low < reach;
}

static uint8_t *map_at(uintptr_t at, size_t len)
{
    uint8_t *found = mmap((void *)at, len, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    if (found == (uint8_t *)at)
        return found;
    if (found != MAP_FAILED)
        (void)munmap(found, len);
    return NULL;
}

/* Map the first free pages, below and above in turn, in steps of `step` bytes. */
static uint8_t *search(const struct stub_place *place, uintptr_t step)
{
    uint8_t *found = NULL;

    for (uintptr_t i = 1; i < TRIES && !found; i++) {
        uintptr_t down = i * step + place->len;
        uintptr_t below = (place->low > down ? place->low - down : 0) & PAGES_MASK;
        uintptr_t above = (place->high + i * step) & PAGES_MASK;

        if (below > 0 && is_near(place, below))
            found = map_at(below, place->len);
        if (!found && is_near(place, above))
            found = map_at(above, place->len);
    }
    return found;
}

uint8_t *cn_rec_near_map(uintptr_t low, uintptr_t high, size_t len)
{
    struct stub_place place = {low, high, len};
    uint8_t *found = search(&place, FAR_STEP);

    /* Stacks and heaps of threads may leave only small gaps near the code. */
    return found ? found : search(&place, NEAR_STEP);
}

uintptr_t cn_rec_near_stub(uintptr_t low, uintptr_t high, uintptr_t target)
{
    struct stub_place place = {low, high, CN_REC_PAGE_LEN};
    uint8_t *page = NULL;

    for (size_t i = 0; i < stub_count; i++) {
        if (stubs[i].target == target && is_near(&place, stubs[i].at))
            return stubs[i].at;
    }
    if (stub_count < STUBS_MAX)
        page = cn_rec_near_map(low, high, place.len);
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
