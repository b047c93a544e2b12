/* What is known about functions of the C library and others that everybody calls: their
 * arguments and results, as specifications of uftrace.
 * Threads: immutable.
 */
#ifndef CN_LAUNCHER_KNOWN_FUNCTIONS_H
#define CN_LAUNCHER_KNOWN_FUNCTIONS_H

#include <stddef.h>

struct cn_known_function {
    const char *name;      /* as in the symbol table; no two look alike demangled */
    const char *arguments; /* "arg1/s,arg2"; "" for none */
    const char *result;    /* "retval/p"; "" for none */
};

extern const struct cn_known_function cn_known_functions[];
extern const size_t cn_known_function_count;

#endif
