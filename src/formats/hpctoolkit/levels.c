#include "formats/hpctoolkit/levels.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/out.h"

void cn_hpc_levels_make(struct cn_hpc_levels *levels, size_t count)
{
    while (levels->count < count) {
        levels->list = cn_grow(levels->list, levels->count, &levels->capacity,
                               sizeof(*levels->list));
        levels->list[levels->count++] = (struct cn_hpc_level){0};
    }
}

void cn_hpc_levels_done(struct cn_hpc_levels *levels)
{
    for (size_t i = 0; i < levels->count; i++)
        free(levels->list[i].bytes);
    free(levels->list);
    *levels = (struct cn_hpc_levels){0};
}

uint8_t *cn_hpc_level_append(struct cn_hpc_level *level, size_t len)
{
    enum { FIRST = 512 };

    while (level->capacity - level->len < len) {
        level->capacity = level->capacity ? level->capacity * 2 : FIRST;
        level->bytes = cn_realloc(level->bytes, level->capacity, 1);
    }
    level->len += len;
    return level->bytes + level->len - len;
}

bool cn_hpc_level_write(struct cn_hpc_level *level, struct cn_out *out, uint64_t *len,
                        uint64_t *off, struct cn_error *err)
{
    *len = level->len;
    *off = level->len > 0 ? out->end_off : 0;
    level->len = 0;
    return *len == 0 || cn_out_write(out, level->bytes, (size_t)*len, err);
}
