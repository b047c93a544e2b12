/* Where functions of a file call their hook: what lies behind that call is what debug
 * information must be asked about when the hook does not come first in a function.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_HOOK_CALLS_H
#define CN_LAUNCHER_HOOK_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cn_hook_calls;

/* NULL when the file has no such calls. */
struct cn_hook_calls *cn_hook_calls_open(const char *path);
void cn_hook_calls_close(struct cn_hook_calls *calls); /* NULL is fine */

/* The address behind the first such call in the function at `offset`, counted from where
 * the file is mapped. 0: there is none. */
uint64_t cn_hook_calls_find(const struct cn_hook_calls *calls, uint64_t offset,
                            uint64_t size);

#endif
