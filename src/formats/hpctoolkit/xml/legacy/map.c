#include <dirent.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/text.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/legacy/legacy.h"
#include "formats/hpctoolkit/xml/legacy_format.h"

static int is_values(const struct dirent *entry)
{
    return cn_ends_with(entry->d_name, CN_HPC_LEGACY_VALUES_SUFFIX);
}

static int is_packed(const struct dirent *entry)
{
    return strncmp(entry->d_name, CN_HPC_LEGACY_PACKED_PREFIX,
                   strlen(CN_HPC_LEGACY_PACKED_PREFIX)) == 0 &&
           cn_ends_with(entry->d_name, CN_HPC_LEGACY_PACKED_SUFFIX);
}

/* A missing file leaves *out as it is. */
static bool map_optional(struct cn_hpc_legacy_maps *maps, const char *dir,
                         const char *name, struct cn_hpc_legacy_file *out,
                         struct cn_error *err)
{
    struct cn_file *file = &maps->mapped[maps->mapped_count];
    struct cn_error failure = {0};

    if (!cn_file_open_at(file, dir, name, &failure)) {
        if (failure.kind == CN_ERR_NOT_FOUND)
            return true;
        *err = failure;
        return false;
    }
    maps->mapped_count++;
    *out = (struct cn_hpc_legacy_file){name, file->bytes};
    return true;
}

static bool map_all(struct cn_hpc_legacy_maps *maps, const char *dir,
                    struct cn_error *err)
{
    enum { OTHERS = 3 };
    bool is_packed_file = false;

    maps->name_count = scandir(dir, &maps->names, is_values, alphasort);
    if (maps->name_count <= 0) {
        is_packed_file = true;
        free(maps->names);
        maps->names = NULL;
        maps->name_count = scandir(dir, &maps->names, is_packed, alphasort);
    }
    if (maps->name_count < 0) {
        maps->name_count = 0;
        return cn_fail_errno(err, "%s", dir);
    }
    if (maps->name_count > CN_HPC_LEGACY_FILE_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%s: %d files with values, can read %d", dir,
                       maps->name_count, CN_HPC_LEGACY_FILE_MAX);
    size_t count = (size_t)maps->name_count;
    maps->mapped = cn_alloc(count + OTHERS, sizeof(*maps->mapped));
    if (is_packed_file) {
        if (count > 0 &&
            !map_optional(maps, dir, maps->names[0]->d_name, &maps->files.packed, err))
            return false;
    } else {
        maps->values = cn_alloc(count, sizeof(*maps->values));
        for (size_t i = 0; i < count; i++)
            if (!map_optional(maps, dir, maps->names[i]->d_name, &maps->values[i], err))
                return false;
        maps->files.values = maps->values;
        maps->files.value_count = count;
    }
    if (!map_optional(maps, dir, CN_HPC_LEGACY_TRACES, &maps->files.traces, err) ||
        !cn_file_open_at(&maps->mapped[maps->mapped_count], dir, CN_HPC_XML_FILE, err))
        return false;
    maps->files.experiment = maps->mapped[maps->mapped_count++].bytes;
    maps->files.is_mapped = true;
    return true;
}

bool cn_hpc_legacy_map(struct cn_hpc_legacy_maps *out, const char *dir,
                       struct cn_error *err)
{
    struct cn_hpc_legacy_maps maps = {0};

    if (!map_all(&maps, dir, err)) {
        cn_hpc_legacy_unmap(&maps);
        return false;
    }
    *out = maps;
    return true;
}

void cn_hpc_legacy_unmap(struct cn_hpc_legacy_maps *maps)
{
    for (size_t i = 0; i < maps->mapped_count; i++)
        cn_file_close(&maps->mapped[i]);
    for (int i = 0; i < maps->name_count; i++)
        free(maps->names[i]);
    free(maps->names);
    free(maps->values);
    free(maps->mapped);
    *maps = (struct cn_hpc_legacy_maps){0};
}
