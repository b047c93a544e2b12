/* The records of what this program allocates and frees: a second track of each thread, whose ring is
 * drained to TID.mem. Only the library with CN_REC_MEMORY_LIBRARY's name has these functions.
 *
 * Nothing here allocates. A signal handler that interrupts the thread while it stores a record adds
 * its own behind it; the ring is drained up to a record that is being stored.
 * Threads: any thread; a ring belongs to its thread.
 */
#ifndef CN_RECORD_HEAP_LOG_H
#define CN_RECORD_HEAP_LOG_H

#include <stdbool.h>
#include <stdint.h>

/* Add a record of a kind (formats/memory/format.h). What is allocated before the set-up waits for
 * it. */
void cn_rec_heap_add(uint64_t kind, uintptr_t address, uint64_t size,
                     uint64_t usable_size);

/* A record that is completed later: with kind CN_MEMORY_NOTHING, it was not to be. Records that are
 * added in between come after it. NULL: it is lost, or nothing is recorded. */
uint8_t *cn_rec_heap_reserve(void);
void cn_rec_heap_complete(uint8_t *slot, uint64_t kind, uintptr_t address,
                          uint64_t usable_size);

/* From here on the program is recorded, if `is_recorded`. */
void cn_rec_heap_switch(bool is_recorded);

/* The number of this program in its records; 0: it is not recorded. */
uint64_t cn_rec_heap_program(void);

/* The program that is to be checked for leaks when it ends. */
void cn_rec_leaks_begin(void);

/* The set-up of the recorder is complete. NULL: memory is not recorded. */
void cn_rec_heap_begin(void) __attribute__((weak));

#endif
