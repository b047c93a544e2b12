/* A YAML document as a tree of nodes, read with libyaml's events.
 *
 * An alias is the anchored node itself, so a node may have several parents and may contain
 * itself: callers must limit depth and work. Building is linear in the text.
 * Threads: a tree belongs to one thread at a time.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_YAML_TREE_H
#define CN_FORMATS_HPCTOOLKIT_YAML_TREE_H

#include "base/arena.h"
#include "base/bytes/bytes.h"
#include "base/error.h"

enum {
    CN_YAML_LEN_MAX = 8 << 20,
    CN_YAML_NEST_MAX = 256,
    CN_YAML_DIRECTIVE_MAX = 8, /* libyaml compares each with all before it */
};

enum cn_yaml_type { CN_YAML_SCALAR, CN_YAML_SEQUENCE, CN_YAML_MAPPING };

struct cn_yaml_item {
    struct cn_yaml_node *node; /* of a mapping: a key, then its value */
    struct cn_yaml_item *next;
};

struct cn_yaml_node {
    enum cn_yaml_type type;
    size_t line, column;        /* from 1 */
    const char *text;           /* of a scalar; contains no NUL */
    bool is_plain;              /* a scalar that may mean a number, true or null */
    struct cn_yaml_item *items; /* of the others */
    size_t item_count;
    uint32_t mark; /* for the caller's use; 0 at first */
};

struct cn_yaml_tree {
    struct cn_yaml_node *root;   /* NULL for an empty document */
    size_t node_count;           /* aliases included */
    struct cn_yaml_node *tagged; /* the first with a tag that is not of YAML, or NULL */
    bool has_more;               /* something follows the document */
};

/* Read the first document of a UTF-8 text into the arena. */
CN_CHECK bool cn_yaml_tree_read(struct cn_yaml_tree *out, struct cn_bytes text,
                                struct cn_arena *arena, struct cn_error *err);

/* The value of a mapping's key; NULL if there is none or the node is no mapping. */
struct cn_yaml_node *cn_yaml_find(const struct cn_yaml_node *mapping, const char *key);

/* A scalar that means nothing: `~`, `null`, or empty. */
bool cn_yaml_is_null(const struct cn_yaml_node *node);

/* "line 7, column 12: ..." */
CN_PRINTF(4, 5)
bool cn_yaml_fail(const struct cn_yaml_node *node, struct cn_error *err,
                  enum cn_error_kind kind, const char *fmt, ...);

#endif
