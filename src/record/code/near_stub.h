/* Memory within reach of a near call or jump in other code. Jumps are never unmapped, and
 * reused.
 * Threads: one thread at a time: while the library is loaded, or under the loader's lock.
 */
#ifndef CN_RECORD_CODE_NEAR_STUB_H
#define CN_RECORD_CODE_NEAR_STUB_H

#include <stddef.h>
#include <stdint.h>

/* Map `len` writable bytes in reach of all code from `low` to `high`; NULL when there
 * is no room. */
uint8_t *cn_rec_near_map(uintptr_t low, uintptr_t high, size_t len);

/* The address of a jump to `target`, in reach of all code from `low` to `high`; 0 when
 * there is no free page. */
uintptr_t cn_rec_near_stub(uintptr_t low, uintptr_t high, uintptr_t target);

#endif
