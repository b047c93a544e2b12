/* A pattern as a program: what cn_pattern_compile() makes of the text and matching runs.
 * Threads: immutable after compiling.
 */
#ifndef CN_STORE_PATTERN_PROGRAM_H
#define CN_STORE_PATTERN_PROGRAM_H

#include <stdint.h>

#include "base/error.h"
#include "store/pattern.h"

enum cn_pattern_op {
    CN_PATTERN_SET,   /* a byte of the set */
    CN_PATTERN_SPLIT, /* go on at the next and at `to` */
    CN_PATTERN_JUMP,  /* go on at `to` */
    CN_PATTERN_BEGIN, /* the beginning of the text */
    CN_PATTERN_END,   /* its end */
    CN_PATTERN_MATCH,
};

struct cn_pattern_set {
    uint64_t bits[4];
};

struct cn_pattern_code {
    enum cn_pattern_op op;
    int to; /* from this instruction, so that programs can be moved */
    struct cn_pattern_set set;
};

struct cn_pattern_program {
    struct cn_pattern_code *code; /* the last one is CN_PATTERN_MATCH */
    size_t count;
};

/* The caller frees program->code. */
CN_CHECK bool cn_pattern_compile(struct cn_pattern_program *program, const char *text,
                                 struct cn_error *err);

#endif
