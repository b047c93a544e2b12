/* Asks debuginfod servers for files of a build. libdebuginfod is loaded, not linked.
 * Internal to the folder.
 * Threads: one thread at a time.
 */
#ifndef CN_SYMBOLS_PROGRAM_DEBUGINFOD_H
#define CN_SYMBOLS_PROGRAM_DEBUGINFOD_H

#include <stdbool.h>

#include "base/text.h"

struct cn_debuginfod;

/* Never NULL; without $DEBUGINFOD_URLS or the library, it finds nothing. */
struct cn_debuginfod *cn_debuginfod_new(void);
void cn_debuginfod_free(struct cn_debuginfod *debuginfod); /* NULL is fine */

/* The path of a downloaded file: the module itself, or its debug information. */
bool cn_debuginfod_find(struct cn_debuginfod *debuginfod, const char *build_id,
                        bool is_debug, struct cn_text *path);

#endif
