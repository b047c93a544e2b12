/* What the files of src/unwind know of a space and its unwinder.
 * Threads: as unwind.h.
 */
#ifndef CN_UNWIND_SPACE_H
#define CN_UNWIND_SPACE_H

#include "base/map.h"
#include "unwind/unwind.h"

struct cn_unwinder {
    struct cn_names strings;
    bool has_no_cache;
};

/* Shared by forked processes until one of them changes it. */
struct cn_unwind_mappings {
    size_t reference_count;
    struct cn_unwind_mapping *list; /* by address, not overlapping */
    size_t count, capacity;
};

struct cn_unwind_space {
    struct cn_unwinder *unwinder;
    struct cn_unwind_mappings *mappings;
};

#endif
