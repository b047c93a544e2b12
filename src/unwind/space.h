/* What the files of src/unwind know of a space and its unwinder.
 * Threads: as unwind.h.
 */
#ifndef CN_UNWIND_SPACE_H
#define CN_UNWIND_SPACE_H

#include "base/map.h"
#include "unwind/table.h"
#include "unwind/unwind.h"

/* The mappings of a process: a list, newest first, that forked processes share.
 *
 * Adding a mapping takes the same time for any number of them. Where lookups have passed many
 * mappings, one of them gets an index of itself and all older ones. Lists are counted by their
 * references. */

struct cn_unwind_node {
    struct cn_unwind_mapping mapping;
    struct cn_unwind_node *older;
    struct cn_unwind_index *index; /* NULL: none */
    size_t reference_count;
    size_t count; /* of this and older ones */
    uint64_t id;  /* of the list that begins here */
};

enum { CN_UNWIND_INDEX_MAX = 32 }; /* indexes of an unwinder */

/* The nodes that have an index, the next to lose it at `next`. */
struct cn_unwind_indexes {
    struct cn_unwind_node *nodes[CN_UNWIND_INDEX_MAX];
    size_t next;
};

/* Put a mapping before a list, whose reference it takes. */
struct cn_unwind_node *cn_unwind_node_new(struct cn_unwind_node *older,
                                          const struct cn_unwind_mapping *mapping,
                                          uint64_t id);

/* Release a reference of a list; NULL is fine. */
void cn_unwind_node_release(struct cn_unwind_node *node,
                            struct cn_unwind_indexes *indexes);

/* The newest mapping of a list that contains an address; NULL if there is none, or only
 * among those older than the newest 65,536. */
const struct cn_unwind_mapping *cn_unwind_node_find(struct cn_unwind_node *node,
                                                    struct cn_unwind_indexes *indexes,
                                                    uint64_t address);

/* The mapping that begins last before an address, or at it; likewise. */
const struct cn_unwind_mapping *cn_unwind_node_before(struct cn_unwind_node *node,
                                                      struct cn_unwind_indexes *indexes,
                                                      uint64_t address);

/* Modules: files with code, and their tables, which are built when they are first needed.
 *
 * The list owns its modules, which never move. */

struct cn_unwind_module {
    const char *path, *build_id;
    bool is_loaded, has_table;
    bool is_opened; /* `fd` was tried */
    int fd;         /* of the file, for its code; -1 if there is none */
    struct cn_unwind_table table;
};

struct cn_unwind_modules {
    struct cn_names strings;
    struct cn_names keys; /* their numbers are those of modules */
    struct cn_unwind_module **list;
    size_t count, capacity;
    size_t loaded_count; /* those whose table was built, or tried */
    bool has_no_cache;
};

struct cn_unwind_module *cn_unwind_module_at(struct cn_unwind_modules *modules,
                                             const char *path, const char *build_id);

/* The table; NULL if the module has none. */
const struct cn_unwind_table *cn_unwind_module_table(struct cn_unwind_modules *modules,
                                                     struct cn_unwind_module *module);

/* Up to `len` bytes of the file; fewer at its end, none if it can not be read. */
size_t cn_unwind_module_read(struct cn_unwind_module *module, uint64_t file_off,
                             uint8_t *out, size_t len);

void cn_unwind_modules_done(struct cn_unwind_modules *modules);

/* What code at an address is, as far as it was asked for. */
enum cn_unwind_code {
    CN_UNWIND_CODE_UNSEEN,
    CN_UNWIND_CODE_UNREADABLE,
    CN_UNWIND_CODE_ORDINARY,
    CN_UNWIND_CODE_AFTER_CALL, /* of the address after this one */
    CN_UNWIND_CODE_TRAMPOLINE, /* returns from a signal handler */
    CN_UNWIND_CODE_AFTER_SYSCALL,
    CN_UNWIND_CODE_AT_ENTRY,   /* the return address is on top of the stack */
    CN_UNWIND_CODE_AFTER_PUSH, /* and now a pushed frame pointer is above it */
};

/* Where an address is, cached. */
struct cn_unwind_point {
    uint64_t address, mappings_id;   /* id 0: not used */
    struct cn_unwind_module *module; /* NULL: not mapped */
    uint64_t file_off;
    const struct cn_unwind_table *table;
    const uint32_t *rule; /* NULL: nothing is known */
    bool is_entry;        /* at the beginning of the program */
    uint8_t code, code_before;
    uint8_t returns; /* 1 + bytes from the stack pointer to the return address, for code
                      * that only returns; 0: not seen */
};

enum { CN_UNWIND_POINTS = 1 << 12 };

struct cn_unwinder {
    struct cn_unwind_modules modules;
    struct cn_unwind_indexes indexes;
    uint64_t last_id; /* of lists of mappings */
    struct cn_unwind_point points[CN_UNWIND_POINTS];
};

struct cn_unwind_space {
    struct cn_unwinder *unwinder;
    struct cn_unwind_node *mappings; /* NULL: none */
    cn_unwind_memory read_memory;    /* NULL: nothing is read */
    void *memory;
    cn_unwind_foreign undo_foreign; /* NULL: there is only code with tables */
    void *foreign;
};

/* Valid until the next call. */
struct cn_unwind_point *cn_unwind_point_at(struct cn_unwind_space *space,
                                           uint64_t address);

/* What the code at a point is: AFTER_CALL looks before the next address. */
enum cn_unwind_code cn_unwind_code_at(struct cn_unwind_point *point,
                                      enum cn_unwind_machine machine);
bool cn_unwind_is_after_call(struct cn_unwind_point *point,
                             enum cn_unwind_machine machine);

/* The bytes of the frame that the code before a point on aarch64 has made, with x29 and x30 at
 * its lower end; 0 if it has none. False if that is not seen. */
bool cn_unwind_arm_frame(const struct cn_unwind_point *point, uint64_t *len);

/* The same at an instruction of `code`. Also false for code that returns from signal handlers. */
bool cn_unwind_arm_frame_in(struct cn_bytes code, size_t at, uint64_t *len);

#endif
