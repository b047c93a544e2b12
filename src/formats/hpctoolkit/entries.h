/* Entry points of formats that have no records for them: root contexts whose functions have
 * certain names.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_ENTRIES_H
#define CN_FORMATS_HPCTOOLKIT_ENTRIES_H

#include "model/contexts/context.h"

enum { CN_HPC_ENTRY_COUNT = 3 };

/* The name of the root context that means "not running" in timelines. */
#define CN_HPC_IDLE "<no activity>"

/* The function that represents entry point `entry`, enum cn_entry; NULL: none. */
const char *cn_hpc_entry_function(unsigned entry);

/* The entry point that a function represents. False for an ordinary function. */
bool cn_hpc_entry_find(const char *function, uint16_t *entry);

/* Make a root the entry point that its function represents, or one of that name; NULL: it has
 * no function. */
void cn_hpc_entry_make(struct cn_context *root, const char *function);

#endif
