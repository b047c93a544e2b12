/* The functions in the symbol tables of a module, by address. libdwfl has a search of its own
 * that looks at every symbol for each address. Internal to the folder.
 * Threads: one thread fills it; immutable afterwards.
 */
#ifndef CN_SYMBOLS_PROGRAM_TABLE_H
#define CN_SYMBOLS_PROGRAM_TABLE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

void cn_symbol_table_read(struct cn_symbol_table *table, Dwfl_Module *module);

/* The innermost function that contains an address, or NULL. */
const struct cn_table_symbol *cn_symbol_table_find(const struct cn_symbol_table *table,
                                                   uint64_t address);
void cn_symbol_table_done(struct cn_symbol_table *table);

#endif
