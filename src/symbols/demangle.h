/* Demangling of C++ and Rust names.
 * Threads: any thread.
 */
#ifndef CN_SYMBOLS_DEMANGLE_H
#define CN_SYMBOLS_DEMANGLE_H

#include <stdbool.h>

#include "model/format.h"

struct cn_text;

/* Append the demangled name. False, with nothing appended, if `raw` is not a mangled name or
 * is too long. */
bool cn_demangle(const char *raw, enum cn_demangle how, struct cn_text *out);

#endif
