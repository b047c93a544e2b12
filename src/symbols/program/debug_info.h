/* A module and its debug information, opened with libdwfl: that of the module's own file or of
 * the separate file that belongs to it. Internal to the folder.
 * Threads: one thread at a time.
 */
#ifndef CN_SYMBOLS_PROGRAM_DEBUG_INFO_H
#define CN_SYMBOLS_PROGRAM_DEBUG_INFO_H

#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/map.h"
#include "symbols/program/build_files.h"
#include "symbols/program/loops.h"
#include "symbols/program/value_type.h"
#include "unwind/go_table.h"

/* The entries of procedure linkage tables: code that jumps to a function of another module,
 * and has no symbol. Internal to the folder. */

struct cn_plt_entry {
    uint64_t begin;
    const char *name; /* "malloc@plt"; NULL: unknown */
};

struct cn_plt_table {
    Elf_Scn *section;
    uint64_t begin, end, entry_len;
};

enum { CN_PLT_TABLE_MAX = 8 };

struct cn_plt {
    Elf *elf;
    bool is_x86, is_read;
    size_t names; /* section of the names of sections */
    struct cn_plt_table tables[CN_PLT_TABLE_MAX];
    size_t table_count;
    struct cn_plt_entry *list; /* by address */
    size_t count, capacity;
    struct cn_arena arena;
};

/* The tables of an ELF file of x86_64 or aarch64, which must stay open; others have none. */
void cn_plt_init(struct cn_plt *plt, Elf *elf);

/* True if the address, as it was linked, is in a table. The entries are read when one is
 * first asked for. */
bool cn_plt_find(struct cn_plt *plt, uint64_t address, struct cn_plt_entry *out);
void cn_plt_done(struct cn_plt *plt);

/* The functions, or the variables, in the symbol tables of a module, by address. libdwfl has a search of its own
 * that looks at every symbol for each address. Internal to the folder.
 * Threads: one thread fills it; immutable afterwards.
 */

struct cn_table_symbol {
    uint64_t begin, end; /* as libdwfl counts addresses */
    const char *name;    /* lives as long as the module */
    uint8_t binding;
    bool has_size; /* else it ends where the next one begins */
};

struct cn_symbol_table {
    struct cn_table_symbol *list; /* by address; one name for each */
    size_t count, capacity;
};

void cn_symbol_table_read(struct cn_symbol_table *table, Dwfl_Module *module,
                          bool is_of_data);

/* The innermost one that contains an address, or NULL. */
const struct cn_table_symbol *cn_symbol_table_find(const struct cn_symbol_table *table,
                                                   uint64_t address);
void cn_symbol_table_done(struct cn_symbol_table *table);

/* The compilation units of a module, by address. libdw before 0.191 finds only those that the
 * compiler has listed in .debug_aranges: clang does not. Internal to the folder. */

struct cn_units {
    struct cn_unit_range *list; /* by address; read when one is first missing */
    size_t count, capacity;
    bool is_read;
};

/* The unit of an address, as libdwfl counts; `bias` is what that exceeds the address in the unit
 * by. A zeroed struct is ready for use. */
bool cn_units_find(struct cn_units *units, Dwfl_Module *module, Dwarf_Addr address,
                   Dwarf_Die *out, Dwarf_Addr *bias);
void cn_units_done(struct cn_units *units);

/* The unit that has the functions: with -gsplit-dwarf, that of its .dwo file, or of the .dwp file
 * of the program if libdw reads these. False if it was not found; `out` is the unit itself then. */
bool cn_unit_whole(Dwfl_Module *module, Dwarf_Die *unit, Dwarf_Die *out);

/* As dwarf_decl_file(), which fails an assertion for split units in libdw 0.188. */
const char *cn_unit_declared_in(Dwarf_Die *function);

/* The function of an address in debug information, and the calls inlined there. libdw looks
 * through all of a compilation unit for each address; here the functions of a unit are listed
 * once. Internal to the folder. */

enum { CN_SCOPE_MAX = 64 };

struct cn_scopes {
    struct cn_map unit_of; /* by offset of the unit: in `units` */
    struct cn_scope_unit *units;
    size_t count, capacity;
    bool has_lost; /* a unit was not found, see cn_unit_whole() */
};

/* The function itself, then each function inlined at the address, the innermost last; returns
 * how many. A zeroed struct is ready for use. */
size_t cn_scopes_at(struct cn_scopes *scopes, Dwfl_Module *module, Dwarf_Die *unit,
                    Dwarf_Addr address, Dwarf_Die out[CN_SCOPE_MAX]);
void cn_scopes_done(struct cn_scopes *scopes);

struct cn_debug_info {
    Dwfl *dwfl; /* NULL: not open */
    Dwfl_Module *module;
    GElf_Addr begin;  /* address of the module's first page in libdwfl */
    GElf_Addr linked; /* addresses in libdwfl - addresses as the module was linked */
    struct cn_plt plt;
    struct cn_symbol_table symbols; /* read when one is first looked for */
    bool has_symbols;
    struct cn_symbol_table variables; /* likewise */
    bool has_variables;
    struct cn_units units;
    struct cn_scopes scopes;
    bool has_go;
    struct cn_go_table go; /* of a Go program */
    struct cn_map loop_of; /* by offset of the function: in `loops` */
    struct cn_loops *loops;
    size_t loop_count, loop_capacity;
    bool has_dwarf;
    bool
        is_packed; /* its debug sections, with zstd, which libelf before 0.189 cannot read */
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
