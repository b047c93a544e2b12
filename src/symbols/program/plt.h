/* The entries of procedure linkage tables: code that jumps to a function of another module,
 * and has no symbol. Internal to the folder.
 * Threads: one thread at a time.
 */
#ifndef CN_SYMBOLS_PROGRAM_PLT_H
#define CN_SYMBOLS_PROGRAM_PLT_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

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

#endif
