/* An opened experiment.xml: the part that versions 4.0 and 2.x share.
 *
 * A version embeds struct cn_hpc_xml_database as its first member and describes itself with
 * struct cn_hpc_xml_version: the operations of its value files.
 *
 *     cn_hpc_xml_database_init(xml, &version);
 *     cn_hpc_xml_database_read(xml, &source, &head, err)     tables, metrics, context tree
 *     ... open the value files, set the context_limit of the database ...
 *     cn_hpc_xml_database_finish(xml, lines_have_calls, err)
 *     cn_hpc_xml_head_done(&head);
 *
 * The files list the cost of a line without the calls it makes, and each call site as a
 * context of its own; in the model, a line includes its calls. So the values of lines that
 * call are computed while planes are read: inclusive cost = the line's own cost + that of the
 * functions it calls. Files whose head declares that lines include their calls are read
 * unchanged.
 * Threads: immutable after open; any thread may read, each with cursors of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_READ_DATABASE_H
#define CN_FORMATS_HPCTOOLKIT_XML_READ_DATABASE_H

#include "formats/hpctoolkit/values/database.h"
#include "formats/hpctoolkit/xml/read/tree.h"

struct cn_hpc_xml_database;

/* <SecCallPathProfileData>, read into a tree.
 *
 * The text is scanned once, with a stack of open elements whose depth format.h limits. Call
 * sites are merged with their lines when the element around them ends. */

/* Receives what the tree of a 2.x file contains besides contexts. Functions may be NULL. */
struct cn_hpc_xml_tree_sink {
    void *arg;
    /* <M>: a value of a context, 0 for the global one. */
    void (*value)(void *arg, uint32_t context, int64_t metric, double value);
    /* The attribute `it`: the id of a context in samples. */
    void (*sample_id)(void *arg, uint64_t sample_id, uint32_t context);
};

struct cn_hpc_xml_tree_source {
    struct cn_bytes text; /* the whole file */
    bool is_mapped;       /* pages that were read may be given back */
    struct cn_hpc_xml_tree_sink sink;
};

/* Messages name line and column. */
CN_CHECK bool cn_hpc_xml_tree_read(struct cn_hpc_xml_tree *tree,
                                   const struct cn_hpc_xml_head *head,
                                   const struct cn_hpc_xml_tree_source *source,
                                   struct cn_error *err);

struct cn_hpc_xml_version {
    unsigned major;
    struct cn_database_ops ops; /* profile, timeline, samples, forget, close */
    /* The planes as the files have them; ids without values have none. */
    bool (*plane_begin)(struct cn_hpc_xml_database *xml, struct cn_value_cursor *cursor,
                        struct cn_error *err);
    enum cn_step (*plane_next)(struct cn_hpc_xml_database *xml,
                               struct cn_value_cursor *cursor, struct cn_value_batch *out,
                               struct cn_error *err);
};

/* A context and what it leads to. */
struct cn_hpc_xml_link {
    uint32_t id;
    uint32_t to;
};

/* The meaning of a metric id. */
struct cn_hpc_xml_cost {
    bool is_inclusive;
    bool has_exclusive; /* of an inclusive cost: the metric also has exclusive costs */
    int32_t inclusive;  /* of an exclusive cost: id of the inclusive one; or CN_NO_ID */
};

struct cn_hpc_xml_costs {
    struct cn_hpc_xml_cost *list; /* by metric id */
    size_t count;
};

struct cn_hpc_xml_lines {
    struct cn_hpc_xml_link *list;    /* lines that call, to their nodes; sorted by id */
    struct cn_hpc_xml_link *callees; /* called functions, to ids of lines; sorted */
    size_t count, callee_count;
    struct cn_hpc_xml_costs threads, summaries;
    uint16_t *thread_ids; /* all prop_ids, sorted */
    size_t thread_id_count;
};

struct cn_hpc_xml_database {
    struct cn_hpc_database database; /* first: operations receive a pointer to it */
    struct cn_database_ops ops;
    const struct cn_hpc_xml_version *version;
    struct cn_hpc_xml_tree tree;
    struct cn_hpc_xml_lines lines;
};

void cn_hpc_xml_database_init(struct cn_hpc_xml_database *xml,
                              const struct cn_hpc_xml_version *version);

/* Read experiment.xml. On failure *head is empty. */
CN_CHECK bool cn_hpc_xml_database_read(struct cn_hpc_xml_database *xml,
                                       const struct cn_hpc_xml_tree_source *source,
                                       struct cn_hpc_xml_head *head,
                                       struct cn_error *err);

/* Number the lines without an id, set what the tree determines, find the lines that call. */
CN_CHECK bool cn_hpc_xml_database_finish(struct cn_hpc_xml_database *xml,
                                         bool lines_have_calls, struct cn_error *err);

/* Release this part, and the struct. */
void cn_hpc_xml_database_close(struct cn_database *db);

/* The values of lines that make calls, computed while planes are read; see database.h.
 *
 * Between batches only the position is stored, in the cursor. Reading a plane takes time in
 * proportion to its values and, if these are many, to the lines that call.
 * Threads: any thread, each with cursors of its own.
 */

/* Find the lines of the tree that call, and the metrics with inclusive costs. */
void cn_hpc_xml_lines_find(struct cn_hpc_xml_database *xml);

/* True if the range of the cursor contains such a line. */
bool cn_hpc_xml_lines_concern(const struct cn_hpc_xml_database *xml,
                              const struct cn_value_cursor *cursor);

/* For cursors of which cn_hpc_xml_lines_concern() is true. */
void cn_hpc_xml_lines_begin(struct cn_value_cursor *cursor);
CN_CHECK enum cn_step cn_hpc_xml_lines_next(struct cn_hpc_xml_database *xml,
                                            struct cn_value_cursor *cursor,
                                            struct cn_value_batch *out,
                                            struct cn_error *err);

#endif
