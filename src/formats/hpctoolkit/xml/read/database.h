/* An opened experiment.xml, whatever its version: the part that 4.0 and 2.x share.
 *
 * A version has a struct that starts with struct cn_hpc_xml_database, tells it where the values
 * of its files are, and uses the operations below.
 *
 * The files list the cost of a line without the calls it makes, and each call site as a context
 * of its own; in the model, a line includes its calls. So the values of lines that call are made
 * here: execution = the line's own cost + that of the functions it calls. Files whose head says
 * that lines have their calls are taken as they are.
 * Threads: immutable after open; any thread may read, each with cursors of its own.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_XML_READ_DATABASE_H
#define CN_FORMATS_HPCTOOLKIT_XML_READ_DATABASE_H

#include "formats/hpctoolkit/xml/read/tree.h"
#include "model/contexts/database.h"

struct cn_hpc_xml_database;

/* The planes as the files have them; ids without values have none. */
struct cn_hpc_xml_planes {
    bool (*begin)(struct cn_hpc_xml_database *db, struct cn_value_cursor *cursor,
                  struct cn_error *err);
    enum cn_step (*next)(struct cn_hpc_xml_database *db, struct cn_value_cursor *cursor,
                         struct cn_value_batch *out, struct cn_error *err);
};

/* A line that calls functions. */
struct cn_hpc_xml_line {
    uint32_t id, node;
};

/* A function called from such a line. */
struct cn_hpc_xml_callee {
    uint32_t id, line; /* ids of contexts */
};

/* Metric ids of inclusive and exclusive costs that belong together. */
struct cn_hpc_xml_pair {
    uint16_t execution;
    int32_t function; /* or CN_NO_ID */
};

struct cn_hpc_xml_pairs {
    struct cn_hpc_xml_pair *list;        /* sorted by `execution` */
    struct cn_hpc_xml_pair *by_function; /* the same, sorted by `function` */
    size_t count;
};

struct cn_hpc_xml_lines {
    struct cn_hpc_xml_line *list; /* sorted by id */
    size_t count;
    struct cn_hpc_xml_callee *callees; /* sorted by id */
    size_t callee_count;
    struct cn_hpc_xml_pairs threads, summaries;
    uint16_t *thread_ids; /* all prop_ids, sorted */
    size_t thread_id_count;
};

struct cn_hpc_xml_database {
    struct cn_database base; /* first: operations receive a pointer to it */
    struct cn_hpc_xml_tree tree;
    struct cn_hpc_xml_lines lines;
    struct cn_hpc_xml_planes planes;
};

static inline struct cn_hpc_xml_database *cn_hpc_xml_of(struct cn_database *db)
{
    return (struct cn_hpc_xml_database *)db;
}

/* Once the tree, the metrics and base.context_limit are there: number the lines that have no
 * id, set what the tree determines, and find the lines that call. */
CN_CHECK bool cn_hpc_xml_database_finish(struct cn_hpc_xml_database *xml,
                                         bool lines_have_calls, struct cn_error *err);

/* Release what belongs to this part, the arena included. */
void cn_hpc_xml_database_done(struct cn_hpc_xml_database *xml);

/* Operations of struct cn_database_ops. */
CN_CHECK bool cn_hpc_xml_module(struct cn_database *db, uint32_t index,
                                struct cn_module *out, struct cn_error *err);
CN_CHECK bool cn_hpc_xml_file(struct cn_database *db, uint32_t index,
                              struct cn_source_file *out, struct cn_error *err);
CN_CHECK bool cn_hpc_xml_function(struct cn_database *db, uint32_t index,
                                  struct cn_function *out, struct cn_error *err);
CN_CHECK bool cn_hpc_xml_children(struct cn_database *db, const struct cn_context *parent,
                                  struct cn_context_cursor *out, struct cn_error *err);
CN_CHECK enum cn_step cn_hpc_xml_child_next(struct cn_database *db,
                                            struct cn_context_cursor *cursor,
                                            struct cn_context *out, struct cn_error *err);
CN_CHECK bool cn_hpc_xml_context_at(struct cn_database *db, uint64_t at,
                                    struct cn_context *out, struct cn_error *err);
CN_CHECK bool cn_hpc_xml_values_begin(struct cn_database *db,
                                      struct cn_value_cursor *cursor,
                                      struct cn_error *err);
CN_CHECK enum cn_step cn_hpc_xml_values_next(struct cn_value_cursor *cursor,
                                             struct cn_value_batch *out,
                                             struct cn_error *err);

/* For files of either version: the names of kinds, or the usual ones when there are none. */
CN_CHECK bool cn_hpc_xml_kinds_read(struct cn_database *db,
                                    const struct cn_hpc_xml_head *head,
                                    struct cn_error *err);

#endif
