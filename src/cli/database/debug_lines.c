#include "cli/database/debug_lines.h"

#include "symbols/resolver.h"

enum { PLACES_MAX = 32 /* functions inlined into each other */ };

static size_t find_instruction(void *arg, const char *path, uint64_t address,
                               struct cn_hpc_line *out, size_t most)
{
    struct cn_source_location places[PLACES_MAX];
    size_t count = cn_resolver_instruction(arg, path, "", address, places,
                                           most < PLACES_MAX ? most : PLACES_MAX);

    for (size_t i = 0; i < count; i++)
        out[i] = (struct cn_hpc_line){places[i].function, places[i].file, places[i].line};
    return count;
}

static bool find_function(void *arg, const char *path, uint64_t address,
                          struct cn_hpc_line *out)
{
    struct cn_source_location place;

    if (!cn_resolver_function(arg, path, "", address, &place) || !place.file)
        return false;
    *out = (struct cn_hpc_line){NULL, place.file, place.line};
    return true;
}

void cn_debug_lines_init(struct cn_hpc_lines *lines)
{
    *lines = (struct cn_hpc_lines){cn_resolver_new(), find_instruction, find_function};
}

void cn_debug_lines_done(struct cn_hpc_lines *lines)
{
    cn_resolver_free(lines->arg);
    *lines = (struct cn_hpc_lines){0};
}
