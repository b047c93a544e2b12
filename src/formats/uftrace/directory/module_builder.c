/* The functions of the modules of a directory, from their .sym files. */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/text.h"
#include "formats/uftrace/directory/directory.h"
#include "symbols/demangle.h"

static void add_function(struct cn_uft_directory *dir, uint32_t module,
                         const struct cn_uft_symbol *symbol, struct cn_text *scratch)
{
    struct cn_arena *arena = &dir->rec.arena;
    struct cn_call_function function = {
        .raw_name = cn_uft_text_copy(arena, symbol->name),
        .module = module,
        .type = symbol->type,
        .offset = symbol->offset,
        .size = symbol->size,
        .file = "",
    };

    cn_text_clear(scratch);
    function.name = cn_demangle(function.raw_name, dir->demangle, scratch)
                        ? cn_arena_strdup(arena, cn_text_str(scratch))
                        : function.raw_name;
    cn_uft_function_add(dir, function);
}

/* The symbols of a module in the folder of the user, under the name of the module. */
static bool find_symbols(struct cn_uft_directory *dir, uint32_t module,
                         char name[static NAME_MAX], struct cn_file *out)
{
    struct cn_error err;

    if (!dir->symbols ||
        snprintf(name, NAME_MAX, "%s.sym", dir->modules[module].name) >= NAME_MAX)
        return false;
    if (cn_file_open_at(out, dir->symbols, name, &err))
        return true;
    if (err.kind != CN_ERR_NOT_FOUND)
        cn_recording_warn(&dir->rec, false, "%s", err.text);
    return false;
}

static void load_symbols(struct cn_uft_directory *dir, uint32_t module, uint64_t begin,
                         struct cn_text *scratch)
{
    char name[NAME_MAX];
    struct cn_bytes file;
    struct cn_uft_symbols symbols;
    struct cn_uft_bad_lines bad = {&dir->rec, name, 0};
    struct cn_file other = {0};

    dir->modules[module].first_function = (uint32_t)dir->function_count;
    if (find_symbols(dir, module, name, &other))
        file = other.bytes;
    else if (!cn_uft_module_file(dir, module, ".sym", name, &file))
        return;
    cn_uft_symbols_read(file, &symbols, cn_uft_bad_line, &bad);
    cn_uft_bad_lines_done(&bad);
    /* In old recordings, the symbols of a program at a fixed address are absolute. */
    uint64_t base = !(dir->rec.features & CN_FEATURE_SYM_REL_ADDR) && symbols.count > 0 &&
                            symbols.list[0].offset >= begin
                        ? begin
                        : 0;
    if (dir->function_count + symbols.count > CN_UFT_SYMBOLS_MAX) {
        cn_recording_warn(&dir->rec, true,
                          "%s: skipped: more than %d symbols in all files", name,
                          CN_UFT_SYMBOLS_MAX);
        symbols.count = 0;
    }
    for (size_t i = 0; i < symbols.count; i++) {
        symbols.list[i].offset -= base;
        add_function(dir, module, &symbols.list[i], scratch);
    }
    dir->modules[module].function_count = (uint32_t)symbols.count;
    cn_uft_symbols_done(&symbols);
    cn_file_close(&other);
}

/* The mapping of a library that was loaded later ends with its last symbol. */
static void settle_loads(struct cn_uft_directory *dir, size_t index, const uint64_t *ends)
{
    struct cn_session *session = &dir->sessions[index];
    struct cn_mapping *all;

    if (session->mapping_count == dir->map_counts[index])
        return;
    all = cn_arena_alloc(&dir->rec.arena, session->mapping_count, sizeof(*all));
    memcpy(all, session->mappings, session->mapping_count * sizeof(*all));
    for (size_t i = dir->map_counts[index]; i < session->mapping_count; i++)
        if (!cn_u64_add(all[i].begin, ends[all[i].module], &all[i].end))
            all[i].end = UINT64_MAX;
    session->mappings = all;
}

void cn_uft_modules_build(struct cn_uft_directory *dir)
{
    uint64_t *begins =
        cn_alloc(dir->module_count, sizeof(*begins)); /* of the first mapping */
    uint64_t *ends = cn_alloc(dir->module_count, sizeof(*ends)); /* of the last symbol */
    struct cn_text scratch = {0};

    for (size_t i = dir->session_count; i-- > 0;)
        for (size_t m = 0; m < dir->map_counts[i]; m++)
            begins[dir->sessions[i].mappings[m].module] =
                dir->sessions[i].mappings[m].begin;
    for (uint32_t i = 0; i < dir->module_count; i++)
        load_symbols(dir, i, begins[i], &scratch);
    for (size_t i = 0; i < dir->function_count; i++) {
        const struct cn_call_function *f = &dir->functions[i];
        uint64_t end;

        if (cn_u64_add(f->offset, f->size > 0 ? f->size : 1, &end) &&
            end > ends[f->module])
            ends[f->module] = end;
    }
    for (size_t i = 0; i < dir->session_count; i++)
        settle_loads(dir, i, ends);
    cn_text_done(&scratch);
    free(begins);
    free(ends);
}
