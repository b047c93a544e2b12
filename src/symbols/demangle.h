/* Names as programmers write them, from names as linkers know them: C++ and Rust.
 * Threads: any thread.
 */
#ifndef CN_SYMBOLS_DEMANGLE_H
#define CN_SYMBOLS_DEMANGLE_H

#include <stdbool.h>

struct cn_text;

enum cn_demangle {
    CN_DEMANGLE_SIMPLE, /* ns::Class::function, no arguments, no template arguments */
    CN_DEMANGLE_FULL,   /* ns::Class<int>::function(int) const */
    CN_DEMANGLE_NO,     /* as it is */
};

/* Append the name that `raw` stands for. False, with nothing appended, when it is no
 * mangled name, or one that is too long. */
bool cn_demangle(const char *raw, enum cn_demangle how, struct cn_text *out);

#endif
