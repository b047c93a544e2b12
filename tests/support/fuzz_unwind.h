/* Unwinding with any table: whatever it contains, the work is limited and stays inside the
 * copy of the stack.
 * Threads: one thread at a time.
 */
#ifndef CN_TEST_FUZZ_UNWIND_H
#define CN_TEST_FUZZ_UNWIND_H

#include "unwind/table.h"

/* Look up addresses of the table and unwind stacks of arbitrary words in it. Takes the
 * table. */
void cn_fuzz_unwind(struct cn_unwind_table *table);

#endif
