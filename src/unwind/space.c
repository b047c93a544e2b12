#include "unwind/space.h"

#include <stdlib.h>

#include "base/alloc.h"

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

struct cn_unwind_space *cn_unwind_space_new(struct cn_unwinder *unwinder)
{
    struct cn_unwind_space *space = cn_alloc(1, sizeof(*space));

    space->unwinder = unwinder;
    return space;
}

struct cn_unwind_space *cn_unwind_space_copy(const struct cn_unwind_space *space)
{
    struct cn_unwind_space *copy = cn_unwind_space_new(space->unwinder);

    copy->mappings = space->mappings;
    if (copy->mappings)
        copy->mappings->reference_count++;
    return copy;
}

void cn_unwind_space_clear(struct cn_unwind_space *space)
{
    cn_unwind_node_release(space->mappings, &space->unwinder->indexes);
    space->mappings = NULL;
}

void cn_unwind_space_free(struct cn_unwind_space *space)
{
    if (!space)
        return;
    cn_unwind_space_clear(space);
    free(space);
}

void cn_unwind_space_map(struct cn_unwind_space *space, uint64_t begin, uint64_t end,
                         uint64_t file_off, const char *path, const char *build_id)
{
    if (begin >= end)
        return;
    struct cn_unwind_module *module =
        cn_unwind_module_at(&space->unwinder->modules, path, build_id);
    space->mappings = cn_unwind_node_new(space->mappings,
                                         &(struct cn_unwind_mapping){
                                             .begin = begin,
                                             .end = end,
                                             .file_off = file_off,
                                             .path = module->path,
                                             .build_id = module->build_id,
                                             .module = module,
                                         },
                                         ++space->unwinder->last_id);
}

void cn_unwind_space_set_memory(struct cn_unwind_space *space, cn_unwind_memory read,
                                void *arg)
{
    space->read_memory = read;
    space->memory = arg;
}

void cn_unwind_space_set_foreign(struct cn_unwind_space *space, cn_unwind_foreign undo,
                                 void *arg)
{
    space->undo_foreign = undo;
    space->foreign = arg;
}

const struct cn_unwind_mapping *cn_unwind_space_find(const struct cn_unwind_space *space,
                                                     uint64_t address)
{
    return cn_unwind_node_find(space->mappings, &space->unwinder->indexes, address);
}

const struct cn_unwind_mapping *
cn_unwind_space_before(const struct cn_unwind_space *space, uint64_t address)
{
    return cn_unwind_node_before(space->mappings, &space->unwinder->indexes, address);
}

void cn_unwind_space_each(const struct cn_unwind_space *space,
                          bool (*visit)(void *arg,
                                        const struct cn_unwind_mapping *mapping),
                          void *arg)
{
    const struct cn_unwind_node *node = space->mappings;

    while (node && visit(arg, &node->mapping))
        node = node->older;
}

const struct cn_unwind_table *
cn_unwind_mapping_table(const struct cn_unwind_mapping *mapping)
{
    return mapping->module->has_table ? &mapping->module->table : NULL;
}

uint64_t cn_unwind_space_version(const struct cn_unwind_space *space)
{
    uint64_t id = space->mappings ? space->mappings->id : 0;

    return id | (uint64_t)space->unwinder->modules.loaded_count << 40;
}

struct cn_unwind_point *cn_unwind_point_at(struct cn_unwind_space *space,
                                           uint64_t address)
{
    struct cn_unwinder *unwinder = space->unwinder;
    /* Addresses that differ in low bits are of different functions or loops. */
    struct cn_unwind_point *point =
        &unwinder->points[(address ^ address >> 12) % CN_UNWIND_POINTS];
    uint64_t in_module, id = space->mappings ? space->mappings->id : UINT64_MAX;

    if (point->address == address && point->mappings_id == id)
        return point;
    *point = (struct cn_unwind_point){.address = address, .mappings_id = id};
    const struct cn_unwind_mapping *mapping = cn_unwind_space_find(space, address);
    if (!mapping)
        return point;
    point->module = mapping->module;
    point->file_off = address - mapping->begin + mapping->file_off;
    point->table = cn_unwind_module_table(&unwinder->modules, mapping->module);
    if (point->table &&
        cn_unwind_table_address(point->table, point->file_off, &in_module)) {
        point->rule = cn_unwind_table_find(point->table, in_module);
        point->is_entry = in_module >= point->table->entry &&
                          in_module - point->table->entry < ENTRY_LEN;
    }
    return point;
}
