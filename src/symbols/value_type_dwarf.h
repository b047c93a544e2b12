/* The type that a DWARF entry describes. Only for the files that read DWARF.
 * Threads: one thread at a time a Dwarf.
 */
#ifndef CN_SYMBOLS_VALUE_TYPE_DWARF_H
#define CN_SYMBOLS_VALUE_TYPE_DWARF_H

#include <elfutils/libdw.h>

#include "symbols/value_type.h"

/* The type in attribute DW_AT_type of `die`; strings are kept in the arena. */
void cn_value_type_read(Dwarf_Die *die, struct cn_arena *arena,
                        struct cn_value_type *out);

#endif
