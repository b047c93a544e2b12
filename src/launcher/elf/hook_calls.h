/* The call sites of hooks in functions of a file. Where the hook is not the first
 * instruction of a function, the locations of its arguments must be looked up at the
 * address after that call.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_ELF_HOOK_CALLS_H
#define CN_LAUNCHER_ELF_HOOK_CALLS_H

#include <stdint.h>

struct cn_hook_calls;

/* NULL when the file has no such calls. */
struct cn_hook_calls *cn_hook_calls_open(const char *path);
void cn_hook_calls_close(struct cn_hook_calls *calls); /* NULL is fine */

/* The address after the first such call in the function at `offset`, relative to the
 * start of the file's mapping; 0 when there is none. */
uint64_t cn_hook_calls_find(const struct cn_hook_calls *calls, uint64_t offset,
                            uint64_t size);

#endif
