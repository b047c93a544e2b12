#include "formats/hpctoolkit/xml/read/database.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/read/lines.h"

enum { ID_SPREAD_MAX = 64 }; /* context ids out of proportion to the contexts there are */

bool cn_hpc_xml_module(struct cn_database *db, uint32_t index, struct cn_module *out,
                       struct cn_error *err)
{
    (void)err;
    out->path = cn_hpc_xml_of(db)->tree.modules[index];
    return true;
}

bool cn_hpc_xml_file(struct cn_database *db, uint32_t index, struct cn_source_file *out,
                     struct cn_error *err)
{
    (void)err;
    *out = cn_hpc_xml_of(db)->tree.files[index];
    return true;
}

bool cn_hpc_xml_function(struct cn_database *db, uint32_t index, struct cn_function *out,
                         struct cn_error *err)
{
    (void)err;
    *out = cn_hpc_xml_of(db)->tree.functions[index];
    return true;
}

bool cn_hpc_xml_children(struct cn_database *db, const struct cn_context *parent,
                         struct cn_context_cursor *out, struct cn_error *err)
{
    (void)err;
    *out = (struct cn_context_cursor){
        .at = parent ? parent->children_at : cn_hpc_xml_of(db)->tree.root,
        .size = 1, /* every context has one list of children */
        .is_entry_list = !parent,
    };
    return true;
}

enum cn_step cn_hpc_xml_child_next(struct cn_database *db,
                                   struct cn_context_cursor *cursor,
                                   struct cn_context *out, struct cn_error *err)
{
    const struct cn_hpc_xml_tree *tree = &cn_hpc_xml_of(db)->tree;

    if (cursor->at == CN_HPC_XML_NO_NODE)
        return CN_END;
    if (!cn_hpc_xml_tree_context(tree, cursor->at, out, err))
        return CN_FAIL;
    cursor->at = tree->nodes[cursor->at].next;
    return CN_ITEM;
}

bool cn_hpc_xml_context_at(struct cn_database *db, uint64_t at, struct cn_context *out,
                           struct cn_error *err)
{
    return cn_hpc_xml_tree_context(&cn_hpc_xml_of(db)->tree, at, out, err) ||
           cn_fail_in(err, CN_HPC_XML_FILE);
}

static bool number_lines(struct cn_hpc_xml_database *xml, struct cn_error *err)
{
    struct cn_database *db = &xml->base;
    uint32_t first = xml->tree.largest_id + 1;

    if (xml->tree.largest_id / ID_SPREAD_MAX > xml->tree.node_count)
        return cn_fail(err, CN_ERR_LIMIT,
                       "%s: context id %" PRIu32 " is out of proportion to %zu contexts",
                       CN_HPC_XML_FILE, xml->tree.largest_id, xml->tree.node_count);
    if (first < db->context_limit)
        first = db->context_limit;
    if (first > UINT32_MAX - xml->tree.context_count - 1)
        return cn_fail(err, CN_ERR_LIMIT,
                       "%s: no context id is left for %" PRIu64 " lines", CN_HPC_XML_FILE,
                       xml->tree.context_count);
    first = cn_hpc_xml_tree_number(&xml->tree, first);
    if (first > db->context_limit)
        db->context_limit = first;
    return true;
}

bool cn_hpc_xml_database_finish(struct cn_hpc_xml_database *xml, bool lines_have_calls,
                                struct cn_error *err)
{
    struct cn_database *db = &xml->base;

    if (!number_lines(xml, err))
        return false;
    db->module_count = (uint32_t)xml->tree.module_count;
    db->file_count = (uint32_t)xml->tree.file_count;
    db->function_count = (uint32_t)xml->tree.function_count;
    db->context_weight = xml->tree.context_count + 1;
    if (!lines_have_calls)
        cn_hpc_xml_lines_find(xml);
    return true;
}

void cn_hpc_xml_database_done(struct cn_hpc_xml_database *xml)
{
    free(xml->lines.list);
    free(xml->lines.callees);
    free(xml->lines.threads.list);
    free(xml->lines.threads.by_function);
    free(xml->lines.summaries.list);
    free(xml->lines.summaries.by_function);
    free(xml->lines.thread_ids);
    cn_hpc_xml_tree_done(&xml->tree);
    cn_arena_done(&xml->base.arena);
}

bool cn_hpc_xml_values_begin(struct cn_database *db, struct cn_value_cursor *cursor,
                             struct cn_error *err)
{
    struct cn_hpc_xml_database *xml = cn_hpc_xml_of(db);

    if (cn_hpc_xml_lines_concern(xml, cursor)) {
        cn_hpc_xml_lines_begin(cursor);
        return true;
    }
    return xml->planes.begin(xml, cursor, err);
}

enum cn_step cn_hpc_xml_values_next(struct cn_value_cursor *cursor,
                                    struct cn_value_batch *out, struct cn_error *err)
{
    struct cn_hpc_xml_database *xml = cn_hpc_xml_of(cursor->db);

    if (cn_hpc_xml_lines_concern(xml, cursor))
        return cn_hpc_xml_lines_next(xml, cursor, out, err);
    return xml->planes.next(xml, cursor, out, err);
}

bool cn_hpc_xml_kinds_read(struct cn_database *db, const struct cn_hpc_xml_head *head,
                           struct cn_error *err)
{
    static const char *const usual[] = {"SUMMARY",   "NODE",       "RANK",      "THREAD",
                                        "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM", "CORE"};
    const struct cn_hpc_xml_rows *rows = &head->identifiers;
    const char **names;
    size_t count = 0;

    if (rows->count == 0) {
        db->kinds = (struct cn_kinds){usual, sizeof(usual) / sizeof(*usual)};
        return true;
    }
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->list[i].id < 0 || rows->list[i].id > CN_HPC_XML_KIND_MAX)
            return cn_fail(err, CN_ERR_LIMIT,
                           "%s: identifier kind %" PRId64 ", can read up to %d",
                           CN_HPC_XML_FILE, rows->list[i].id, CN_HPC_XML_KIND_MAX);
        if ((size_t)rows->list[i].id >= count)
            count = (size_t)rows->list[i].id + 1;
    }
    names = cn_arena_alloc(&db->arena, count, sizeof(*names));
    for (size_t i = 0; i < count; i++)
        names[i] = "";
    for (size_t i = 0; i < rows->count; i++)
        names[rows->list[i].id] = rows->list[i].name;
    db->kinds = (struct cn_kinds){names, count};
    return true;
}
