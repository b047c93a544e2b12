#include "formats/hpctoolkit/xml/read/open.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/text.h"
#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/legacy_format.h"
#include "formats/hpctoolkit/xml/read/database.h"

/* True for lines that were numbered here: the files have no values for them. */
static bool is_beyond_files(const struct cn_hpc_xml_database *xml,
                            const struct cn_value_cursor *cursor)
{
    return cursor->plane == CN_PLANE_OF_CONTEXT &&
           cursor->owner >= xml->database.values.context_limit;
}

static bool plane_begin(struct cn_hpc_xml_database *xml, struct cn_value_cursor *cursor,
                        struct cn_error *err)
{
    return is_beyond_files(xml, cursor) ||
           cn_hpc_values_begin(&xml->database.values, cursor, err);
}

static enum cn_step plane_next(struct cn_hpc_xml_database *xml,
                               struct cn_value_cursor *cursor, struct cn_value_batch *out,
                               struct cn_error *err)
{
    if (is_beyond_files(xml, cursor))
        return CN_END;
    return cn_hpc_values_next(&xml->database.values, cursor, out, err);
}

static const struct cn_hpc_xml_version version = {
    .major = CN_HPC_XML_MAJOR,
    .ops = {.profile = cn_hpc_database_profile,
            .timeline = cn_hpc_database_timeline,
            .samples = cn_hpc_database_samples,
            .forget = cn_hpc_database_forget,
            .close = cn_hpc_xml_database_close},
    .plane_begin = plane_begin,
    .plane_next = plane_next,
};

static bool open_values(struct cn_hpc_xml_database *xml,
                        const struct cn_hpc_xml_files *files,
                        const struct cn_hpc_xml_head *head, struct cn_error *err)
{
    struct cn_database *db = &xml->database.base;
    struct cn_hpc_sparse_options options = {
        .listed_count = xml->tree.node_count,
        .idle_context = xml->tree.idle_context,
    };

    if (!cn_hpc_sparse_open(&xml->database.values, db, &files->values, &options, err))
        return false;
    if (head->has_times) {
        db->begin_ns = head->begin;
        db->end_ns = head->end;
    }
    return true;
}

bool cn_hpc_xml_open_bytes(struct cn_database **out, const struct cn_hpc_xml_files *files,
                           struct cn_error *err)
{
    struct cn_hpc_xml_database *xml = cn_alloc(1, sizeof(*xml));
    struct cn_hpc_xml_tree_source source = {.text = files->experiment,
                                            .is_mapped = files->is_mapped};
    struct cn_hpc_xml_head head;

    cn_hpc_xml_database_init(xml, &version);
    bool ok =
        cn_hpc_xml_database_read(xml, &source, &head, err) &&
        open_values(xml, files, &head, err) &&
        cn_hpc_xml_database_finish(xml, head.lines_have_calls || files->keep_lines, err);
    cn_hpc_xml_head_done(&head);
    if (ok)
        *out = &xml->database.base;
    else
        cn_hpc_xml_database_close(&xml->database.base);
    return ok;
}

/* True if `path` names one of the files of a database. */
static bool is_part(const char *path, bool is_legacy)
{
    const char *name = cn_path_name(path);

    if (is_legacy)
        return strcmp(name, CN_HPC_XML_FILE) == 0 ||
               strcmp(name, CN_HPC_LEGACY_TRACES) == 0 ||
               cn_ends_with(name, CN_HPC_LEGACY_VALUES_SUFFIX) ||
               cn_ends_with(name, CN_HPC_LEGACY_PACKED_SUFFIX);
    return strcmp(name, CN_HPC_XML_FILE) == 0 || strcmp(name, "profile.db") == 0 ||
           strcmp(name, "cct.db") == 0 || strcmp(name, "trace.db") == 0;
}

static bool probe(const char *path, bool is_legacy)
{
    char *dir = cn_hpc_directory(path);
    struct cn_file file = {0};
    struct cn_error ignored;
    unsigned major;
    bool found = (cn_path_is_folder(path) || is_part(path, is_legacy)) &&
                 cn_file_open_at(&file, dir, CN_HPC_XML_FILE, &ignored) &&
                 cn_hpc_xml_sniff(file.bytes, &major) &&
                 (major == CN_HPC_XML_LEGACY_MAJOR) == is_legacy;

    cn_file_close(&file);
    free(dir);
    return found;
}

bool cn_hpc_xml_probe(const char *path)
{
    return probe(path, false);
}

bool cn_hpc_xml_legacy_probe(const char *path)
{
    return probe(path, true);
}

static bool open_mapped(struct cn_database **out, const struct cn_hpc_maps *maps,
                        const char *dir, const struct cn_hpc_damage *damage,
                        struct cn_error *err)
{
    struct cn_hpc_xml_files files = {
        .experiment = maps->file[CN_HPC_TREE_FILE].bytes,
        .values = cn_hpc_sparse_mapped(maps),
        .is_mapped = true,
    };

    (void)dir;
    if (!cn_hpc_xml_open_bytes(out, &files, err))
        return false;
    cn_hpc_database_take_maps(*out, maps, damage);
    return true;
}

bool cn_hpc_xml_open(struct cn_database **out, const char *path, struct cn_error *err)
{
    return cn_hpc_maps_open_database(out, path, CN_HPC_XML_FILE, open_mapped, err);
}
