#include "formats/hpctoolkit/meas/code/path_map.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cn_path_map_parse(char *text, struct cn_path_map *out, struct cn_error *err)
{
    char *write = text;
    char *to = NULL;

    for (char *read = text; *read; read++) {
        if (read[0] == '\\' && read[1] == '=') {
            *write++ = *++read;
        } else if (*read == '=' && !to) {
            *write++ = '\0';
            to = write;
        } else {
            *write++ = *read;
        }
    }
    *write = '\0';
    if (!to || text[0] == '\0')
        return cn_fail(err, CN_ERR_USAGE, "'%s' is not FROM=TO", text);
    *out = (struct cn_path_map){text, to};
    return true;
}

/* The rest of `path` after the prefix `from`, or NULL. */
static const char *after_prefix(const char *from, const char *path)
{
    while (*from) {
        while (*from == '/' && *path == '/') {
            from += strspn(from, "/");
            path += strspn(path, "/");
        }
        size_t from_len = strcspn(from, "/");
        size_t path_len = strcspn(path, "/");
        if (from_len == 0)
            break;
        if (!(from_len == 1 && *from == '*' && path_len > 0) &&
            (from_len != path_len || strncmp(from, path, from_len) != 0))
            return NULL;
        from += from_len;
        path += path_len;
        if (*from == '/' && *path != '/')
            return from[strspn(from, "/")] ? NULL : path;
    }
    return path;
}

void cn_path_map_apply(const struct cn_path_map *maps, size_t count, const char *path,
                       struct cn_text *out)
{
    for (size_t i = 0; i < count; i++) {
        const char *rest = after_prefix(maps[i].from, path);

        if (!rest)
            continue;
        char *mapped =
            cn_strprintf("%s%s%s", maps[i].to, *rest && *rest != '/' ? "/" : "", rest);
        bool is_there = access(mapped, F_OK) == 0;
        if (is_there)
            cn_text_str_add(out, mapped);
        free(mapped);
        if (is_there)
            return;
    }
    cn_text_str_add(out, path);
}
