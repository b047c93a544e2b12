#include "formats/hpctoolkit/meas/code/modules.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/path.h"
#include "formats/hpctoolkit/meas/code/path_map.h"
#include "formats/hpctoolkit/meas/format.h"

enum { LINES_MAX = 32 }; /* functions inlined into each other */

static uint32_t number_of(struct cn_hpc_modules *m, const char *full, const char *shown,
                          const char *folder)
{
    uint32_t number = cn_names_add(&m->paths, full);

    while (m->count <= number) {
        CN_PUSH(m->list, m->count, m->capacity, (struct cn_hpc_module){0});
    }
    if (!m->list[number].shown) {
        m->list[number].shown = cn_arena_strdup(&m->arena, shown);
        m->list[number].folder = folder;
    }
    return number;
}

uint32_t cn_hpc_modules_find(struct cn_hpc_modules *m, const char *folder,
                             struct cn_bytes path)
{
    struct cn_text shown = {0}, full = {0};
    bool is_relative = path.len > 0 && path.ptr[0] != '/';

    cn_text_add(&shown, (const char *)path.ptr, path.len);
    if (is_relative)
        cn_text_printf(&full, "%s/", folder);
    cn_text_str_add(&full, cn_text_str(&shown));
    uint32_t number = number_of(m, cn_text_str(&full), cn_text_str(&shown),
                                is_relative ? folder : NULL);
    cn_text_done(&shown);
    cn_text_done(&full);
    return number;
}

/* The path of a module on this machine. */
static void print_local_path(const struct cn_hpc_modules *m, uint32_t number,
                             struct cn_text *out)
{
    cn_path_map_apply(m->options->maps, m->options->map_count, m->paths.list[number],
                      out);
}

static void read_struct_file(struct cn_hpc_modules *m, const char *folder,
                             const char *path)
{
    size_t first = m->structures.count;
    struct cn_file file = {0};
    struct cn_error err = {0};

    if (!cn_file_open(&file, path, &err))
        cn_measurements_warn(m->warn, true, "%s", err.text);
    else if (!cn_hpc_structures_read(&m->structures, file.bytes, &m->tables, &err))
        cn_measurements_warn(m->warn, true, "%s: %s", path, err.text);
    cn_file_close(&file);
    /* The first structure of a module that has code in it is used. */
    for (size_t i = first; i < m->structures.count; i++)
        if (m->structures.list[i].ranges.count > 0)
            (void)cn_map_at(
                &m->structure_of,
                cn_hpc_modules_find(m, folder, cn_bytes_of(m->structures.list[i].path)),
                (uint32_t)i);
}

static void read_struct_folder(struct cn_hpc_modules *m, const char *folder,
                               const char *path)
{
    size_t count;
    char **names = cn_hpc_list_names(path, ".hpcstruct", &count);

    for (size_t i = 0; i < count; i++) {
        char *name = cn_strprintf("%s/%s", path, names[i]);

        read_struct_file(m, folder, name);
        free(name);
        free(names[i]);
    }
    free(names);
}

static void read_structures(struct cn_hpc_modules *m)
{
    const char *first_folder = m->directories->list[0].path;

    m->has_structures = true;
    for (size_t i = 0; i < m->options->struct_count; i++) {
        const char *path = m->options->structs[i];

        if (cn_path_is_folder(path))
            read_struct_folder(m, first_folder, path);
        else
            read_struct_file(m, first_folder, path);
    }
    for (size_t i = 0; i < m->directories->count && !m->options->ignore_structs; i++) {
        struct cn_text path = {0};

        cn_text_printf(&path, "%s/structs", m->directories->list[i].path);
        read_struct_folder(m, m->directories->list[i].path, cn_text_str(&path));
        cn_text_done(&path);
    }
}

/* Open the file of a module on this machine, if it may be used. */
static bool open_file(const struct cn_hpc_modules *m, uint32_t number,
                      struct cn_file *file)
{
    struct cn_error ignored = {0};
    struct cn_text path = {0};
    bool is_inside = m->list[number].folder != NULL;

    for (size_t i = 0; i < m->directories->count && !is_inside; i++) {
        const char *folder = m->directories->list[i].path;
        size_t len = strlen(folder);

        is_inside = strncmp(m->paths.list[number], folder, len) == 0 &&
                    m->paths.list[number][len] == '/';
    }
    print_local_path(m, number, &path);
    bool ok = (is_inside || !m->options->is_foreign) &&
              cn_file_open(file, cn_text_str(&path), &ignored);
    cn_text_done(&path);
    return ok;
}

/* Frames of "python.1a2b3c4d" belong to the module "<logical python>". */
static uint32_t logical_module(struct cn_hpc_modules *m, uint32_t number)
{
    const char *name = cn_path_name(m->list[number].shown);
    char *text = cn_strprintf("<logical %.*s>", (int)strcspn(name, "."), name);
    uint32_t logical = number_of(m, text, text, NULL);

    free(text);
    return logical;
}

/* Files that are no binaries: logical frames and kernel symbols. Damage leaves the part
 * before it. */
static void try_file(struct cn_hpc_modules *m, uint32_t number, struct cn_bytes bytes)
{
    struct cn_hpc_module *module = &m->list[number];
    struct cn_error err = {0};
    bool ok = true;

    if (bytes.len >= CN_HPC_LOGICAL_MAGIC_LEN &&
        memcmp(bytes.ptr, CN_HPC_LOGICAL_MAGIC, CN_HPC_LOGICAL_MAGIC_LEN) == 0) {
        uint32_t logical = logical_module(m, number);

        module = &m->list[number]; /* the list may have moved */
        module->source = CN_HPC_SOURCE_LOGICAL;
        ok = cn_hpc_logical_read(&module->logical, bytes, logical, &m->tables, &err);
    } else if (module->folder && strncmp(module->shown, "kernel_symbols/", 15) == 0) {
        module->source = CN_HPC_SOURCE_KERNEL;
        ok = cn_hpc_kernel_symbols_read(&module->kernel, bytes, &err);
    }
    if (!ok)
        cn_measurements_warn(m->warn, false, "%s: %s", module->shown, err.text);
}

static void try_structures(struct cn_hpc_modules *m, uint32_t number)
{
    uint32_t found;

    if (!m->has_structures)
        read_structures(m);
    found = cn_map_find(&m->structure_of, number, CN_NONE);
    if (found == CN_NONE) {
        struct cn_text local = {0};

        print_local_path(m, number, &local);
        if (strcmp(cn_text_str(&local), m->paths.list[number]) != 0)
            found = cn_map_find(
                &m->structure_of,
                cn_hpc_modules_find(m, "", cn_bytes_of(cn_text_str(&local))), CN_NONE);
        cn_text_done(&local);
    }
    if (found == CN_NONE)
        return;
    m->list[number].structure = &m->structures.list[found];
    m->list[number].source = CN_HPC_SOURCE_STRUCTURE;
}

static void try_symbols(struct cn_hpc_modules *m, uint32_t number, struct cn_bytes bytes)
{
    struct cn_hpc_module *module = &m->list[number];
    struct cn_error err = {0};

    if (!cn_hpc_elf_symbols_read(&module->symbols, bytes, number, &m->tables, &err)) {
        if (err.kind != CN_ERR_VERSION)
            cn_measurements_warn(m->warn, false, "%s: %s", module->shown, err.text);
    } else if (module->symbols.count > 0) {
        module->source = CN_HPC_SOURCE_SYMBOLS;
    }
}

static enum cn_hpc_source find_source(struct cn_hpc_modules *m, uint32_t number)
{
    struct cn_file file = {0};

    if (m->list[number].source != CN_HPC_SOURCE_UNKNOWN)
        return m->list[number].source;
    bool has_file = open_file(m, number, &file);
    m->list[number].source = CN_HPC_SOURCE_NONE;
    if (has_file)
        try_file(m, number, file.bytes);
    if (m->list[number].source == CN_HPC_SOURCE_NONE)
        try_structures(m, number);
    if (m->list[number].source == CN_HPC_SOURCE_NONE && has_file)
        try_symbols(m, number, file.bytes);
    cn_file_close(&file);
    return m->list[number].source;
}

static struct cn_code_scope function_scope(uint32_t function, uint8_t relation)
{
    return (struct cn_code_scope){.kind = CN_CONTEXT_FUNCTION,
                                  .relation = relation,
                                  .function = function,
                                  .file = CN_NONE,
                                  .module = CN_NONE};
}

static size_t structure_scopes(struct cn_hpc_modules *m, uint32_t number,
                               uint64_t address)
{
    size_t count = cn_hpc_structure_scopes(m->list[number].structure, address, &m->scopes,
                                           &m->scope_capacity);

    for (size_t i = 0; i < count; i++) {
        struct cn_code_scope *scope = &m->scopes[i];

        scope->module = scope->kind == CN_CONTEXT_LOOP ? number : CN_NONE;
        /* Structure files are read before their modules have numbers. */
        if (scope->kind == CN_CONTEXT_FUNCTION)
            m->tables.functions[scope->function].module = number;
    }
    return count;
}

static void locate_function(struct cn_hpc_modules *m, const char *path, uint64_t address,
                            uint32_t function)
{
    const struct cn_hpc_lines *lines = m->options->lines;
    uint32_t *is_asked = cn_map_at(&m->located, function, 0);
    struct cn_hpc_line line;

    if ((*is_asked)++ > 0 || !lines->function(lines->arg, path, address, &line))
        return;
    m->tables.functions[function].file = cn_hpc_tables_file(&m->tables, line.file);
    m->tables.functions[function].line = line.line;
}

/* Add the line below the function, and the functions inlined there below it. Returns the count
 * of all scopes. */
static size_t add_lines(struct cn_hpc_modules *m, uint32_t number, uint64_t address)
{
    const struct cn_hpc_lines *source = m->options->lines;
    struct cn_hpc_line lines[LINES_MAX];
    struct cn_text path = {0};
    size_t line_count, count = 1;

    if (!source)
        return count;
    print_local_path(m, number, &path);
    locate_function(m, cn_text_str(&path), address, m->scopes[0].function);
    line_count =
        source->instruction(source->arg, cn_text_str(&path), address, lines, LINES_MAX);
    for (size_t i = 0; i < line_count; i++) {
        if (i > 0 && lines[i].function)
            m->scopes[count++] = function_scope(
                cn_hpc_tables_function(&m->tables,
                                       (struct cn_function){.name = lines[i].function,
                                                            .module = number,
                                                            .file = CN_NONE}),
                CN_INLINED_CALL);
        if (lines[i].file)
            m->scopes[count++] = (struct cn_code_scope){
                .kind = CN_CONTEXT_LINE,
                .relation = CN_LEXICAL,
                .function = CN_NONE,
                .file = cn_hpc_tables_file(&m->tables, lines[i].file),
                .line = lines[i].line,
                .module = CN_NONE,
            };
    }
    cn_text_done(&path);
    return count;
}

static size_t symbol_scopes(struct cn_hpc_modules *m, uint32_t number, uint64_t address)
{
    struct cn_hpc_module *module = &m->list[number];
    bool is_kernel = module->source == CN_HPC_SOURCE_KERNEL;
    const struct cn_hpc_range *range = cn_hpc_ranges_find(&module->symbols, address);
    uint32_t function = is_kernel ? cn_hpc_kernel_symbols_find(&module->kernel, address,
                                                               number, &m->tables)
                        : range   ? range->value
                                  : CN_NONE;

    if (function == CN_NONE)
        return 0;
    m->scopes[0] = function_scope(function, CN_CALL);
    return is_kernel ? 1 : add_lines(m, number, address);
}

struct cn_code_scopes cn_hpc_modules_scopes(struct cn_hpc_modules *m, uint32_t module,
                                            uint64_t address)
{
    enum cn_hpc_source source = find_source(m, module);
    struct cn_code_scopes out = {.has_instruction = source != CN_HPC_SOURCE_LOGICAL};

    CN_GROW_TO(m->scopes, 1 + 2 * LINES_MAX, m->scope_capacity);
    if (source == CN_HPC_SOURCE_LOGICAL)
        out.count = cn_hpc_logical_scopes(&m->list[module].logical, address, m->scopes);
    else if (source == CN_HPC_SOURCE_STRUCTURE)
        out.count = structure_scopes(m, module, address);
    else if (source != CN_HPC_SOURCE_NONE)
        out.count = symbol_scopes(m, module, address);
    out.list = m->scopes;
    return out;
}

struct cn_call_paths cn_hpc_modules_paths(struct cn_hpc_modules *m, uint32_t module,
                                          uint64_t address)
{
    struct cn_hpc_call_paths *found = &m->found_paths;

    if (find_source(m, module) != CN_HPC_SOURCE_STRUCTURE ||
        !cn_hpc_structure_paths(m->list[module].structure, &m->tables, address, found))
        return (struct cn_call_paths){0};
    const struct cn_hpc_structure *structure = m->list[module].structure;
    CN_GROW_TO(m->call_paths, found->count, m->call_path_capacity);
    for (size_t i = 0; i < found->count; i++) {
        const struct cn_hpc_call_path *path = &found->list[i];
        uint32_t entry = structure->graph.functions[path->entry];

        m->tables.functions[entry].module = module;
        m->call_paths[i] = (struct cn_call_path){
            .calls = path->call_count > 0 ? found->calls + path->first_call : NULL,
            .call_count = path->call_count,
            .entry = function_scope(entry, CN_CALL),
        };
    }
    return (struct cn_call_paths){m->call_paths, found->count};
}

void cn_hpc_modules_done(struct cn_hpc_modules *m)
{
    for (size_t i = 0; i < m->count; i++) {
        cn_hpc_kernel_symbols_done(&m->list[i].kernel);
        cn_hpc_logical_done(&m->list[i].logical);
        cn_hpc_ranges_done(&m->list[i].symbols);
    }
    free(m->list);
    cn_names_done(&m->paths);
    cn_hpc_tables_done(&m->tables);
    cn_hpc_structures_done(&m->structures);
    cn_map_done(&m->structure_of);
    cn_map_done(&m->located);
    free(m->scopes);
    cn_hpc_call_paths_done(&m->found_paths);
    free(m->call_paths);
    cn_arena_done(&m->arena);
}
