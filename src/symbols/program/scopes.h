/* The function of an address in debug information, and the calls inlined there. libdw looks
 * through all of a compilation unit for each address; here the functions of a unit are listed
 * once. Internal to the folder.
 * Threads: one thread at a time.
 */
#ifndef CN_SYMBOLS_PROGRAM_SCOPES_H
#define CN_SYMBOLS_PROGRAM_SCOPES_H

#include <elfutils/libdw.h>
#include <stddef.h>

#include "base/map.h"

enum { CN_SCOPE_MAX = 64 };

struct cn_scopes {
    struct cn_map unit_of; /* by offset of the unit: in `units` */
    struct cn_scope_unit *units;
    size_t count, capacity;
};

/* The function itself, then each function inlined at the address, the innermost last; returns
 * how many. A zeroed struct is ready for use. */
size_t cn_scopes_at(struct cn_scopes *scopes, Dwarf_Die *unit, Dwarf_Addr address,
                    Dwarf_Die out[CN_SCOPE_MAX]);
void cn_scopes_done(struct cn_scopes *scopes);

#endif
