/* Names as programmers write them, from names as linkers know them: C++ and Rust.
 * Threads: any thread.
 */
#ifndef CN_SYMBOLS_DEMANGLE_H
#define CN_SYMBOLS_DEMANGLE_H

#include <stdbool.h>

#include "model/format.h"

struct cn_text;

/* Append the name that `raw` stands for. False, with nothing appended, when it is no
 * mangled name, or one that is too long. */
bool cn_demangle(const char *raw, enum cn_demangle how, struct cn_text *out);

#endif
