/* Entry points, for which the prototype has no records: root contexts whose functions have
 * certain names.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_ENTRIES_H
#define CN_FORMATS_HPCTOOLKIT_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

enum { CN_HPC_ENTRY_COUNT = 3 };

/* The name of the root context that means "not running" in timelines. */
#define CN_HPC_IDLE "<no activity>"

/* The function that represents entry point `entry`, enum cn_entry; NULL: none. */
const char *cn_hpc_entry_function(unsigned entry);

/* The entry point that a function represents. False for an ordinary function. */
bool cn_hpc_entry_find(const char *function, uint16_t *entry);

#endif
