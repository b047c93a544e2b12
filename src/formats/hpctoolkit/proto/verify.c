#include "formats/hpctoolkit/proto/verify.h"

#include <stdlib.h>

#include "formats/hpctoolkit/proto/database.h"
#include "formats/hpctoolkit/proto/open.h"
#include "formats/hpctoolkit/proto/verify_parts.h"
#include "formats/hpctoolkit/sparse/verify.h"

/* The reader stops at the first damage: compare values only where nothing was wrong. */
static bool compare_values(struct cn_hpc_check *c, const char *dir,
                           const struct cn_hpc_proto_files *files, struct cn_error *err)
{
    struct cn_error damage = {0};
    struct cn_database *db;
    bool ok;

    /* Opened by its path, the database can give back the memory of its maps. */
    if (!(dir ? cn_hpc_proto_open(&db, dir, &damage)
              : cn_hpc_proto_open_bytes(&db, files, &damage))) {
        cn_findings_error(&c->f, "open", 0, "%s", damage.text);
        return true;
    }
    ok = cn_hpc_check_values(c, db, &cn_hpc_proto_of(db)->database.values, err);
    cn_database_close(db);
    return ok;
}

static bool verify(const char *dir, const struct cn_hpc_proto_files *files,
                   const struct cn_progress *progress, cn_finding_fn report, void *arg,
                   struct cn_error *err)
{
    struct cn_hpc_proto_check p = {
        .c = {.f = cn_hpc_findings(report, arg),
              .progress = progress,
              .tree = "meta.db",
              .is_mapped = dir != NULL},
    };
    struct cn_hpc_sparse_verify values = {
        .c = &p.c, .files = &files->values, .has_time_range = true};
    bool ok;

    if (cn_hpc_check_begin(&p.c, "meta.db", files->meta.ptr))
        cn_hpc_proto_check_meta(&p, files->meta);
    if (p.is_unfinished)
        values.distrust_cct = "is inconsistent in unfinished databases";
    ok = cn_hpc_sparse_verify(&values, err) &&
         (p.c.f.error_count > 0 || compare_values(&p.c, dir, files, err));
    cn_hpc_check_done(&p.c);
    cn_hpc_set_done(&p.prop_ids);
    cn_hpc_set_done(&p.stat_ids);
    cn_hpc_set_done(&p.contexts);
    cn_arena_done(&p.arena);
    return ok;
}

bool cn_hpc_proto_verify_bytes(const struct cn_hpc_proto_files *files,
                               const struct cn_progress *progress, cn_finding_fn report,
                               void *arg, struct cn_error *err)
{
    return verify(NULL, files, progress, report, arg, err);
}

bool cn_hpc_proto_verify(const char *path, const struct cn_progress *progress,
                         cn_finding_fn report, void *arg, struct cn_error *err)
{
    struct cn_hpc_maps maps = {0};
    char *dir = cn_hpc_directory(path);
    /* Rules decide about a file that is missing. */
    bool ok = cn_hpc_maps_open(&maps, dir, "meta.db", err);
    struct cn_hpc_proto_files files = {
        .meta = maps.file[CN_HPC_TREE_FILE].bytes,
        .values = cn_hpc_sparse_mapped(&maps),
    };

    ok = ok && verify(dir, &files, progress, report, arg, err);
    cn_hpc_maps_close(&maps);
    free(dir);
    return ok;
}
