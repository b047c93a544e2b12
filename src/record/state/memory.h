/* The recorder's mapping of the memory shared with the launcher.
 *
 * All of it is mapped at once, unless the address space is limited (RLIMIT_AS): then only
 * what is used, at the same addresses, and the file is opened again for each ring. When the
 * program sets a limit itself, everything that is not used is unmapped first, so that the
 * program has the memory that it expects.
 * Threads: cn_rec_memory_open() once, before the program runs; the others, any thread that
 * has blocked its signals.
 */
#ifndef CN_RECORD_STATE_MEMORY_H
#define CN_RECORD_STATE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

struct cn_rec_heap;
struct cn_rec_thread;
struct cn_rec_track;

/* Map the file, and set cn_rec_process. */
bool cn_rec_memory_open(const char *path);

/* Make all rules and values accessible that the launcher has added. */
bool cn_rec_memory_rules(void);

/* Make the first `count` tracks accessible. */
bool cn_rec_memory_tracks(uint32_t count);

/* Make the ring of a track accessible and give both to a thread, or to none for NULL. The
 * ring is shorter if there is little memory; NULL if there is none. */
uint8_t *cn_rec_memory_ring(struct cn_rec_track *track, struct cn_rec_thread *thread);

/* The same for the records of what a thread allocates. */
uint8_t *cn_rec_memory_heap_ring(struct cn_rec_track *track, struct cn_rec_heap *heap);

/* The program is about to limit its address space. */
void cn_rec_memory_limit(void);

/* The limit of the address space; UINT64_MAX: none. */
uint64_t cn_rec_memory_limit_len(void);

#endif
