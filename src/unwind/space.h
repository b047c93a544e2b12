/* What the files of src/unwind know of a space and its unwinder.
 * Threads: as unwind.h.
 */
#ifndef CN_UNWIND_SPACE_H
#define CN_UNWIND_SPACE_H

#include "unwind/mappings.h"
#include "unwind/module.h"

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
struct cn_unwind_place {
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

enum { CN_UNWIND_PLACES = 1 << 12 };

struct cn_unwinder {
    struct cn_unwind_modules modules;
    struct cn_unwind_indexes indexes;
    uint64_t last_id; /* of lists of mappings */
    struct cn_unwind_place places[CN_UNWIND_PLACES];
};

struct cn_unwind_space {
    struct cn_unwinder *unwinder;
    struct cn_unwind_node *mappings; /* NULL: none */
    cn_unwind_memory read_memory;    /* NULL: nothing is read */
    void *memory;
};

/* Valid until the next call. */
struct cn_unwind_place *cn_unwind_place_at(struct cn_unwind_space *space,
                                           uint64_t address);

/* What the code at a place is: AFTER_CALL looks before the next address. */
enum cn_unwind_code cn_unwind_code_at(struct cn_unwind_place *place,
                                      enum cn_unwind_machine machine);
bool cn_unwind_is_after_call(struct cn_unwind_place *place,
                             enum cn_unwind_machine machine);

/* The bytes of the frame that the code before a place on aarch64 has made, with x29 and x30 at
 * its lower end; 0 if it has none. False if that is not seen. */
bool cn_unwind_arm_frame(const struct cn_unwind_place *place, uint64_t *len);

#endif
