/* operator new and delete of C++ in the place of those of the program, which they call.
 *
 * Those of the C++ library call malloc() and free(), and are only passed on. Those of allocators
 * (jemalloc, tcmalloc, mimalloc) do not: each block of these is noted here. Which they are is found at the
 * first call, by asking for a block.
 *
 * A library with this in it has the functions below, and counts. Threads: any thread.
 */
#ifndef CN_RECORD_HEAP_OPERATORS_H
#define CN_RECORD_HEAP_OPERATORS_H

#include <stddef.h>
#include <stdint.h>

/* A block was made, is about to be freed. */
void cn_operators_made(void *block, size_t size, uintptr_t caller);
void cn_operators_freed(void *block);

/* What this thread has allocated so far, by malloc() and others, and by operators that were noted: the
 * library counts it. A variable, as it is read twice for each block. */
extern __thread uint64_t cn_operators_count
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* In between, what this thread allocates is counted, but is not of the program. */
void cn_operators_quiet(void);
void cn_operators_loud(void);

#endif
