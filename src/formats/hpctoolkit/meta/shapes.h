/* The structures of a meta.db and how they refer to each other, as data; and the one walk over
 * them that reading, verifying and dumping share. The tree of contexts is in nodes.c.
 *
 *     struct cn_hpc_walk walk = {.meta = &meta, .record = on_record, .arg = &mine};
 *
 *     for each section: cn_hpc_walk_section(&walk, section, err)
 *
 * Everything borrows the bytes of the file.
 * Threads: one thread at a time for each walk.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_META_SHAPES_H
#define CN_FORMATS_HPCTOOLKIT_META_SHAPES_H

#include "base/bytes/record.h"
#include "formats/hpctoolkit/meta/format.h"
#include "formats/hpctoolkit/table.h"

struct cn_findings;
struct cn_hpc_meta;

/* What every generation has structures for, if only strings. First the headers of the
 * sections, then the elements of arrays. */
enum cn_hpc_shape_id {
    CN_HPC_KINDS_SHAPE = CN_HPC_META_SECTION_COUNT, /* a header inside another section */
    CN_HPC_KIND_SHAPE,
    CN_HPC_SCOPE_SHAPE,
    CN_HPC_METRIC_SHAPE,
    CN_HPC_INSTANCE_SHAPE, /* a scope of a metric */
    CN_HPC_STATISTIC_SHAPE,
    CN_HPC_MODULE_SHAPE,
    CN_HPC_FILE_SHAPE,
    CN_HPC_FUNCTION_SHAPE,
    CN_HPC_ENTRY_SHAPE,
    CN_HPC_SHAPE_COUNT,
};

enum { CN_HPC_PART_MAX = 3, CN_HPC_WALK_DEPTH_MAX = 4 };

enum cn_hpc_part_type { CN_HPC_NO_PART, CN_HPC_TEXT, CN_HPC_POINTER, CN_HPC_ARRAY };

/* A string, an array, or the start of an element of an array, that a structure refers to. */
struct cn_hpc_part {
    enum cn_hpc_part_type type;
    const char *what;  /* in messages: "formula", "scope instances" */
    unsigned shape;    /* of elements, or of the element that is pointed to */
    const char *at;    /* field with its offset; NULL: it follows the structure */
    const char *count; /* field with the number of elements; NULL: one */
    const char
        *len;       /* field with their size, of the structure or of the section's header;
                          NULL: as the layout says, and what follows each */
    bool is_shared; /* the string is in the section of strings */
    bool is_optional; /* offset 0: there is none */
};

struct cn_hpc_shape {
    const char *name;                      /* in messages: "metric" */
    const struct cn_record_layout *layout; /* NULL: it has no fields */
    struct cn_hpc_part parts[CN_HPC_PART_MAX];
};

/* A structure, with what its parts refer to. */
struct cn_hpc_item {
    unsigned shape; /* enum cn_hpc_shape_id, or of a header the section */
    const struct cn_record_layout *layout;
    struct cn_bytes bytes;
    uint64_t off, index;
    struct {
        const char *text; /* NULL: none */
        uint64_t off;     /* of the text */
        uint32_t target;  /* index of the element; CN_NONE: none */
    } parts[CN_HPC_PART_MAX];
};

/* A field of the structure, which must have it. */
uint64_t cn_hpc_item_get(const struct cn_hpc_item *item, const char *field);

/* The structure that is being walked: an element of an array. */
struct cn_hpc_place {
    const char *name;
    uint64_t index, off;
};

struct cn_hpc_walk {
    const struct cn_hpc_meta *meta;
    bool (*record)(void *arg, const struct cn_hpc_item *item); /* false ends the walk */
    void *arg;
    /* Receives what is wrong, and the walk goes on where it can. NULL: the first damage ends
     * the walk. */
    struct cn_findings *f;
    bool is_lenient; /* pointers that lead nowhere are no damage */

    struct cn_hpc_table tables[CN_HPC_SHAPE_COUNT]; /* arrays by the shape of elements */
    struct cn_hpc_span section;
    struct cn_hpc_item head; /* of the section */
    uint64_t nested_len;     /* of arrays that elements refer to */
    bool is_lost;            /* what follows cannot be found */
    struct cn_hpc_place places[CN_HPC_WALK_DEPTH_MAX];
    size_t depth;
    struct cn_error *err;
};

/* Visit all structures of a section, headers and elements before what they refer to. False if
 * record() returned false, or at damage. */
CN_CHECK bool cn_hpc_walk_section(struct cn_hpc_walk *walk,
                                  enum cn_hpc_meta_section section, struct cn_error *err);

/* Find the header of a section, walk->head. */
CN_CHECK bool cn_hpc_walk_header(struct cn_hpc_walk *walk,
                                 enum cn_hpc_meta_section section, struct cn_error *err);

/* Open the array that the header of a section refers to, without visiting its elements. */
CN_CHECK bool cn_hpc_walk_table(struct cn_hpc_walk *walk,
                                enum cn_hpc_meta_section section,
                                struct cn_hpc_table *out, struct cn_error *err);

/* What the walk of contexts shares: report something that is wrong. False ends the walk.
 * Damage cannot be followed; other things can. */
enum cn_hpc_problem {
    CN_HPC_WARNING,
    CN_HPC_BROKEN_RULE,
    CN_HPC_DANGLING,
    CN_HPC_DAMAGE
};
CN_PRINTF(5, 6)
bool cn_hpc_walk_report(struct cn_hpc_walk *walk, enum cn_hpc_problem problem,
                        const char *rule, uint64_t off, const char *fmt, ...);

#endif
