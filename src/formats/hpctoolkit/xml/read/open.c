#include "formats/hpctoolkit/xml/read/open.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/text.h"
#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/legacy_format.h"
#include "formats/hpctoolkit/xml/read/database.h"

struct database {
    struct cn_hpc_xml_database xml; /* first: operations receive a pointer to it */
    struct cn_hpc_values values;
    struct cn_hpc_maps maps; /* none when bytes were given */
};

static struct database *self_of(struct cn_database *db)
{
    return (struct database *)db;
}

static bool get_profile(struct cn_database *db, uint32_t index, struct cn_profile *out,
                        struct cn_error *err)
{
    return cn_hpc_values_profile(&self_of(db)->values, index, out, err);
}

/* True for lines that were numbered here: the files have no values for them. */
static bool is_beyond_files(const struct database *self,
                            const struct cn_value_cursor *cursor)
{
    return cursor->plane == CN_PLANE_OF_CONTEXT &&
           cursor->owner >= self->values.context_limit;
}

static bool plane_begin(struct cn_hpc_xml_database *xml, struct cn_value_cursor *cursor,
                        struct cn_error *err)
{
    const struct database *self = self_of(&xml->base);

    return is_beyond_files(self, cursor) ||
           cn_hpc_values_begin(&self->values, cursor, err);
}

static enum cn_step plane_next(struct cn_hpc_xml_database *xml,
                               struct cn_value_cursor *cursor, struct cn_value_batch *out,
                               struct cn_error *err)
{
    const struct database *self = self_of(&xml->base);

    if (is_beyond_files(self, cursor))
        return CN_END;
    return cn_hpc_values_next(&self->values, cursor, out, err);
}

static bool timeline(struct cn_database *db, uint32_t index, struct cn_timeline *out,
                     struct cn_error *err)
{
    return cn_hpc_values_timeline(&self_of(db)->values, index, out, err);
}

static bool samples(struct cn_database *db, const struct cn_timeline *line,
                    uint64_t first, size_t count, struct cn_sample *out,
                    struct cn_error *err)
{
    return cn_hpc_values_samples(&self_of(db)->values, line, first, count, out, err);
}

static void forget(struct cn_database *db)
{
    cn_hpc_maps_forget(&self_of(db)->maps);
}

static void close_database(struct cn_database *db)
{
    struct database *self = self_of(db);

    cn_hpc_maps_close(&self->maps);
    cn_hpc_xml_database_done(&self->xml);
    free(self);
}

static const struct cn_hpc_xml_version version = {
    .major = CN_HPC_XML_MAJOR,
    .ops = {.profile = get_profile,
            .timeline = timeline,
            .samples = samples,
            .forget = forget,
            .close = close_database},
    .plane_begin = plane_begin,
    .plane_next = plane_next,
};

static bool open_values(struct database *self, const struct cn_hpc_xml_files *files,
                        const struct cn_hpc_xml_head *head, struct cn_error *err)
{
    struct cn_database *db = &self->xml.base;
    struct cn_hpc_sparse_options options = {
        .listed_count = self->xml.tree.node_count,
        .idle_context = self->xml.tree.idle_context,
    };

    if (!cn_hpc_sparse_open(&self->values, db, &files->values, &options, err))
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
    struct database *self = cn_alloc(1, sizeof(*self));
    struct cn_hpc_xml_tree_source source = {.text = files->experiment,
                                            .is_mapped = files->is_mapped};
    struct cn_hpc_xml_head head;
    bool ok;

    cn_hpc_xml_database_init(&self->xml, &version);
    ok = cn_hpc_xml_database_read(&self->xml, &source, &head, err) &&
         open_values(self, files, &head, err) &&
         cn_hpc_xml_database_finish(&self->xml,
                                    head.lines_have_calls || files->keep_lines, err);
    cn_hpc_xml_head_done(&head);
    if (ok)
        *out = &self->xml.base;
    else
        close_database(&self->xml.base);
    return ok;
}

const struct cn_hpc_values *cn_hpc_xml_values(const struct cn_database *db)
{
    return &((const struct database *)db)->values;
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
    bool found = (cn_hpc_is_directory(path) || is_part(path, is_legacy)) &&
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

    (void)dir, (void)damage;
    if (!cn_hpc_xml_open_bytes(out, &files, err))
        return false;
    self_of(*out)->maps = *maps;
    return true;
}

bool cn_hpc_xml_open(struct cn_database **out, const char *path, struct cn_error *err)
{
    return cn_hpc_maps_open_database(out, path, CN_HPC_XML_FILE, open_mapped, err);
}
