/* What a function says of the call paths through it, by its name: see code.h.
 *
 * Threads: any thread.
 */
#ifndef CN_ANALYZE_LENS_CODE_WORK_H
#define CN_ANALYZE_LENS_CODE_WORK_H

#include <stdint.h>

#include "analyze/lens/code.h"

/* `name` without the type of its result. */
uint8_t cn_code_work_of(enum cn_code_kind kind, const char *name);

#endif
