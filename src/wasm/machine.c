/* What cairn asks the machine for elsewhere: programs with their symbols, the kernel's
 * vDSO, cached files. A page sees none of them, so everything is unknown here. */

#include <stddef.h>

#include "base/host/cache_dir.h"
#include "open/analysis.h"
#include "symbols/program/assembly.h"
#include "symbols/program/resolver.h"
#include "symbols/program/vdso.h"

bool cn_analysis_of_measurements(const char *path, const char *folder,
                                 const struct cn_progress *progress, struct cn_error *err)
{
    (void)folder;
    (void)progress;
    return cn_fail(err, CN_ERR_USAGE, "%s: measurements cannot be analysed in a page",
                   path);
}

struct cn_resolver *cn_resolver_new(void)
{
    return NULL;
}

void cn_resolver_free(struct cn_resolver *resolver)
{
    (void)resolver;
}

bool cn_resolver_function(struct cn_resolver *resolver, const char *path,
                          const char *build_id, uint64_t offset,
                          struct cn_source_location *out)
{
    (void)resolver;
    (void)path;
    (void)build_id;
    (void)offset;
    (void)out;
    return false;
}

size_t cn_resolver_instruction(struct cn_resolver *resolver, const char *path,
                               const char *build_id, uint64_t offset,
                               struct cn_source_location *out, size_t most)
{
    (void)resolver;
    (void)path;
    (void)build_id;
    (void)offset;
    (void)out;
    (void)most;
    return 0;
}

bool cn_resolver_symbol(struct cn_resolver *resolver, const char *path,
                        const char *build_id, uint64_t offset, struct cn_symbol *out)
{
    (void)resolver;
    (void)path;
    (void)build_id;
    (void)offset;
    (void)out;
    return false;
}

size_t cn_resolver_loops(struct cn_resolver *resolver, const char *path,
                         const char *build_id, const struct cn_symbol *function,
                         uint64_t offset, uint64_t out[CN_RESOLVER_LOOP_MAX])
{
    (void)resolver;
    (void)path;
    (void)build_id;
    (void)function;
    (void)offset;
    (void)out;
    return 0;
}

size_t cn_resolver_loop(struct cn_resolver *resolver, const char *path,
                        const char *build_id, const struct cn_symbol *function,
                        uint64_t head, struct cn_source_location *out, size_t most)
{
    (void)resolver;
    (void)path;
    (void)build_id;
    (void)function;
    (void)head;
    (void)out;
    (void)most;
    return 0;
}

bool cn_resolver_offset(struct cn_resolver *resolver, const char *path,
                        const char *build_id, uint64_t file_off, uint64_t *out)
{
    (void)resolver;
    (void)path;
    (void)build_id;
    (void)file_off;
    (void)out;
    return false;
}

bool cn_assembly_open(struct cn_assembly *assembly, struct cn_resolver *resolver,
                      const char *path, const char *build_id, uint64_t offset,
                      struct cn_error *err)
{
    (void)assembly;
    (void)resolver;
    (void)build_id;
    (void)offset;
    return cn_fail(err, CN_ERR_NOT_FOUND,
                   "%s is not in this page; run cairn view on the machine that has it",
                   path);
}

uint32_t cn_assembly_find(const struct cn_assembly *assembly, uint64_t offset)
{
    (void)assembly;
    (void)offset;
    return CN_NO_JUMP;
}

void cn_assembly_done(struct cn_assembly *assembly)
{
    (void)assembly;
}

bool cn_vdso_open(struct cn_vdso *vdso)
{
    (void)vdso;
    return false;
}

void cn_vdso_close(struct cn_vdso *vdso)
{
    (void)vdso;
}

bool cn_cache_dir(const char *below, char path[static PATH_MAX])
{
    (void)below;
    (void)path;
    return false;
}

void cn_cache_dir_make(char path[static PATH_MAX])
{
    (void)path;
}

void cn_cache_dir_limit(const char *dir, uint64_t size_max)
{
    (void)dir;
    (void)size_max;
}
