/* The functions of a Go program, from the table that its run-time has for tracebacks
 * (.gopclntab), which stripped programs have as well. Go 1.18 to 1.24.
 *
 *     cn_go_table_open(&table, file)
 *     cn_go_table_find(&table, address, &function)
 *     count = cn_go_table_locations(&table, &function, address, locations, most);
 *
 * Addresses are those that the program was linked to. Borrows the bytes of the file, which are not
 * trusted: a damaged table names less.
 * Threads: immutable after open.
 */
#ifndef CN_UNWIND_GO_TABLE_H
#define CN_UNWIND_GO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"

struct cn_go_table {
    struct cn_bytes bytes;
    uint64_t address; /* of the bytes */
    uint64_t text;    /* offsets of functions count from it */
    uint32_t function_count;
    uint8_t quantum; /* bytes of the shortest instruction */
    bool is_new;     /* of Go 1.20 and later */
    struct cn_bytes names, units, files, values, functions;
    struct cn_bytes inlined; /* trees of inlined calls; empty if they were not found */
};

/* Of cn_go_function.flags. */
enum {
    CN_GO_IS_OUTERMOST = 1, /* the run-time says that it has no caller */
    CN_GO_MOVES_STACK = 2,  /* changes to another stack */
};

struct cn_go_function {
    const char *name;
    uint64_t begin, end;
    uint32_t first_line; /* of the definition; 0 if the version does not tell */
    uint32_t frame_off, file_off, line_off, inline_off; /* of values */
    uint32_t unit;
    uint32_t tree_off; /* in `inlined`; UINT32_MAX: nothing is inlined */
    uint8_t flags;
};

struct cn_go_location {
    const char *function, *file; /* "" if unknown */
    uint32_t line;               /* 0 if unknown */
};

/* False if the ELF file has no such table, or one of another version. */
CN_CHECK bool cn_go_table_open(struct cn_go_table *table, struct cn_bytes file);

/* Also look for the trees of inlined calls. */
void cn_go_table_find_inlined(struct cn_go_table *table, struct cn_bytes file);

/* Function `i` in the order of addresses; false if it is damaged. */
CN_CHECK bool cn_go_table_function(const struct cn_go_table *table, uint32_t i,
                                   struct cn_go_function *out);

CN_CHECK bool cn_go_table_find(const struct cn_go_table *table, uint64_t address,
                               struct cn_go_function *out);

/* The location of an instruction in its function, then in each function inlined there, the
 * innermost last; returns the count, at least 1 unless `most` is 0. */
size_t cn_go_table_locations(const struct cn_go_table *table,
                             const struct cn_go_function *function, uint64_t address,
                             struct cn_go_location *out, size_t most);

/* Values by address: each applies from the end of the one before. */
struct cn_go_values {
    struct cn_bytes rest;
    uint64_t end; /* of the addresses of the value */
    int64_t value;
    uint8_t quantum;
    bool has_begun;
};

void cn_go_values_begin(struct cn_go_values *values, const struct cn_go_table *table,
                        const struct cn_go_function *function, uint32_t off);
bool cn_go_values_next(struct cn_go_values *values);

#endif
