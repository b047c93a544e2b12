/* Names that a perf.data file contains for the addresses that were sampled, so that a machine
 * without the programs, or with another kernel, shows the same functions.
 *
 * Each address has a key (cn_stored_symbols_key) and the frames that are there: the function, and
 * the calls inlined there with their loops. The table is a section of the file that perf
 * skips (format.h).
 *
 *     cn_stored_symbols_level() ..., cn_stored_symbols_add(); cn_stored_symbols_encode()
 *     cn_stored_symbols_decode(), cn_stored_symbols_find()
 *
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_PERF_STORED_SYMBOLS_H
#define CN_FORMATS_EXCHANGE_PERF_STORED_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/map.h"
#include "base/text.h"

enum {
    CN_STORED_SYMBOLS_MAX = 64 << 20
}; /* bytes; names of other addresses are left out */

/* A frame of an address, the outermost first. */
struct cn_stored_level {
    const char *name, *module, *build_id, *file; /* "" if unknown */
    uint64_t offset;                             /* of the function in the module */
    uint32_t line;
    bool is_inlined;
    bool is_loop; /* has a file and a line only */
};

/* The names of an address. */
struct cn_stored_symbol {
    uint32_t first, count;         /* in the levels */
    uint32_t entry;                /* enum cn_entry */
    uint32_t line;                 /* of the innermost level */
    const char *file;              /* NULL: unknown */
    const char *module, *build_id; /* of the instruction; NULL: unknown */
    uint64_t offset;               /* in the module */
    bool is_main_caller;
    bool
        is_partial; /* without lines, or named by its offset: another file may know more */
};

/* A zeroed one is ready for use. */
struct cn_stored_symbols {
    struct cn_stored_level *levels;
    size_t level_count, level_capacity;
    struct cn_stored_symbol *list;
    uint64_t *keys;
    size_t count, capacity, key_capacity;
    struct cn_map at; /* by key: in the list */
    struct cn_names strings;
    size_t string_len;   /* bytes */
    size_t left_out;     /* addresses without room */
    struct cn_text text; /* of a table that was read: its strings */
};

void cn_stored_symbols_done(struct cn_stored_symbols *symbols);

/* The key of a byte of a file, of an address of the kernel ("[kernel]"), or of code that a
 * process compiled ("[jit]", with its pid in decimal as the build-id). */
uint64_t cn_stored_symbols_key(const char *path, const char *build_id, uint64_t offset);

/* Add a level of the address that is added next. */
void cn_stored_symbols_level(struct cn_stored_symbols *symbols,
                             const struct cn_stored_level *level);

/* Add an address with the levels since the last one; `first` and `count` are set. */
void cn_stored_symbols_add(struct cn_stored_symbols *symbols, uint64_t key,
                           const struct cn_stored_symbol *symbol);

/* Forget the levels since the last address. */
void cn_stored_symbols_drop(struct cn_stored_symbols *symbols);

/* Append the table to `out`. */
void cn_stored_symbols_encode(const struct cn_stored_symbols *symbols,
                              struct cn_text *out);

/* Read a table, which `out` takes. False if it is damaged: it is then empty. */
bool cn_stored_symbols_decode(struct cn_stored_symbols *out, struct cn_text *bytes);

/* The names of an address, or NULL. */
const struct cn_stored_symbol *
cn_stored_symbols_find(const struct cn_stored_symbols *symbols, uint64_t key);

#endif
