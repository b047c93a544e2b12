#include "symbols/program/debug_info.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"
#include "base/sort.h"

enum {
    OVERLAP_MAX = 8
}; /* ranges that begin before an address and end before it as well */

struct scopes_range {
    uint64_t low, high;
    Dwarf_Die function;
};

struct cn_scope_unit {
    struct scopes_range *list;
    size_t count, capacity;
};

static int add_function(Dwarf_Die *die, void *arg)
{
    struct cn_scope_unit *unit = arg;
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0;

    while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
        CN_PUSH(unit->list, unit->count, unit->capacity,
                (struct scopes_range){low, high, *die});
    }
    return DWARF_CB_OK;
}

static const struct cn_scope_unit *unit_at(struct cn_scopes *scopes, Dwfl_Module *module,
                                           Dwarf_Die *die)
{
    uint32_t at =
        *cn_map_at(&scopes->unit_of, dwarf_dieoffset(die), (uint32_t)scopes->count);
    struct cn_scope_unit *unit;
    Dwarf_Die whole;

    if (at < scopes->count)
        return &scopes->units[at];
    CN_GROW(scopes->units, at, scopes->capacity);
    unit = &scopes->units[scopes->count++];
    *unit = (struct cn_scope_unit){0};
    scopes->has_lost |= !cn_unit_whole(module, die, &whole);
    (void)dwarf_getfuncs(&whole, add_function, unit, 0);
    CN_SORT(unit->list, unit->count, CN_UP(struct scopes_range, low));
    return unit;
}

static bool find_function(const struct cn_scope_unit *unit, uint64_t address,
                          Dwarf_Die *out)
{
    size_t at = unit->count == 0 ? 0
                                 : cn_search_u64(&unit->list[0].low, unit->count,
                                                 sizeof(*unit->list), address);

    for (size_t i = 0; at > 0 && i < OVERLAP_MAX; i++) {
        if (address < unit->list[--at].high) {
            *out = unit->list[at].function;
            return true;
        }
    }
    return false;
}

/* The block or inlined function directly in `die` that contains the address. */
static bool find_inner(Dwarf_Die *die, Dwarf_Addr address, Dwarf_Die *out)
{
    if (dwarf_child(die, out) != 0)
        return false;
    do {
        int tag = dwarf_tag(out);

        if ((tag == DW_TAG_inlined_subroutine || tag == DW_TAG_lexical_block) &&
            dwarf_haspc(out, address) > 0)
            return true;
    } while (dwarf_siblingof(out, out) == 0);
    return false;
}

size_t cn_scopes_at(struct cn_scopes *scopes, Dwfl_Module *module, Dwarf_Die *unit,
                    Dwarf_Addr address, Dwarf_Die out[CN_SCOPE_MAX])
{
    Dwarf_Die at, inner;
    size_t count = 0;

    if (!find_function(unit_at(scopes, module, unit), address, &at))
        return 0;
    out[count++] = at;
    for (unsigned i = 0; i < 4 * CN_SCOPE_MAX && find_inner(&at, address, &inner); i++) {
        at = inner;
        if (dwarf_tag(&at) == DW_TAG_inlined_subroutine && count < CN_SCOPE_MAX)
            out[count++] = at;
    }
    return count;
}

void cn_scopes_done(struct cn_scopes *scopes)
{
    for (size_t i = 0; i < scopes->count; i++)
        free(scopes->units[i].list);
    free(scopes->units);
    cn_map_done(&scopes->unit_of);
    *scopes = (struct cn_scopes){0};
}
