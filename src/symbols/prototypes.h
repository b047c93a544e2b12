/* Parameters and results of the functions of a file, from its debug information: their
 * types, and where a parameter lies at some address in the function.
 *
 * A file without debug information has no prototypes. Strings live as long as the
 * prototypes.
 * Threads: one thread at a time.
 */
#ifndef CN_SYMBOLS_PROTOTYPES_H
#define CN_SYMBOLS_PROTOTYPES_H

#include "symbols/value_type.h"

struct cn_prototypes;

enum { CN_PARAMETERS_MAX = 32 };

/* Where a parameter lies, numbered as in DWARF. */
enum cn_value_place_kind {
    CN_PLACE_UNKNOWN,
    CN_PLACE_REGISTER,
    CN_PLACE_MEMORY,  /* at register + offset */
    CN_PLACE_POINTER, /* where the word at register + offset points */
};

struct cn_value_place {
    enum cn_value_place_kind kind;
    uint32_t reg;
    int64_t offset;
};

struct cn_parameter {
    struct cn_value_type type;
    struct cn_value_place place; /* at the address that was asked for */
};

struct cn_prototype {
    struct cn_parameter parameters[CN_PARAMETERS_MAX];
    size_t count; /* that there are; no more than CN_PARAMETERS_MAX are listed */
    struct cn_value_type result;
    bool has_usual_calls; /* parameters are passed as the platform's rules say */
    const char *file;     /* NULL when not known */
    int line;
};

/* NULL when the file has no debug information. */
struct cn_prototypes *cn_prototypes_open(const char *path);
void cn_prototypes_close(struct cn_prototypes *prototypes); /* NULL is fine */

/* The function that begins at `offset`, counted from where the file is mapped, and has
 * `size` bytes; places as of `at`, counted alike. False when it is not known. */
bool cn_prototypes_find(struct cn_prototypes *prototypes, uint64_t offset, uint64_t size,
                        uint64_t at, struct cn_prototype *out);

#endif
