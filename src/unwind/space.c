#include "unwind/space.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"

enum { ENTRY_LEN = 128 }; /* of _start, at most */

struct cn_unwinder *cn_unwinder_new(void)
{
    return cn_alloc(1, sizeof(struct cn_unwinder));
}

void cn_unwinder_free(struct cn_unwinder *unwinder)
{
    if (!unwinder)
        return;
    cn_unwind_modules_done(&unwinder->modules);
    free(unwinder);
}

void cn_unwinder_set_no_cache(struct cn_unwinder *unwinder)
{
    unwinder->modules.has_no_cache = true;
}

static struct cn_unwind_mappings *new_mappings(struct cn_unwinder *unwinder)
{
    struct cn_unwind_mappings *mappings = cn_alloc(1, sizeof(*mappings));

    mappings->reference_count = 1;
    mappings->id = ++unwinder->last_id;
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
    space->mappings = new_mappings(unwinder);
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
    space->mappings = new_mappings(space->unwinder);
}

/* The mappings, for this space alone. */
static struct cn_unwind_mappings *own_mappings(struct cn_unwind_space *space)
{
    struct cn_unwind_mappings *shared = space->mappings, *own;

    if (shared->reference_count == 1)
        return shared;
    own = new_mappings(space->unwinder);
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

void cn_unwind_space_map(struct cn_unwind_space *space, uint64_t begin, uint64_t end,
                         uint64_t file_off, const char *path, const char *build_id)
{
    struct cn_unwind_mappings *mappings;
    struct cn_unwind_mapping left = {0}, right = {0}, *to;
    struct cn_unwind_module *module;
    size_t first, last;

    if (begin >= end)
        return;
    mappings = own_mappings(space);
    mappings->id = ++space->unwinder->last_id;
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
    module = cn_unwind_module_at(&space->unwinder->modules, path, build_id);
    *to++ = (struct cn_unwind_mapping){
        .begin = begin,
        .end = end,
        .file_off = file_off,
        .path = module->path,
        .build_id = module->build_id,
        .module = module,
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

struct cn_unwind_place *cn_unwind_place_at(struct cn_unwind_space *space,
                                           uint64_t address)
{
    struct cn_unwinder *unwinder = space->unwinder;
    /* Addresses that differ in low bits are of different functions or loops. */
    struct cn_unwind_place *place =
        &unwinder->places[(address ^ address >> 12) % CN_UNWIND_PLACES];
    const struct cn_unwind_mapping *mapping;
    uint64_t in_module;

    if (place->address == address && place->mappings_id == space->mappings->id)
        return place;
    *place =
        (struct cn_unwind_place){.address = address, .mappings_id = space->mappings->id};
    mapping = cn_unwind_space_find(space, address);
    if (!mapping)
        return place;
    place->module = mapping->module;
    place->file_off = address - mapping->begin + mapping->file_off;
    place->table = cn_unwind_module_table(&unwinder->modules, mapping->module);
    if (place->table &&
        cn_unwind_table_address(place->table, place->file_off, &in_module)) {
        place->rule = cn_unwind_table_find(place->table, in_module);
        place->is_entry = in_module >= place->table->entry &&
                          in_module - place->table->entry < ENTRY_LEN;
    }
    return place;
}
