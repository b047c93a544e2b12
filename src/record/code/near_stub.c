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
struct stub_room {
    uintptr_t low, high;
    size_t len;
};

static bool is_near(const struct stub_room *room, uintptr_t at)
{
    uintptr_t reach = (uintptr_t)1 << CN_REC_REACH_LOG2;

    return at < room->low ? room->high - at < reach : at + room->len - room->low < reach;
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
static uint8_t *search(const struct stub_room *room, uintptr_t step)
{
    uint8_t *found = NULL;

    for (uintptr_t i = 1; i < TRIES && !found; i++) {
        uintptr_t down = i * step + room->len;
        uintptr_t below = (room->low > down ? room->low - down : 0) & PAGES_MASK;
        uintptr_t above = (room->high + i * step) & PAGES_MASK;

        if (below > 0 && is_near(room, below))
            found = map_at(below, room->len);
        if (!found && is_near(room, above))
            found = map_at(above, room->len);
    }
    return found;
}

uint8_t *cn_rec_near_map(uintptr_t low, uintptr_t high, size_t len)
{
    struct stub_room room = {low, high, len};
    uint8_t *found = search(&room, FAR_STEP);

    /* Stacks and heaps of threads may leave only small gaps near the code. */
    return found ? found : search(&room, NEAR_STEP);
}

uintptr_t cn_rec_near_stub(uintptr_t low, uintptr_t high, uintptr_t target)
{
    struct stub_room room = {low, high, CN_REC_PAGE_LEN};
    uint8_t *page = NULL;

    for (size_t i = 0; i < stub_count; i++) {
        if (stubs[i].target == target && is_near(&room, stubs[i].at))
            return stubs[i].at;
    }
    if (stub_count < STUBS_MAX)
        page = cn_rec_near_map(low, high, room.len);
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
