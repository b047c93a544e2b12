#include "formats/hpctoolkit/proto/verify.h"

#include <stdlib.h>

#include "formats/hpctoolkit/proto/database.h"
#include "formats/hpctoolkit/proto/open.h"
#include "formats/hpctoolkit/proto/verify_parts.h"
#include "formats/hpctoolkit/sparse/verify.h"

/* Values are compared through the reader, which stops at the first damage: only
 * where nothing was wrong so far. */
static bool compare_values(struct cn_hpc_proto_check *c, const char *dir,
                           const struct cn_hpc_proto_files *files,
                           const struct cn_progress *progress, struct cn_error *err)
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
    ok = cn_hpc_sparse_verify_values(&c->f, db, &cn_hpc_proto_of(db)->sparse, progress,
                                     err);
    cn_database_close(db);
    return ok;
}

static bool verify_all(struct cn_hpc_proto_check *c, const char *dir,
                       const struct cn_hpc_proto_files *files,
                       const struct cn_progress *progress, struct cn_error *err)
{
    struct cn_hpc_sparse_known known = {.has_time_range = true, .is_mapped = dir != NULL};

    cn_findings_begin(&c->f, "meta.db");
    if (files->meta.ptr)
        cn_hpc_proto_check_meta(c, files->meta);
    else
        cn_findings_error(&c->f, "file-missing", 0, "not there: a database needs it");
    if (c->has_metrics) {
        known.thread_ids = &c->prop_ids;
        known.summary_ids = &c->stat_ids;
    }
    if (c->has_contexts) {
        known.contexts = &c->contexts;
        known.context_last = c->context_last;
    }
    if (c->is_unfinished)
        known.distrust_cct = "is inconsistent in unfinished databases";
    known.kind_count = (uint32_t)c->kinds.count;
    if (!cn_hpc_sparse_verify(&c->f, &files->values, &known, progress, err))
        return false;
    return c->f.error_count > 0 || compare_values(c, dir, files, progress, err);
}

static bool verify(const char *dir, const struct cn_hpc_proto_files *files,
                   const struct cn_progress *progress, cn_finding_fn report, void *arg,
                   struct cn_error *err)
{
    struct cn_hpc_proto_check c = {.f = cn_hpc_findings(report, arg)};
    bool ok = verify_all(&c, dir, files, progress, err);

    cn_findings_begin(&c.f, NULL);
    cn_hpc_set_done(&c.prop_ids);
    cn_hpc_set_done(&c.stat_ids);
    cn_hpc_set_done(&c.contexts);
    cn_arena_done(&c.arena);
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
    /* A file that is not there is for the rules to judge. */
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
