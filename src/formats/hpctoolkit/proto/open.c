#include "formats/hpctoolkit/proto/open.h"

#include "base/alloc.h"
#include "formats/hpctoolkit/meta/database.h"
#include "formats/hpctoolkit/proto/meta.h"
#include "formats/hpctoolkit/sparse/frame.h"

static bool open_meta(struct cn_hpc_meta_database *self, struct cn_bytes file,
                      struct cn_error *err)
{
    struct cn_database *db = &self->database.base;
    bool has_footer;

    if (!cn_hpc_proto_meta(file, &self->meta, &has_footer, err))
        return cn_fail_in(err, "meta.db");
    if (!cn_hpc_meta_database_open(self, err))
        return false;
    if (self->meta.is_unfinished)
        cn_database_warn(db, true,
                         "meta.db stops after the metrics: contexts are known by "
                         "their ids only");
    else if (!has_footer)
        cn_database_warn(db, false, "meta.db has no footer");
    return true;
}

static bool open_files(struct cn_hpc_meta_database *self,
                       const struct cn_hpc_proto_files *files, struct cn_error *err)
{
    struct cn_database *db = &self->database.base;
    struct cn_hpc_sparse_options options = {0};

    db->ops = &cn_hpc_meta_database_ops;
    db->path = "";
    if (!open_meta(self, files->meta, err))
        return false;
    options.listed_count = db->context_weight / cn_hpc_proto_context_size;
    options.idle_context = self->idle;
    if (self->meta.is_unfinished)
        options.distrust_cct = "is inconsistent in unfinished databases";
    if (!cn_hpc_sparse_open(&self->database.values, db, &files->values, &options, err))
        return false;
    cn_taxonomy_build(&db->taxonomy, &db->metrics, &db->arena);
    return true;
}

bool cn_hpc_proto_open_bytes(struct cn_database **out,
                             const struct cn_hpc_proto_files *files, struct cn_error *err)
{
    struct cn_hpc_meta_database *self = cn_alloc(1, sizeof(*self));

    if (!open_files(self, files, err)) {
        cn_hpc_database_close(&self->database.base);
        return false;
    }
    *out = &self->database.base;
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
