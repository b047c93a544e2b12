/* Types of arguments and results, as far as finding and showing a value requires.
 * Threads: any thread.
 */
#ifndef CN_SYMBOLS_PROGRAM_VALUE_TYPE_H
#define CN_SYMBOLS_PROGRAM_VALUE_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cn_value_kind {
    CN_VALUE_NONE, /* void */
    CN_VALUE_SIGNED,
    CN_VALUE_UNSIGNED,
    CN_VALUE_CHAR,
    CN_VALUE_FLOAT,
    CN_VALUE_POINTER,
    CN_VALUE_STRING,     /* char * */
    CN_VALUE_STD_STRING, /* std::string, or a reference or pointer to one */
    CN_VALUE_ENUM,
    CN_VALUE_STRUCT, /* and other types with members */
    CN_VALUE_OTHER,  /* passed in an unknown way */
};

/* A number inside a struct. */
struct cn_value_leaf {
    uint32_t offset, size;
    bool is_float;
};

enum { CN_VALUE_LEAVES_MAX = 16 };

struct cn_value_type {
    enum cn_value_kind kind;
    uint64_t size;
    uint32_t align;
    bool is_reference;   /* an object that is passed by reference */
    bool has_leaves;     /* `leaves` is complete */
    bool is_empty;       /* a struct without members, bases and functions */
    bool has_vector;     /* some member is a vector */
    const char *name;    /* or "" */
    const char *members; /* of an enum, "A,B=5" */
    struct cn_value_leaf leaves[CN_VALUE_LEAVES_MAX]; /* by offset */
    size_t leaf_count;
};

#endif
