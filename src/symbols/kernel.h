/* Functions of a kernel, from text in the form of /proc/kallsyms:
 *
 *     ffffffff81000000 T name	[module]
 *
 * A zeroed table is empty. It owns its text.
 * Threads: one thread fills it; immutable afterwards.
 */
#ifndef CN_SYMBOLS_KERNEL_H
#define CN_SYMBOLS_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

struct cn_kernel_symbol {
    uint64_t address;
    size_t name_off; /* in the text, ends with a NUL */
};

struct cn_kernel_symbols {
    struct cn_text text;
    struct cn_kernel_symbol *list; /* by address; of several names the first counts */
    size_t count, capacity;
};

/* List the symbols in symbols->text whose type is one of `types`. Names extend to the end
 * of the line, with the module. */
void cn_kernel_symbols_parse(struct cn_kernel_symbols *symbols, const char *types);

/* True if `build_id` (hexadecimal) or, where it is "", `release` (of uname) is that of the
 * running kernel. */
bool cn_kernel_is_running(const char *build_id, const char *release);

/* Read the functions of the running kernel, without their modules. The table stays empty
 * if this user may not see addresses. */
void cn_kernel_symbols_load(struct cn_kernel_symbols *symbols);

/* The last symbol at or below `address`, or NULL. */
const struct cn_kernel_symbol *
cn_kernel_symbols_find(const struct cn_kernel_symbols *symbols, uint64_t address);

void cn_kernel_symbols_done(struct cn_kernel_symbols *symbols);

#endif
