/* A pattern as a program: what cn_query_pattern_compile() makes of the text and matching runs.
 * Threads: immutable after compiling.
 */
#ifndef CN_STORE_SEARCH_QUERY_PROGRAM_H
#define CN_STORE_SEARCH_QUERY_PROGRAM_H

#include <stdint.h>

#include "base/error.h"
#include "store/search/query_pattern.h"

enum cn_query_pattern_op {
    CN_QUERY_PATTERN_SET,   /* a byte of the set */
    CN_QUERY_PATTERN_SPLIT, /* go on at the next and at `to` */
    CN_QUERY_PATTERN_JUMP,  /* go on at `to` */
    CN_QUERY_PATTERN_BEGIN, /* the beginning of the text */
    CN_QUERY_PATTERN_END,   /* its end */
    CN_QUERY_PATTERN_MATCH,
};

struct cn_query_pattern_set {
    uint64_t bits[4];
};

struct cn_query_pattern_code {
    enum cn_query_pattern_op op;
    int to; /* from this instruction, so that programs can be moved */
    struct cn_query_pattern_set set;
};

struct cn_query_program {
    struct cn_query_pattern_code *code; /* the last one is CN_QUERY_PATTERN_MATCH */
    size_t count;
};

/* The caller frees program->code. */
CN_CHECK bool cn_query_pattern_compile(struct cn_query_program *program, const char *text,
                                       struct cn_error *err);

#endif
