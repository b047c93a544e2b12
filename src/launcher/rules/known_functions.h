/* Arguments and results of well-known library functions, as specs of uftrace.
 * Threads: any thread.
 */
#ifndef CN_LAUNCHER_RULES_KNOWN_FUNCTIONS_H
#define CN_LAUNCHER_RULES_KNOWN_FUNCTIONS_H

#include <stdbool.h>

#include "base/text.h"

/* Append "malloc@arg1/u;...", for the arguments or for the results. */
void cn_known_functions_print(bool is_result, struct cn_text *out);

#endif
