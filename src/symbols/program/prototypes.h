/* Parameters and results of the functions of a file, from its debug information: their types,
 * and where a parameter is stored at an address in the function.
 *
 * Strings live as long as the prototypes.
 * Threads: one thread at a time.
 */
#ifndef CN_SYMBOLS_PROGRAM_PROTOTYPES_H
#define CN_SYMBOLS_PROGRAM_PROTOTYPES_H

#include "symbols/program/value_type.h"

struct cn_prototypes;

enum { CN_PARAMETERS_MAX = 32 };

enum cn_value_storage_kind {
    CN_STORAGE_UNKNOWN,
    CN_STORAGE_REGISTER,
    CN_STORAGE_MEMORY,  /* at register + offset */
    CN_STORAGE_POINTER, /* where the word at register + offset points */
};

struct cn_value_storage {
    enum cn_value_storage_kind kind;
    uint32_t reg; /* as DWARF numbers them */
    int64_t offset;
};

struct cn_parameter {
    struct cn_value_type type;
    struct cn_value_storage storage;
};

struct cn_prototype {
    struct cn_parameter parameters[CN_PARAMETERS_MAX];
    size_t count; /* of all parameters; at most CN_PARAMETERS_MAX are listed */
    struct cn_value_type result;
    bool has_usual_calls; /* parameters are passed by the rules of the platform */
    const char *file;     /* NULL: unknown */
    int line;
};

/* NULL if the file has no debug information. */
struct cn_prototypes *cn_prototypes_open(const char *path);
void cn_prototypes_close(struct cn_prototypes *prototypes); /* NULL is fine */

/* The function of `size` bytes that begins at `offset`, counted from the file's first mapped
 * byte; storage is that at offset `at`. False if the function is unknown. */
bool cn_prototypes_find(struct cn_prototypes *prototypes, uint64_t offset, uint64_t size,
                        uint64_t at, struct cn_prototype *out);

#endif
