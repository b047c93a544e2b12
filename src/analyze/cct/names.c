#include "analyze/cct/merge.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/utf8.h"
#include "base/text.h"

void cn_cct_names_done(struct cn_cct_names *names)
{
    cn_names_done(&names->module_keys);
    cn_names_done(&names->file_keys);
    cn_names_done(&names->function_keys);
    free(names->modules);
    free(names->files);
    free(names->functions);
    free(names->lines);
    cn_map_done(&names->line_numbers);
    cn_arena_done(&names->arena);
    *names = (struct cn_cct_names){0};
}

const char *cn_cct_names_text(struct cn_cct_names *names, const char *name)
{
    return cn_utf8_is_valid(name, strlen(name)) ? name
                                                : cn_utf8_strdup(&names->arena, name);
}

uint32_t cn_cct_names_module(struct cn_cct_names *names,
                             const struct cn_call_module *module)
{
    size_t known = names->module_keys.count;
    const char *path = cn_cct_names_text(names, module->path);
    struct cn_text key = {0};

    /* Another build of the same file is another module. */
    cn_text_printf(&key, "%s\n%s", path, module->build_id);
    uint32_t at = cn_names_add(&names->module_keys, cn_text_str(&key));
    cn_text_done(&key);
    if (at == known) {
        CN_GROW(names->modules, at, names->module_capacity);
        names->modules[at] =
            (struct cn_module){.path = cn_arena_strdup(&names->arena, path)};
    }
    return at;
}

uint32_t cn_cct_names_file(struct cn_cct_names *names, const char *recorded_path)
{
    size_t known = names->file_keys.count;
    const char *path = cn_cct_names_text(names, recorded_path);
    uint32_t at = cn_names_add(&names->file_keys, path);

    if (at < known)
        return at;
    CN_GROW(names->files, at, names->file_capacity);
    const char *origin =
        names->locations && path[0] == '/'
            ? names->locations->source(names->locations->arg, recorded_path)
            : NULL;
    names->files[at] = (struct cn_source_file){
        .path = origin ? cn_arena_printf(&names->arena, "src%s", path)
                       : cn_arena_strdup(&names->arena, path),
        .is_copied = origin != NULL,
        .origin = origin ? cn_arena_strdup(&names->arena, origin) : NULL,
    };
    return at;
}

uint32_t cn_cct_names_line(struct cn_cct_names *names, uint32_t file, uint32_t line)
{
    uint32_t known = (uint32_t)names->line_count;
    uint32_t at = *cn_map_at(&names->line_numbers, (uint64_t)file << 32 | line, known);

    if (at == known) {
        CN_GROW(names->lines, at, names->line_capacity);
        names->lines[names->line_count++] = (struct cn_cct_source_line){file, line};
    }
    return at;
}

/* The number of a function; if `*is_new`, the caller fills it in. Functions without a module
 * are identified by their name. */
static uint32_t number_of(struct cn_cct_names *names, const struct cn_function *function,
                          bool *is_new)
{
    size_t known = names->function_keys.count;
    struct cn_text key = {0};

    if (function->module == CN_NONE)
        cn_text_printf(&key, "::%s", function->name);
    else
        cn_text_printf(&key, "%" PRIu32 ":%" PRIx64 ":%s", function->module,
                       function->offset, function->name);
    uint32_t at = cn_names_add(&names->function_keys, cn_text_str(&key));
    cn_text_done(&key);
    *is_new = at == known;
    if (*is_new)
        CN_GROW(names->functions, at, names->function_capacity);
    return at;
}

uint32_t cn_cct_names_known(struct cn_cct_names *names,
                            const struct cn_function *function)
{
    bool is_new;
    uint32_t at = number_of(names, function, &is_new);

    if (is_new) {
        names->functions[at] = *function;
        names->functions[at].name = cn_arena_strdup(&names->arena, function->name);
    }
    return at;
}

uint32_t cn_cct_names_other(struct cn_cct_names *names, const char *name)
{
    return cn_cct_names_known(
        names, &(struct cn_function){.name = cn_cct_names_text(names, name),
                                     .module = CN_NONE,
                                     .file = CN_NONE});
}

static struct cn_cct_location location_of(const struct cn_cct_names *names,
                                          const struct cn_call_module *module,
                                          const struct cn_call_function *function)
{
    struct cn_cct_location location = {0};

    if (function->file[0] != '\0')
        return (struct cn_cct_location){function->file, function->line};
    /* A PLT entry has no location; the file says so, for analyze/lens/code.h. */
    if (function->type == 'P')
        location.file = CN_LIBRARY_CALL;
    else if (names->locations)
        location =
            names->locations->function(names->locations->arg, module, function->offset);
    return location;
}

uint32_t cn_cct_names_function(struct cn_cct_names *names, const struct cn_recording *rec,
                               uint32_t function)
{
    const struct cn_call_function *f = &rec->functions[function];
    const struct cn_call_module *m = &rec->modules[f->module];
    struct cn_function found = {
        .name = cn_cct_names_text(names, f->name),
        .module = cn_cct_names_module(names, m),
        .offset = f->offset,
        .file = CN_NONE,
    };
    bool is_new;
    uint32_t at = number_of(names, &found, &is_new);

    if (!is_new)
        return at;
    struct cn_cct_location location = location_of(names, m, f);
    if (location.file) {
        found.file = cn_cct_names_file(names, location.file);
        found.line = location.line;
    }
    found.name = cn_arena_strdup(&names->arena, found.name);
    names->functions[at] = found;
    return at;
}
