/* The functions of Python that recorded processes call: names and addresses for the
 * recording (python.fake.sym, python.fake.dbg, as uftrace writes them).
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_RULES_PYTHON_FUNCTIONS_H
#define CN_LAUNCHER_RULES_PYTHON_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"

struct cn_python_functions {
    const char *dir; /* of the recording */
    struct cn_names requests;
    uint32_t *rules; /* by number: 1 + the index of a rule; 0: none */
    size_t capacity;
    int symbols, debug; /* files of the recording; 0: not open */
};

/* The number of the function that a request names (record/start/python.c), from 1 on; it
 * is also its address. 0 when there are too many, or the recording cannot be written. If it
 * is new, `name` is a part of the request, else NULL. */
uint32_t cn_python_functions_find(struct cn_python_functions *functions,
                                  const char *request, const char **name);

/* Complete the files. */
CN_CHECK bool cn_python_functions_finish(const struct cn_python_functions *functions,
                                         struct cn_error *err);
void cn_python_functions_done(struct cn_python_functions *functions);

#endif
