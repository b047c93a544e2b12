#include "formats/hpctoolkit/proto/open.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/proto/context_reader.h"
#include "formats/hpctoolkit/proto/database.h"
#include "formats/hpctoolkit/proto/metrics_reader.h"

static bool open_meta(struct cn_hpc_proto *proto, struct cn_bytes file,
                      struct cn_error *err)
{
    struct cn_database *db = &proto->base;

    if (!cn_hpc_proto_meta_open(file, &db->arena, &proto->meta, err) ||
        !cn_hpc_proto_general(&proto->meta, &db->arena, &db->title, &db->description,
                              &db->kinds, err) ||
        !cn_hpc_proto_metrics_read(&proto->meta, &db->arena, &db->metrics, err))
        return cn_fail_in(err, "meta.db");
    if (proto->meta.is_unfinished)
        cn_database_warn(db, "meta.db stops after the metrics: contexts are known by "
                             "their ids only");
    else if (!proto->meta.has_footer)
        cn_database_warn(db, "meta.db has no footer");
    db->module_count = proto->meta.modules.count;
    db->file_count = proto->meta.files.count;
    db->function_count = proto->meta.listed_functions;
    db->context_weight = proto->meta.sections[CN_HPC_PROTO_CONTEXTS].bytes.len;
    return true;
}

static bool open_files(struct cn_hpc_proto *proto, const struct cn_hpc_proto_files *files,
                       struct cn_error *err)
{
    struct cn_database *db = &proto->base;
    struct cn_hpc_sparse_options options = {0};

    db->ops = &cn_hpc_proto_ops;
    db->path = "";
    if (!open_meta(proto, files->meta, err))
        return false;
    options.listed_count = db->context_weight / cn_hpc_proto_context_size;
    options.idle_context = cn_hpc_proto_contexts_idle(&proto->meta);
    if (proto->meta.is_unfinished)
        options.distrust_cct = "is inconsistent in unfinished databases";
    if (!cn_hpc_sparse_open(&proto->sparse, db, &files->values, &options, err))
        return false;
    cn_taxonomy_build(&db->taxonomy, &db->metrics, &db->arena);
    return true;
}

bool cn_hpc_proto_open_bytes(struct cn_database **out,
                             const struct cn_hpc_proto_files *files, struct cn_error *err)
{
    struct cn_hpc_proto *proto = cn_alloc(1, sizeof(*proto));

    if (!open_files(proto, files, err)) {
        cn_hpc_proto_ops.close(&proto->base);
        return false;
    }
    *out = &proto->base;
    return true;
}

static bool is_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *cn_hpc_proto_directory(const char *path)
{
    char *dir = cn_strdup(path);
    char *slash = strrchr(dir, '/');

    if (is_directory(path))
        return dir;
    if (!slash) {
        free(dir);
        return cn_strdup(".");
    }
    slash[slash == dir] = '\0';
    return dir;
}

static bool is_meta(const char *dir)
{
    struct cn_file file = {0};
    struct cn_error ignored;
    bool ok = cn_file_open_at(&file, dir, "meta.db", &ignored) &&
              cn_hpc_proto_meta_is(file.bytes);

    cn_file_close(&file);
    return ok;
}

static bool is_member(const char *path)
{
    struct cn_file file = {0};
    struct cn_error ignored;
    bool ok = cn_file_open(&file, path, &ignored) &&
              (cn_hpc_proto_meta_is(file.bytes) ||
               cn_hpc_sparse_file_is(file.bytes, &cn_hpc_sparse_profile_kind) ||
               cn_hpc_sparse_file_is(file.bytes, &cn_hpc_sparse_cct_kind) ||
               cn_hpc_sparse_file_is(file.bytes, &cn_hpc_sparse_trace_kind));

    cn_file_close(&file);
    return ok;
}

bool cn_hpc_proto_probe(const char *path)
{
    char *dir = cn_hpc_proto_directory(path);
    bool found = is_meta(dir) && (is_directory(path) || is_member(path));

    free(dir);
    return found;
}

/* A file that need not be there. Another failure than that is worth a warning. */
static bool map_optional(struct cn_file *file, const char *dir, const char *name,
                         struct cn_error *damage)
{
    if (cn_file_open_at(file, dir, name, damage))
        return true;
    if (damage->kind == CN_ERR_NOT_FOUND)
        *damage = (struct cn_error){0};
    return false;
}

static bool open_mapped(struct cn_database **out, struct cn_file *maps, const char *dir,
                        struct cn_error *err)
{
    struct cn_error cct_damage = {0}, trace_damage = {0};
    struct cn_hpc_proto_files files = {0};

    if (!cn_file_open_at(&maps[0], dir, "meta.db", err) ||
        !cn_file_open_at(&maps[1], dir, "profile.db", err))
        return false;
    files.values.has_cct = map_optional(&maps[2], dir, "cct.db", &cct_damage);
    files.values.has_trace = map_optional(&maps[3], dir, "trace.db", &trace_damage);
    files.meta = maps[0].bytes;
    files.values.profile = maps[1].bytes;
    files.values.cct = maps[2].bytes;
    files.values.trace = maps[3].bytes;
    if (!cn_hpc_proto_open_bytes(out, &files, err))
        return cn_fail_in(err, "%s", dir);
    if (cct_damage.kind != CN_ERR_NONE)
        cn_database_warn(*out, "%s", cct_damage.text);
    if (trace_damage.kind != CN_ERR_NONE) {
        cn_database_warn(*out, "%s", trace_damage.text);
        (*out)->has_timelines = true;
        cn_hpc_proto_of(*out)->sparse.trace_damage = trace_damage;
    }
    return true;
}

bool cn_hpc_proto_open(struct cn_database **out, const char *path, struct cn_error *err)
{
    struct cn_file maps[CN_HPC_PROTO_MAPPED_MAX] = {0};
    char *dir = cn_hpc_proto_directory(path);
    struct cn_database *db;
    bool ok = open_mapped(&db, maps, dir, err);

    if (ok) {
        memcpy(cn_hpc_proto_of(db)->mapped, maps, sizeof(maps));
        db->path = cn_arena_strdup(&db->arena, dir);
        *out = db;
    } else {
        for (size_t i = 0; i < CN_HPC_PROTO_MAPPED_MAX; i++)
            cn_file_close(&maps[i]);
    }
    free(dir);
    return ok;
}
