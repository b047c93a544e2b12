/* Entry points, for which the prototype has no records: root contexts whose
 * functions have names that say so.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_PROTO_ENTRIES_H
#define CN_FORMATS_HPCTOOLKIT_PROTO_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

enum { CN_HPC_PROTO_ENTRY_COUNT = 3 };

/* What stands for "not running" in timelines: a root context of its own. */
#define CN_HPC_PROTO_IDLE "<no activity>"

/* The function that stands for entry point number `entry`, enum cn_entry; NULL when
 * none does. */
const char *cn_hpc_proto_entry_function(unsigned entry);

/* What databases call that entry point: "main thread". */
const char *cn_hpc_proto_entry_name(unsigned entry);

/* The entry point that a function stands for. False when it is an ordinary
 * function. */
bool cn_hpc_proto_entry_find(const char *function, uint16_t *entry);

#endif
