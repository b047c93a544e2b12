#include "formats/hpctoolkit/proto/proto.h"

#include <stdlib.h>

#include "formats/hpctoolkit/meta/database.h"
#include "formats/hpctoolkit/meta/verify.h"
#include "formats/hpctoolkit/proto/meta.h"
#include "formats/hpctoolkit/proto/open.h"
#include "formats/hpctoolkit/sparse/open.h"

/* The reader stops at the first damage: compare values only where nothing was wrong. */
static bool compare_values(struct cn_hpc_check *c, const char *dir,
                           const struct cn_hpc_proto_files *files, struct cn_error *err)
{
    struct cn_error damage = {0};
    struct cn_database *db;

    /* Opened by its path, the database can give back the memory of its maps. */
    if (!(dir ? cn_hpc_proto_open(&db, dir, &damage)
              : cn_hpc_proto_open_bytes(&db, files, &damage))) {
        cn_findings_error(&c->f, "open", 0, "%s", damage.text);
        return true;
    }
    bool ok = cn_hpc_check_values(c, db, &((struct cn_hpc_database *)db)->values, err);
    cn_database_close(db);
    return ok;
}

/* False if the file cannot be checked. */
static bool check_frame(struct cn_findings *f, struct cn_bytes file,
                        struct cn_hpc_meta *meta)
{
    struct cn_error damage;
    bool has_footer;

    if (!cn_hpc_proto_meta(file, meta, &has_footer, &damage)) {
        cn_findings_error(f, "frame", 0, "%s", damage.text);
        return false;
    }
    if (meta->is_unfinished)
        cn_findings_warn(f, "unfinished", file.len,
                         "the file stops after the metrics: it has no contexts");
    else if (!has_footer)
        cn_findings_warn(f, "footer", file.len, "the file does not end with %s",
                         CN_HPC_PROTO_FOOTER);
    for (size_t i = 0; i < CN_HPC_META_SECTION_COUNT; i++)
        if (meta->sections[i].off % CN_HPC_PROTO_ALIGN != 0)
            cn_findings_warn(f, "section-alignment", meta->sections[i].off,
                             "section %s does not start at a multiple of %d",
                             meta->encoding->section_names[i], CN_HPC_PROTO_ALIGN);
    return true;
}

static bool verify(const char *dir, const struct cn_hpc_proto_files *files,
                   const struct cn_progress *progress, cn_finding_fn report, void *arg,
                   struct cn_error *err)
{
    struct cn_hpc_meta_check check = {
        .c = {.f = cn_hpc_findings(report, arg),
              .progress = progress,
              .tree = "meta.db",
              .is_mapped = dir != NULL},
        .dir = dir,
    };
    struct cn_hpc_sparse_verify values = {
        .c = &check.c, .files = &files->values, .has_time_range = true};
    struct cn_hpc_meta meta = {0};

    if (cn_hpc_check_begin(&check.c, "meta.db", files->meta.ptr) &&
        check_frame(&check.c.f, files->meta, &meta))
        cn_hpc_meta_verify(&check, &meta);
    if (meta.is_unfinished)
        values.distrust_cct = "is inconsistent in unfinished databases";
    bool ok = cn_hpc_sparse_verify(&values, err) &&
              (check.c.f.error_count > 0 || compare_values(&check.c, dir, files, err));
    cn_hpc_meta_check_done(&check);
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
