#include "formats/hpctoolkit/xml/read/database.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/read/metrics_reader.h"

enum { ID_SPREAD_MAX = 64 }; /* largest context id, as a multiple of the context count */

static struct cn_hpc_xml_database *self_of(struct cn_database *db)
{
    return (struct cn_hpc_xml_database *)db;
}

static bool get_module(struct cn_database *db, uint32_t index, struct cn_module *out,
                       struct cn_error *err)
{
    (void)err;
    out->path = self_of(db)->tree.modules[index];
    return true;
}

static bool children(struct cn_database *db, const struct cn_context *parent,
                     struct cn_context_cursor *out, struct cn_error *err)
{
    (void)err;
    *out = (struct cn_context_cursor){
        .at = parent ? parent->children_at : self_of(db)->tree.root,
        .size = 1, /* every context has one list of children */
        .is_entry_list = !parent,
    };
    return true;
}

static enum cn_step child_next(struct cn_database *db, struct cn_context_cursor *cursor,
                               struct cn_context *out, struct cn_error *err)
{
    const struct cn_hpc_xml_tree *tree = &self_of(db)->tree;

    if (cursor->at == CN_HPC_XML_NO_NODE)
        return CN_END;
    if (!cn_hpc_xml_tree_context(tree, cursor->at, out, err))
        return CN_FAIL;
    cursor->at = tree->nodes[cursor->at].next;
    return CN_ITEM;
}

static bool context_at(struct cn_database *db, uint64_t at, struct cn_context *out,
                       struct cn_error *err)
{
    return cn_hpc_xml_tree_context(&self_of(db)->tree, at, out, err) ||
           cn_fail_in(err, CN_HPC_XML_FILE);
}

static bool values_begin(struct cn_database *db, struct cn_value_cursor *cursor,
                         struct cn_error *err)
{
    struct cn_hpc_xml_database *xml = self_of(db);

    if (!cn_hpc_xml_lines_concern(xml, cursor))
        return xml->version->plane_begin(xml, cursor, err);
    cn_hpc_xml_lines_begin(cursor);
    return true;
}

static enum cn_step values_next(struct cn_value_cursor *cursor,
                                struct cn_value_batch *out, struct cn_error *err)
{
    struct cn_hpc_xml_database *xml = self_of(cursor->db);

    return cn_hpc_xml_lines_concern(xml, cursor)
               ? cn_hpc_xml_lines_next(xml, cursor, out, err)
               : xml->version->plane_next(xml, cursor, out, err);
}

void cn_hpc_xml_database_init(struct cn_hpc_xml_database *xml,
                              const struct cn_hpc_xml_version *version)
{
    xml->version = version;
    xml->ops = version->ops;
    xml->ops.module = get_module;
    xml->ops.children = children;
    xml->ops.child_next = child_next;
    xml->ops.context_at = context_at;
    xml->ops.values_begin = values_begin;
    xml->ops.values_next = values_next;
    xml->database.base.ops = &xml->ops;
    xml->database.base.path = "";
}

/* The names of kinds in the file, or the usual ones if there are none. */
static bool read_kinds(struct cn_database *db, const struct cn_hpc_xml_rows *rows,
                       struct cn_error *err)
{
    static const char *const usual[] = {"SUMMARY",   "NODE",       "RANK",      "THREAD",
                                        "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM", "CORE"};
    size_t count = 0;

    if (rows->count == 0) {
        db->kinds = (struct cn_kinds){usual, sizeof(usual) / sizeof(*usual)};
        return true;
    }
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->list[i].id < 0 || rows->list[i].id > CN_HPC_XML_KIND_MAX)
            return cn_fail(err, CN_ERR_LIMIT,
                           "identifier kind %" PRId64 ", can read up to %d",
                           rows->list[i].id, CN_HPC_XML_KIND_MAX);
        if ((size_t)rows->list[i].id >= count)
            count = (size_t)rows->list[i].id + 1;
    }
    const char **names = cn_arena_alloc(&db->arena, count, sizeof(*names));
    for (size_t i = 0; i < count; i++)
        names[i] = "";
    for (size_t i = 0; i < rows->count; i++)
        names[rows->list[i].id] = rows->list[i].name;
    db->kinds = (struct cn_kinds){names, count};
    return true;
}

static bool read_document(struct cn_hpc_xml_database *xml,
                          const struct cn_hpc_xml_tree_source *source,
                          const struct cn_hpc_xml_head *head, struct cn_error *err)
{
    struct cn_database *db = &xml->database.base;

    if (head->major != xml->version->major)
        return cn_fail(err, CN_ERR_VERSION, "version %u.%u, can read %u.x", head->major,
                       head->minor, xml->version->major);
    db->title = head->title;
    db->description = head->description;
    cn_hpc_xml_tree_init(&xml->tree, head);
    return cn_hpc_xml_metrics_read(db, head, err) &&
           cn_hpc_xml_tree_read(&xml->tree, head, source, err) &&
           read_kinds(db, &head->identifiers, err);
}

bool cn_hpc_xml_database_read(struct cn_hpc_xml_database *xml,
                              const struct cn_hpc_xml_tree_source *source,
                              struct cn_hpc_xml_head *head, struct cn_error *err)
{
    *head = (struct cn_hpc_xml_head){0};
    if (cn_hpc_xml_head_read(head, source->text, &xml->database.base.arena, err) &&
        read_document(xml, source, head, err))
        return true;
    cn_hpc_xml_head_done(head);
    return cn_fail_in(err, CN_HPC_XML_FILE);
}

static bool number_lines(struct cn_hpc_xml_database *xml, struct cn_error *err)
{
    struct cn_database *db = &xml->database.base;
    uint32_t first = xml->tree.largest_id + 1;

    if (xml->tree.largest_id / ID_SPREAD_MAX > xml->tree.node_count)
        return cn_fail(err, CN_ERR_FORMAT,
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
    struct cn_database *db = &xml->database.base;

    if (!number_lines(xml, err))
        return false;
    db->module_count = (uint32_t)xml->tree.module_count;
    db->file_count = (uint32_t)xml->tree.file_count;
    db->files = xml->tree.files;
    db->function_count = (uint32_t)xml->tree.function_count;
    db->functions = xml->tree.functions;
    db->context_weight = xml->tree.context_count + 1;
    if (!lines_have_calls)
        cn_hpc_xml_lines_find(xml);
    return true;
}

void cn_hpc_xml_database_close(struct cn_database *db)
{
    struct cn_hpc_xml_database *xml = self_of(db);

    free(xml->lines.list);
    free(xml->lines.callees);
    free(xml->lines.threads.list);
    free(xml->lines.summaries.list);
    free(xml->lines.thread_ids);
    cn_hpc_xml_tree_done(&xml->tree);
    cn_hpc_database_close(db);
}
