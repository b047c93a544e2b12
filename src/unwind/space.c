#include "unwind/space.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"

struct cn_unwinder *cn_unwinder_new(void)
{
    return cn_alloc(1, sizeof(struct cn_unwinder));
}

void cn_unwinder_free(struct cn_unwinder *unwinder)
{
    if (!unwinder)
        return;
    cn_names_done(&unwinder->strings);
    free(unwinder);
}

void cn_unwinder_set_no_cache(struct cn_unwinder *unwinder)
{
    unwinder->has_no_cache = true;
}

static struct cn_unwind_mappings *new_mappings(void)
{
    struct cn_unwind_mappings *mappings = cn_alloc(1, sizeof(*mappings));

    mappings->reference_count = 1;
    return mappings;
}

static void release(struct cn_unwind_mappings *mappings)
{
    if (--mappings->reference_count > 0)
        return;
    free(mappings->list);
    free(mappings);
}

struct cn_unwind_space *cn_unwind_space_new(struct cn_unwinder *unwinder)
{
    struct cn_unwind_space *space = cn_alloc(1, sizeof(*space));

    space->unwinder = unwinder;
    space->mappings = new_mappings();
    return space;
}

struct cn_unwind_space *cn_unwind_space_copy(const struct cn_unwind_space *space)
{
    struct cn_unwind_space *copy = cn_alloc(1, sizeof(*copy));

    *copy = (struct cn_unwind_space){space->unwinder, space->mappings};
    copy->mappings->reference_count++;
    return copy;
}

void cn_unwind_space_free(struct cn_unwind_space *space)
{
    if (!space)
        return;
    release(space->mappings);
    free(space);
}

void cn_unwind_space_clear(struct cn_unwind_space *space)
{
    release(space->mappings);
    space->mappings = new_mappings();
}

/* The mappings, for this space alone. */
static struct cn_unwind_mappings *own_mappings(struct cn_unwind_space *space)
{
    struct cn_unwind_mappings *shared = space->mappings, *own;

    if (shared->reference_count == 1)
        return shared;
    own = new_mappings();
    own->list = cn_grow_to(NULL, shared->count + 2, &own->capacity, sizeof(*own->list));
    own->count = shared->count;
    if (own->count > 0)
        memcpy(own->list, shared->list, own->count * sizeof(*own->list));
    release(shared);
    space->mappings = own;
    return own;
}

/* Replace the `removed` mappings from `at` on by `added` undefined ones. */
static struct cn_unwind_mapping *splice(struct cn_unwind_mappings *mappings, size_t at,
                                        size_t removed, size_t added)
{
    size_t after = mappings->count - at - removed;

    mappings->list = cn_grow_to(mappings->list, mappings->count - removed + added,
                                &mappings->capacity, sizeof(*mappings->list));
    memmove(&mappings->list[at + added], &mappings->list[at + removed],
            after * sizeof(*mappings->list));
    mappings->count = at + added + after;
    return &mappings->list[at];
}

/* The number of mappings that begin at or before an address. */
static size_t count_to(const struct cn_unwind_mappings *mappings, uint64_t address)
{
    return mappings->count == 0 ? 0
                                : cn_search_u64(&mappings->list[0].begin, mappings->count,
                                                sizeof(*mappings->list), address);
}

static const char *intern(struct cn_unwinder *unwinder, const char *text)
{
    uint32_t at = cn_names_add(&unwinder->strings, text);

    return unwinder->strings.list[at];
}

void cn_unwind_space_map(struct cn_unwind_space *space, uint64_t begin, uint64_t end,
                         uint64_t file_off, const char *path, const char *build_id)
{
    struct cn_unwind_mappings *mappings;
    struct cn_unwind_mapping left = {0}, right = {0}, *to;
    size_t first, last;

    if (begin >= end)
        return;
    mappings = own_mappings(space);
    first = count_to(mappings, begin);
    last = count_to(mappings, end - 1);
    /* Of what is replaced, the parts before and after remain. */
    if (first > 0 && mappings->list[first - 1].end > begin) {
        left = mappings->list[--first];
        left.end = begin;
    }
    if (last > first && mappings->list[last - 1].end > end) {
        right = mappings->list[last - 1];
        right.file_off += end - right.begin;
        right.begin = end;
    }
    to = splice(mappings, first, last - first,
                (size_t)1 + (left.begin < left.end) + (right.begin < right.end));
    if (left.begin < left.end)
        *to++ = left;
    *to++ = (struct cn_unwind_mapping){
        .begin = begin,
        .end = end,
        .file_off = file_off,
        .path = intern(space->unwinder, path),
        .build_id = intern(space->unwinder, build_id),
    };
    if (right.begin < right.end)
        *to = right;
}

const struct cn_unwind_mapping *cn_unwind_space_find(const struct cn_unwind_space *space,
                                                     uint64_t address)
{
    size_t at = count_to(space->mappings, address);

    if (at == 0 || address >= space->mappings->list[at - 1].end)
        return NULL;
    return &space->mappings->list[at - 1];
}
