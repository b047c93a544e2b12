/* Watches the files that the loader maps and unmaps.
 *
 * For debuggers, the loader calls an empty function when its list of files changes. The
 * recorder writes a jump into it: libraries are then patched under the loader's lock,
 * before they run. Where that function is not empty, libraries are found at the next
 * recorded call after a dlopen(), and not patched.
 * Threads: cn_rec_loader_begin() once, before the program runs; the others, any thread.
 */
#ifndef CN_RECORD_CODE_LOADER_H
#define CN_RECORD_CODE_LOADER_H

#include <stdbool.h>
#include <stdint.h>

struct cn_rec_thread;

/* Patch all mapped files, record their library calls, and watch the loader from now on.
 * False when library calls cannot be recorded. */
bool cn_rec_loader_begin(void);

/* True if the loader is watched. */
bool cn_rec_loader_is_watched(void);

/* Look for libraries that the current dlopen() of this thread has mapped. `sp` is the
 * current stack pointer. */
void cn_rec_loader_find_new(struct cn_rec_thread *self, uintptr_t sp);

#endif
