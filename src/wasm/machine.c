/* What cairn asks the machine for elsewhere: programs with their symbols, the kernel's
 * vDSO, cached files. A page sees none of them, so everything is unknown here. */

#pragma clang diagnostic ignored "-Wunused-parameter"

#include <stddef.h>
#include <stdlib.h>

#include "base/host/input.h"
#include "cache/analyses.h"
#include "cache/directory.h"
#include "open/analysis.h"
#include "store/segment/opened.h"
#include "symbols/program/assembly.h"
#include "symbols/program/package.h"
#include "symbols/program/resolver.h"
#include "symbols/program/vdso.h"

bool cn_analyze_measurements(struct cn_analysis *out,
                             const struct cn_measured_sources *from,
                             const struct cn_analysis_target *to, struct cn_error *err)
{
    *out = (struct cn_analysis){0};
    return cn_fail(err, CN_ERR_USAGE, "%s: measurements cannot be analysed in a page",
                   from->paths[0]);
}

bool cn_cached_folder_find(struct cn_cached_folder *out, const char *source,
                           unsigned variant)
{
    *out = (struct cn_cached_folder){0};
    return false;
}

bool cn_cached_folder_begin(struct cn_cached_folder *cached, bool is_temporary,
                            struct cn_error *err)
{
    cached->path = cn_temporary_make("analysis", err);
    return cached->path != NULL;
}

bool cn_cached_folder_commit(struct cn_cached_folder *cached, struct cn_error *err)
{
    return true;
}

void cn_cached_folder_drop(struct cn_cached_folder *cached)
{
}

void cn_cached_folder_close(struct cn_cached_folder *cached)
{
    if (cached->path)
        cn_outdir_remove(cached->path);
    free(cached->path);
    *cached = (struct cn_cached_folder){0};
}

bool cn_remote_store_open(struct cn_store *store, const char *address,
                          const struct cn_store *earlier, struct cn_error *err)
{
    return cn_fail(err, CN_ERR_USAGE, "%s: a page has no network", address);
}

bool cn_input_spool(char **folder, char **path, struct cn_error *err)
{
    return cn_fail(err, CN_ERR_USAGE, "a page has no standard input");
}

struct cn_resolver *cn_resolver_new(void)
{
    return NULL;
}

void cn_resolver_free(struct cn_resolver *resolver)
{
}

bool cn_package_find(const char *path, struct cn_text *out)
{
    return false;
}

void cn_resolver_look_in(struct cn_resolver *resolver, const char *const *folders,
                         size_t count, bool is_offline)
{
}

void cn_resolver_hint(const struct cn_resolver *resolver, struct cn_text *out)
{
    (void)resolver, (void)out;
}

bool cn_resolver_function(struct cn_resolver *resolver, const char *path,
                          const char *build_id, uint64_t offset,
                          struct cn_source_location *out)
{
    return false;
}

size_t cn_resolver_instruction(struct cn_resolver *resolver, const char *path,
                               const char *build_id, uint64_t offset,
                               struct cn_source_location *out, size_t most)
{
    return 0;
}

bool cn_resolver_symbol(struct cn_resolver *resolver, const char *path,
                        const char *build_id, uint64_t offset, struct cn_symbol *out)
{
    return false;
}

bool cn_resolver_variable(struct cn_resolver *resolver, const char *path,
                          const char *build_id, uint64_t file_off, uint64_t distance,
                          struct cn_symbol *out, uint64_t *offset)
{
    return false;
}

size_t cn_resolver_loops(struct cn_resolver *resolver, const char *path,
                         const char *build_id, const struct cn_symbol *function,
                         uint64_t offset, uint64_t out[CN_RESOLVER_LOOP_MAX])
{
    return 0;
}

size_t cn_resolver_loop(struct cn_resolver *resolver, const char *path,
                        const char *build_id, const struct cn_symbol *function,
                        uint64_t head, struct cn_source_location *out, size_t most)
{
    return 0;
}

bool cn_resolver_offset(struct cn_resolver *resolver, const char *path,
                        const char *build_id, uint64_t file_off, uint64_t *out)
{
    return false;
}

bool cn_assembly_open(struct cn_assembly *assembly, struct cn_resolver *resolver,
                      const char *path, const char *build_id, uint64_t offset,
                      struct cn_error *err)
{
    return cn_fail(err, CN_ERR_NOT_FOUND,
                   "%s is not in this page; run cairn view on the machine that has it",
                   path);
}

uint32_t cn_assembly_find(const struct cn_assembly *assembly, uint64_t offset)
{
    return CN_NO_JUMP;
}

void cn_assembly_done(struct cn_assembly *assembly)
{
}

bool cn_vdso_open(struct cn_vdso *vdso)
{
    return false;
}

void cn_vdso_close(struct cn_vdso *vdso)
{
}

bool cn_cache_dir(const char *below, char path[static PATH_MAX])
{
    return false;
}

void cn_cache_dir_make(char path[static PATH_MAX])
{
}

void cn_cache_dir_limit(const char *dir, uint64_t size_max)
{
}
