#include "formats/hpctoolkit/proto/open.h"

#include "base/alloc.h"
#include "formats/hpctoolkit/entries.h"
#include "formats/hpctoolkit/proto/database.h"
#include "formats/hpctoolkit/proto/metrics_reader.h"
#include "formats/hpctoolkit/sparse/frame.h"

static bool module(struct cn_database *db, uint32_t index, struct cn_module *out,
                   struct cn_error *err)
{
    return cn_hpc_proto_module_at(&cn_hpc_proto_of(db)->meta, index, out, err) ||
           cn_fail_in(err, "meta.db");
}

static bool file(struct cn_database *db, uint32_t index, struct cn_source_file *out,
                 struct cn_error *err)
{
    return cn_hpc_proto_file_at(&cn_hpc_proto_of(db)->meta, index, out, err) ||
           cn_fail_in(err, "meta.db");
}

static bool function(struct cn_database *db, uint32_t index, struct cn_function *out,
                     struct cn_error *err)
{
    return cn_hpc_proto_function_at(&cn_hpc_proto_of(db)->meta, index, out, err) ||
           cn_fail_in(err, "meta.db");
}

static const struct cn_database_ops operations = {
    .profile = cn_hpc_database_profile,
    .module = module,
    .file = file,
    .function = function,
    .children = cn_hpc_database_children,
    .child_next = cn_hpc_database_child_next,
    .context_at = cn_hpc_database_context_at,
    .values_begin = cn_hpc_database_values_begin,
    .values_next = cn_hpc_database_values_next,
    .timeline = cn_hpc_database_timeline,
    .samples = cn_hpc_database_samples,
    .forget = cn_hpc_database_forget,
    .close = cn_hpc_database_close,
};

/* True if a root is a context of this function. */
static bool is_of_root(struct cn_database *db, uint32_t function)
{
    struct cn_context_cursor cursor;
    struct cn_context root;
    struct cn_error ignored;

    if (!cn_hpc_database_children(db, NULL, &cursor, &ignored))
        return false;
    while (cn_hpc_database_child_next(db, &cursor, &root, &ignored) == CN_ITEM)
        if (root.has_function && root.function == function)
            return true;
    return false;
}

/* The number of functions before those that only represent entry points, at the end. */
static uint32_t count_listed(struct cn_database *db)
{
    uint32_t count = db->function_count;
    struct cn_function function;
    struct cn_error ignored;
    uint16_t entry;

    while (count > 0 && db->function_count - count < CN_HPC_ENTRY_COUNT &&
           cn_database_function(db, count - 1, &function, &ignored) &&
           function.module == CN_NONE && function.file == CN_NONE &&
           cn_hpc_entry_find(function.name, &entry) && is_of_root(db, count - 1))
        count--;
    return count;
}

static bool open_meta(struct cn_hpc_proto *proto, struct cn_bytes file,
                      struct cn_error *err)
{
    struct cn_database *db = &proto->database.base;
    uint32_t listed_count;

    if (!cn_hpc_proto_meta_open(file, &db->arena, &proto->meta, err) ||
        !cn_hpc_proto_general(&proto->meta, &db->arena, &db->title, &db->description,
                              &db->kinds, err) ||
        !cn_hpc_proto_metrics_read(&proto->meta, &db->arena, &db->metrics, err))
        return cn_fail_in(err, "meta.db");
    if (proto->meta.is_unfinished)
        cn_database_warn(db, true,
                         "meta.db stops after the metrics: contexts are known by "
                         "their ids only");
    else if (!proto->meta.has_footer)
        cn_database_warn(db, false, "meta.db has no footer");
    db->module_count = proto->meta.modules.count;
    db->file_count = proto->meta.files.count;
    db->function_count = proto->meta.functions.count;
    cn_hpc_proto_tree_init(proto);
    listed_count = count_listed(db);
    cn_hpc_database_name_roots(db);
    db->function_count = listed_count;
    return true;
}

static bool open_files(struct cn_hpc_proto *proto, const struct cn_hpc_proto_files *files,
                       struct cn_error *err)
{
    struct cn_database *db = &proto->database.base;
    struct cn_hpc_sparse_options options = {0};

    db->ops = &operations;
    db->path = "";
    if (!open_meta(proto, files->meta, err))
        return false;
    options.listed_count = db->context_weight / cn_hpc_proto_context_size;
    options.idle_context = proto->database.tree.idle;
    if (proto->meta.is_unfinished)
        options.distrust_cct = "is inconsistent in unfinished databases";
    if (!cn_hpc_sparse_open(&proto->database.values, db, &files->values, &options, err))
        return false;
    cn_taxonomy_build(&db->taxonomy, &db->metrics, &db->arena);
    return true;
}

bool cn_hpc_proto_open_bytes(struct cn_database **out,
                             const struct cn_hpc_proto_files *files, struct cn_error *err)
{
    struct cn_hpc_proto *proto = cn_alloc(1, sizeof(*proto));

    if (!open_files(proto, files, err)) {
        cn_hpc_database_close(&proto->database.base);
        return false;
    }
    *out = &proto->database.base;
    return true;
}

static bool is_member(struct cn_bytes file)
{
    return cn_hpc_proto_meta_is(file) || cn_hpc_sparse_kind_of(file) != NULL;
}

bool cn_hpc_proto_probe(const char *path)
{
    return cn_hpc_maps_probe(path, "meta.db", cn_hpc_proto_meta_is, is_member);
}

static bool open_mapped(struct cn_database **out, const struct cn_hpc_maps *maps,
                        const char *dir, const struct cn_hpc_damage *damage,
                        struct cn_error *err)
{
    struct cn_hpc_proto_files files = {
        .meta = maps->file[CN_HPC_TREE_FILE].bytes,
        .values = cn_hpc_sparse_mapped(maps),
    };

    (void)dir;
    if (!cn_hpc_proto_open_bytes(out, &files, err))
        return false;
    cn_hpc_database_take_maps(*out, maps, damage);
    return true;
}

bool cn_hpc_proto_open(struct cn_database **out, const char *path, struct cn_error *err)
{
    return cn_hpc_maps_open_database(out, path, "meta.db", open_mapped, err);
}
