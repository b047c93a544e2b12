/* What is known about functions of the C library and others that everybody calls: their
 * arguments and results, as specifications of uftrace.
 * Threads: immutable.
 */
#ifndef CN_LAUNCHER_KNOWN_FUNCTIONS_H
#define CN_LAUNCHER_KNOWN_FUNCTIONS_H

#include <stdbool.h>

#include "base/text.h"

/* Append "malloc@arg1/u;..." for the arguments or the results of these functions. */
void cn_known_functions_print(bool is_result, struct cn_text *out);

#endif
