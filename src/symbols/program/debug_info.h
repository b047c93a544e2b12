/* A module and its debug information, opened with libdwfl: that of the module's own file or of
 * the separate file that belongs to it. Internal to the folder.
 * Threads: one thread at a time.
 */
#ifndef CN_SYMBOLS_PROGRAM_DEBUG_INFO_H
#define CN_SYMBOLS_PROGRAM_DEBUG_INFO_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

#include "base/map.h"
#include "symbols/program/build_files.h"
#include "symbols/program/loops.h"
#include "symbols/program/plt.h"
#include "symbols/program/scopes.h"
#include "symbols/program/table.h"
#include "symbols/program/value_type.h"

struct cn_debug_info {
    Dwfl *dwfl; /* NULL: not open */
    Dwfl_Module *module;
    GElf_Addr begin;  /* address of the module's first page in libdwfl */
    GElf_Addr linked; /* addresses in libdwfl - addresses as the module was linked */
    struct cn_plt plt;
    struct cn_symbol_table symbols; /* read when one is first looked for */
    bool has_symbols;
    struct cn_scopes scopes;
    struct cn_map loop_of; /* by offset of the function: in `loops` */
    struct cn_loops *loops;
    size_t loop_count, loop_capacity;
    bool has_dwarf;
    Dwarf_Addr bias; /* addresses in libdwfl - addresses in the debug information */
};

/* Open the module at `path`. If that is not the build `build_id` (hexadecimal, "" for any), a
 * copy of it is opened (build_files.h). Borrows `files`. False, with nothing to close, when
 * there is none. */
bool cn_debug_info_open(struct cn_debug_info *info, const char *path,
                        const char *build_id, struct cn_build_files *files);
void cn_debug_info_close(struct cn_debug_info *info); /* safe when it is not open */

/* The type in attribute DW_AT_type of `die`; strings live in the arena. */
void cn_value_type_read(Dwarf_Die *die, struct cn_arena *arena,
                        struct cn_value_type *out);

#endif
