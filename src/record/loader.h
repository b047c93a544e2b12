/* The files that the loader has mapped, and those that come and go while the program runs.
 *
 * The loader calls an empty function whenever its list of files has changed, for
 * debuggers. A jump to us is put into it: libraries are then known, and their functions
 * patched, before a single instruction of theirs has run, under the loader's lock.
 * Where that function looks otherwise, libraries are looked for at the next call
 * that is seen after a dlopen(), and not patched.
 * Threads: cn_rec_loader_begin() once, before the program runs; what follows, any thread.
 */
#ifndef CN_RECORD_LOADER_H
#define CN_RECORD_LOADER_H

#include <stdbool.h>
#include <stdint.h>

struct cn_rec_thread;

/* Patch what is mapped now and record its library calls; from now on we are told. False
 * when library calls cannot be recorded. */
bool cn_rec_loader_begin(void);

/* Whether we are told of libraries that are opened. */
bool cn_rec_loader_is_watched(void);

/* Look for libraries that the dlopen() under way in this thread has mapped. `sp` is where
 * the thread is. */
void cn_rec_loader_find_new(struct cn_rec_thread *self, uintptr_t sp);

#endif
