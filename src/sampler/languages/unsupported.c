/* Run-times whose functions can not be shown. `cairn sample` names them, so that users do not look for their functions. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "sampler/languages/languages.h"
#include "sampler/languages/runtimes.h"

struct unsupported {
    const char *glob; /* of the name of a module */
    const char *name;
    const char *help; /* what lets it write names; NULL: nothing that is known */
};

static const struct unsupported list[] = {
    {"libcoreclr.so", ".NET", "export DOTNET_PerfMapEnabled=1"},
    {"libmonosgen-*.so*", "Mono", NULL},
    {"pypy*", "PyPy", NULL},
    {"libpypy*", "PyPy", NULL},
    {"libjulia-internal.so*", "Julia", NULL},
    {"libj9vm*.so", "Java of OpenJ9", NULL},
};

static const struct unsupported *find(const char *path)
{
    const char *name = strrchr(path, '/');

    name = name ? name + 1 : path;
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        if (fnmatch(list[i].glob, name, 0) == 0)
            return &list[i];
    return NULL;
}

static bool is_unsupported(const char *path)
{
    return find(path);
}

/* One of a process. */
struct found {
    const struct unsupported *what;
    uint32_t pid;
};

static void *open_unsupported(struct cn_memory *memory,
                              const struct cn_language_mapping *mapping,
                              struct cn_stored_names *names)
{
    struct found *found = cn_alloc(1, sizeof(*found));

    (void)memory;
    (void)names;
    *found = (struct found){find(mapping->path), mapping->pid};
    return found;
}

static char *hint(const void *state)
{
    const struct found *found = state;
    const struct unsupported *what = found->what;
    char map[64];

    (void)snprintf(map, sizeof(map), "/tmp/perf-%" PRIu32 ".map", found->pid);
    if (what->help && access(map, R_OK) == 0)
        return NULL;
    return cn_strprintf("not supported: functions of %s are not shown%s%s", what->name,
                        what->help ? ", unless it writes their names: " : "",
                        what->help ? what->help : "");
}

static void close_unsupported(void *state)
{
    free(state);
}

const struct cn_language_runtime cn_language_unsupported = {
    .is_runtime = is_unsupported,
    .open = open_unsupported,
    .has_code_only = true,
    .hint = hint,
    .close = close_unsupported,
};
