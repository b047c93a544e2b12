/* Names of constants that well-known library functions take, as enums of uftrace.
 * Threads: any thread.
 */
#ifndef CN_LAUNCHER_RULES_KNOWN_ENUMS_H
#define CN_LAUNCHER_RULES_KNOWN_ENUMS_H

#include "base/text.h"

/* Append "enum cairn_open {O_RDONLY=0,...};..." for the names in known_functions.c. */
void cn_known_enums_print(struct cn_text *out);

#endif
