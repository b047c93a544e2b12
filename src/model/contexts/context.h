/* A calling context: a function, loop, line or instruction, reached along one path.
 * Threads: immutable values.
 */
#ifndef CN_MODEL_CONTEXTS_CONTEXT_H
#define CN_MODEL_CONTEXTS_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

/* An index that means "none". */
#define CN_NONE UINT32_MAX

enum cn_relation {
    CN_LEXICAL,      /* inside its parent, without a call */
    CN_CALL,         /* called by its parent */
    CN_INLINED_CALL, /* called by its parent, inlined by the compiler */
};

enum cn_context_kind {
    CN_CONTEXT_FUNCTION, /* `function` is CN_NONE if it is unknown */
    CN_CONTEXT_LOOP,
    CN_CONTEXT_LINE,
    CN_CONTEXT_INSTRUCTION,
    CN_CONTEXT_ENTRY, /* how the operating system entered the program */
};

/* Entry points; later versions may have others. */
enum cn_entry { CN_ENTRY_UNKNOWN, CN_ENTRY_MAIN_THREAD, CN_ENTRY_APPLICATION_THREAD };

/* The name of an entry point: "main thread"; NULL for one of a later version. */
const char *cn_entry_name(unsigned entry);

struct cn_context {
    uint32_t id;          /* never 0, which is the global context above all others */
    uint8_t relation;     /* enum cn_relation, or a value of a later version */
    uint8_t kind;         /* enum cn_context_kind, or a value of a later version */
    uint16_t entry;       /* enum cn_entry, for CN_CONTEXT_ENTRY */
    uint16_t propagation; /* bits that transitive scopes follow upwards */
    bool has_function, has_source, has_point; /* which of the following are set */
    uint32_t function;
    uint32_t file, line;
    uint32_t module;
    uint64_t offset;        /* in the module */
    const char *entry_name; /* for CN_CONTEXT_ENTRY, borrowed from the database */
    uint64_t at;            /* for cn_context_at() */
    uint64_t children_at, children_len; /* private to the database */
};

struct cn_module {
    const char *path;
    const char *build_id; /* hexadecimal; NULL if unknown */
};

/* The file of a function of a library of which only the entry in a linkage table is known. */
#define CN_LIBRARY_CALL "<library call>"

struct cn_source_file {
    const char *path;
    bool is_copied;     /* `path` is inside the directory of the database */
    const char *origin; /* of a database that is not written yet: the file to copy */
};

struct cn_function {
    const char *name; /* "" if anonymous */
    uint32_t module;  /* CN_NONE if unknown */
    uint64_t offset;  /* of the entry point in the module */
    uint32_t file;    /* CN_NONE if unknown */
    uint32_t line;
};

#endif
