/* Functions that a program compiled while it ran, from the files that it wrote about them:
 *
 *   perf-PID.map   text, a line "ADDRESS SIZE NAME" (hexadecimal) for each function; of
 *                  functions at the same address the last one counts
 *   jit-PID.dump   jitdump version 1: records with times, so that code that replaced other
 *                  code is told apart; also source lines
 *
 * Names of V8 ("JS:*fib /a/b.js:1:13") and of Python ("py::fib:/a/b.py") are split into
 * function, file and line. Damaged lines and records are skipped or end the file; functions
 * before them stay. A zeroed one has no functions. Strings live as long as it.
 * Threads: one thread fills it; immutable afterwards.
 */
#ifndef CN_SYMBOLS_JIT_CODE_H
#define CN_SYMBOLS_JIT_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "base/error.h"
#include "base/map.h"

/* Languages, which stand for the module of a function. */
#define CN_JIT_CODE       "[jit]"
#define CN_JIT_JAVASCRIPT "[javascript]"
#define CN_JIT_PYTHON     "[python]"

struct cn_jit_line {
    uint64_t offset; /* in the function, of its first instruction */
    const char *file;
    uint32_t line;
};

struct cn_jit_function {
    uint64_t begin, end;
    uint64_t time_ns; /* when it was written; 0: before everything */
    const char *name;
    const char *language; /* one of those above */
    const char *file;     /* of the definition; "" if unknown */
    uint32_t line;        /* 0 if unknown */
    uint64_t number;      /* of the code, in jitdump */
    const struct cn_jit_line *lines;
    uint32_t line_count;
};

struct cn_jit_code {
    struct cn_arena arena;
    struct cn_names names;
    struct cn_jit_function *list;
    size_t count, capacity;
    struct cn_jit_link *links; /* functions of pages */
    size_t link_count, link_capacity;
    struct cn_map newest; /* by page: the newest link */
};

/* Set name, language, file and line of a function from its name in such a file. */
void cn_jit_code_name(struct cn_jit_code *code, const char *name, size_t len,
                      struct cn_jit_function *out);

/* Add the functions of a perf-PID.map. */
void cn_jit_code_read_map(struct cn_jit_code *code, struct cn_bytes text);

/* Add the functions of a jitdump. On failure, functions before the damage were added. */
CN_CHECK bool cn_jit_code_read_dump(struct cn_jit_code *code, struct cn_bytes bytes,
                                    struct cn_error *err);

/* Add the functions of a file of either kind, which must belong to this user or to root.
 * CN_ERR_NOT_FOUND if there is none. */
CN_CHECK bool cn_jit_code_open(struct cn_jit_code *code, const char *path,
                               struct cn_error *err);

/* The function at `address`: the newest of those written until `time_ns`, or NULL. */
const struct cn_jit_function *cn_jit_code_find(const struct cn_jit_code *code,
                                               uint64_t address, uint64_t time_ns);

/* The source line of an address in the function, or NULL. */
const struct cn_jit_line *cn_jit_function_line(const struct cn_jit_function *function,
                                               uint64_t address);

void cn_jit_code_done(struct cn_jit_code *code);

#endif
