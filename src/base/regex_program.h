/* A regular expression compiled to a program, which regex.c runs.
 * Threads: immutable after compiling.
 */
#ifndef CN_BASE_REGEX_PROGRAM_H
#define CN_BASE_REGEX_PROGRAM_H

#include <stdint.h>

#include "base/regex.h"

/* Characters are mapped to symbols: an ASCII character to itself, a byte that is not UTF-8
 * to CN_REGEX_INVALID, all others to the class they belong to. Two characters are in one
 * class if no set of the expression contains only one of them. */
enum {
    CN_REGEX_INVALID = 128,
    CN_REGEX_CLASSES = 129, /* symbol of the first class */
    CN_REGEX_SYMBOLS = 256,
    CN_REGEX_BOUNDS_MAX = CN_REGEX_SYMBOLS - CN_REGEX_CLASSES - 1,
};

enum cn_regex_op {
    CN_REGEX_SET,        /* a symbol of the set */
    CN_REGEX_SPLIT,      /* continue at the next instruction and at `to` */
    CN_REGEX_JUMP,       /* continue at `to` */
    CN_REGEX_BEGIN,      /* begin of the text */
    CN_REGEX_END,        /* end of the text */
    CN_REGEX_WORD_BEGIN, /* between characters that are not and that are part of a word */
    CN_REGEX_WORD_END,   /* the reverse */
    CN_REGEX_EDGE,       /* begin or end of a word */
    CN_REGEX_NO_EDGE,    /* neither */
    CN_REGEX_MATCH,
};

struct cn_regex_code {
    enum cn_regex_op op;
    int to; /* relative to this instruction, so that code can be copied */
    uint64_t set[CN_REGEX_SYMBOLS / 64];
};

struct cn_regex_program {
    struct cn_regex_code *code; /* the last one is CN_REGEX_MATCH */
    size_t count, capacity;
    uint32_t bounds[CN_REGEX_BOUNDS_MAX]; /* first characters of all classes but one */
    size_t bound_count;
};

/* The caller frees program->code, also after a failure. */
CN_CHECK bool cn_regex_compile(struct cn_regex_program *program, const char *text,
                               unsigned flags, struct cn_error *err);

/* The symbol of the first character of a text that is not empty; `len` receives its
 * length. */
unsigned cn_regex_symbol(const struct cn_regex_program *program, const char *text,
                         size_t text_len, size_t *len);

/* True for letters, digits and the underscore. */
bool cn_regex_is_word(unsigned symbol);

#endif
