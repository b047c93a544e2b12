#include "symbols/sources.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"

bool cn_sources_move(struct cn_sources *sources, const char *spec, struct cn_error *err)
{
    const char *equals = strchr(spec, '=');
    struct cn_source_move move;

    if (!equals || equals == spec || equals[1] == '\0')
        return cn_fail(err, CN_ERR_USAGE, "'%s' is not FROM=TO", spec);
    move.from_len = (size_t)(equals - spec);
    while (move.from_len > 1 && spec[move.from_len - 1] == '/')
        move.from_len--;
    move.from = cn_arena_copy(&sources->arena, spec, move.from_len);
    move.to = cn_arena_strdup(&sources->arena, equals + 1);
    CN_PUSH(sources->moves, sources->count, sources->capacity, move);
    return true;
}

/* The path if it is a readable file, or NULL. */
static const char *check(struct cn_sources *sources, const char *path)
{
    struct stat st;

    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || access(path, R_OK) < 0)
        return NULL;
    uint32_t at = cn_names_add(&sources->found, path);
    return sources->found.list[at];
}

const char *cn_sources_find(struct cn_sources *sources, const char *path)
{
    const char *found = NULL;

    for (size_t i = sources->count; i-- > 0 && !found;) {
        const struct cn_source_move *move = &sources->moves[i];

        if (strncmp(path, move->from, move->from_len) != 0 ||
            (path[move->from_len] != '/' && path[move->from_len] != '\0'))
            continue;
        char *text = cn_strprintf("%s%s", move->to, path + move->from_len);
        found = check(sources, text);
        free(text);
    }
    return found ? found : check(sources, path);
}

void cn_sources_done(struct cn_sources *sources)
{
    free(sources->moves);
    cn_names_done(&sources->found);
    cn_arena_done(&sources->arena);
    *sources = (struct cn_sources){0};
}
