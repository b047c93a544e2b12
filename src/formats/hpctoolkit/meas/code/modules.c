#include "formats/hpctoolkit/meas/code/modules.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "formats/hpctoolkit/meas/code/path_map.h"
#include "formats/hpctoolkit/meas/format.h"

enum { LINES_MAX = 32 }; /* functions inlined into each other */

static uint32_t number_of(struct cn_hpc_modules *m, const char *full, const char *shown,
                          const char *folder)
{
    uint32_t number = cn_names_add(&m->paths, full);

    while (m->count <= number) {
        m->list = cn_grow(m->list, m->count, &m->capacity, sizeof(*m->list));
        m->list[m->count++] = (struct cn_hpc_module){0};
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
    uint32_t number;

    cn_text_add(&shown, (const char *)path.ptr, path.len);
    if (is_relative)
        cn_text_printf(&full, "%s/", folder);
    cn_text_str_add(&full, cn_text_str(&shown));
    number = number_of(m, cn_text_str(&full), cn_text_str(&shown),
                       is_relative ? folder : NULL);
    cn_text_done(&shown);
    cn_text_done(&full);
    return number;
}

/* The first structure with code in it wins. */
static void note_structure(struct cn_hpc_modules *m, const char *folder, uint32_t index)
{
    const struct cn_hpc_structure *structure = &m->structures.list[index];
    struct cn_bytes path = {(const uint8_t *)structure->path, strlen(structure->path)};
    uint32_t number;

    if (structure->ranges.count == 0)
        return;
    number = cn_hpc_modules_find(m, folder, path);
    (void)cn_map_at(&m->structure_of, number, index);
}

static void read_struct_file(struct cn_hpc_modules *m, const char *folder,
                             const char *path)
{
    size_t first = m->structures.count;
    struct cn_file file = {0};
    struct cn_error err = {0};

    if (!cn_file_open(&file, path, &err))
        cn_measurements_warn(m->warn, "%s", err.text);
    else if (!cn_hpc_structures_read(&m->structures, file.bytes, &m->tables, &err))
        cn_measurements_warn(m->warn, "%s: %s", path, err.text);
    cn_file_close(&file);
    for (size_t i = first; i < m->structures.count; i++)
        note_structure(m, folder, (uint32_t)i);
}

static void read_struct_folder(struct cn_hpc_modules *m, const char *folder,
                               const char *path)
{
    size_t count;
    char **names = cn_hpc_list_names(path, ".hpcstruct", &count);

    for (size_t i = 0; i < count; i++) {
        struct cn_text name = {0};

        cn_text_printf(&name, "%s/%s", path, names[i]);
        read_struct_file(m, folder, cn_text_str(&name));
        cn_text_done(&name);
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
        struct stat st;

        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
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

/* The file of a module on this machine, if it may be used. */
static bool open_file(const struct cn_hpc_modules *m, uint32_t module,
                      struct cn_file *file)
{
    struct cn_error ignored = {0};
    struct cn_text path = {0};
    bool is_inside = m->list[module].folder != NULL;
    bool ok;

    for (size_t i = 0; i < m->directories->count && !is_inside; i++) {
        const char *folder = m->directories->list[i].path;
        size_t len = strlen(folder);

        is_inside = strncmp(m->paths.list[module], folder, len) == 0 &&
                    m->paths.list[module][len] == '/';
    }
    cn_path_map_apply(m->options->maps, m->options->map_count, m->paths.list[module],
                      &path);
    ok = (is_inside || !m->options->is_foreign) &&
         cn_file_open(file, cn_text_str(&path), &ignored);
    cn_text_done(&path);
    return ok;
}

/* "python.1a2b3c4d" makes frames of the module "<logical python>". */
static uint32_t logical_module(struct cn_hpc_modules *m, uint32_t module)
{
    const char *shown = m->list[module].shown;
    const char *slash = strrchr(shown, '/');
    const char *name = slash ? slash + 1 : shown;
    struct cn_text text = {0};
    uint32_t number;

    cn_text_printf(&text, "<logical %.*s>", (int)strcspn(name, "."), name);
    number = number_of(m, cn_text_str(&text), cn_text_str(&text), NULL);
    cn_text_done(&text);
    return number;
}

static bool is_kernel(const struct cn_hpc_module *module)
{
    return module->folder && strncmp(module->shown, "kernel_symbols/", 15) == 0;
}

/* What the file itself says; damage leaves what comes before it. */
static void ask_file(struct cn_hpc_modules *m, uint32_t number, struct cn_bytes bytes)
{
    struct cn_hpc_module *module = &m->list[number];
    struct cn_error err = {0};
    bool ok = true;

    if (bytes.len >= CN_HPC_LOGICAL_MAGIC_LEN &&
        memcmp(bytes.ptr, CN_HPC_LOGICAL_MAGIC, CN_HPC_LOGICAL_MAGIC_LEN) == 0) {
        uint32_t frames_of = logical_module(m, number);

        module = &m->list[number]; /* it may have moved */
        module->knowledge = CN_HPC_KNOWS_LOGICAL;
        ok = cn_hpc_logical_read(&module->logical, bytes, frames_of, &m->tables, &err);
    } else if (is_kernel(module)) {
        module->knowledge = CN_HPC_KNOWS_KERNEL;
        ok = cn_hpc_kernel_symbols_read(&module->kernel, bytes, &err);
    }
    if (!ok)
        cn_measurements_warn(m->warn, "%s: %s", module->shown, err.text);
}

static void ask_binary(struct cn_hpc_modules *m, uint32_t number, struct cn_bytes bytes)
{
    struct cn_hpc_module *module = &m->list[number];
    struct cn_error err = {0};

    if (!cn_hpc_elf_symbols_read(&module->symbols, bytes, number, &m->tables, &err)) {
        if (err.kind != CN_ERR_VERSION)
            cn_measurements_warn(m->warn, "%s: %s", module->shown, err.text);
    } else if (module->symbols.ranges.count > 0) {
        module->knowledge = CN_HPC_KNOWS_SYMBOLS;
    }
}

static void find_structure(struct cn_hpc_modules *m, uint32_t number)
{
    struct cn_text local = {0};
    uint32_t found;

    if (!m->has_structures)
        read_structures(m);
    found = cn_map_find(&m->structure_of, number, CN_NONE);
    if (found == CN_NONE) {
        struct cn_bytes path;

        cn_path_map_apply(m->options->maps, m->options->map_count, m->paths.list[number],
                          &local);
        path = (struct cn_bytes){(const uint8_t *)cn_text_str(&local), local.len};
        if (strcmp(cn_text_str(&local), m->paths.list[number]) != 0)
            found =
                cn_map_find(&m->structure_of, cn_hpc_modules_find(m, "", path), CN_NONE);
        cn_text_done(&local);
    }
    if (found == CN_NONE)
        return;
    m->list[number].structure = &m->structures.list[found];
    m->list[number].knowledge = CN_HPC_KNOWS_STRUCTURE;
}

static void ask(struct cn_hpc_modules *m, uint32_t number)
{
    struct cn_file file = {0};
    bool has_file = open_file(m, number, &file);

    m->list[number].knowledge = CN_HPC_KNOWS_NOTHING;
    if (has_file)
        ask_file(m, number, file.bytes);
    if (m->list[number].knowledge == CN_HPC_KNOWS_NOTHING)
        find_structure(m, number);
    if (m->list[number].knowledge == CN_HPC_KNOWS_NOTHING && has_file)
        ask_binary(m, number, file.bytes);
    cn_file_close(&file);
}

static struct cn_code_scope function_place(uint32_t function)
{
    return (struct cn_code_scope){.kind = CN_CONTEXT_FUNCTION,
                                  .relation = CN_CALL,
                                  .function = function,
                                  .file = CN_NONE,
                                  .module = CN_NONE};
}

static size_t structure_places(struct cn_hpc_modules *m, uint32_t number,
                               uint64_t address)
{
    size_t count = 0;

    if (!cn_hpc_structure_places(m->list[number].structure, address, &m->places,
                                 &m->place_capacity, &count))
        return 0;
    for (size_t i = 0; i < count; i++) {
        struct cn_code_scope *place = &m->places[i];

        place->module = place->kind == CN_CONTEXT_LOOP ? number : CN_NONE;
        /* Functions were numbered before their module was. */
        if (place->kind == CN_CONTEXT_FUNCTION)
            m->tables.functions[place->function].module = number;
    }
    return count;
}

static void locate_function(struct cn_hpc_modules *m, const char *path, uint64_t address,
                            uint32_t function)
{
    uint32_t *is_asked = cn_map_at(&m->located, function, 0);
    struct cn_hpc_line line;

    if (*is_asked)
        return;
    *is_asked = 1;
    if (!m->options->lines->function(m->options->lines->arg, path, address, &line))
        return;
    m->tables.functions[function].file = cn_hpc_tables_file(&m->tables, line.file);
    m->tables.functions[function].line = line.line;
}

static struct cn_code_scope line_place(struct cn_hpc_modules *m,
                                       const struct cn_hpc_line *line)
{
    return (struct cn_code_scope){.kind = CN_CONTEXT_LINE,
                                  .relation = CN_LEXICAL,
                                  .function = CN_NONE,
                                  .file = cn_hpc_tables_file(&m->tables, line->file),
                                  .line = line->line,
                                  .module = CN_NONE};
}

static uint32_t inlined_function(struct cn_hpc_modules *m, uint32_t module,
                                 const char *name)
{
    return cn_hpc_tables_function(
        &m->tables,
        (struct cn_function){.name = name, .module = module, .file = CN_NONE});
}

/* Below the function: its line, and below that what is inlined there. */
static size_t add_lines(struct cn_hpc_modules *m, uint32_t module, uint64_t address)
{
    struct cn_hpc_line lines[LINES_MAX];
    struct cn_text path = {0};
    size_t line_count, count = 1;

    if (!m->options->lines)
        return count;
    cn_path_map_apply(m->options->maps, m->options->map_count, m->paths.list[module],
                      &path);
    locate_function(m, cn_text_str(&path), address, m->places[0].function);
    line_count = m->options->lines->instruction(
        m->options->lines->arg, cn_text_str(&path), address, lines, LINES_MAX);
    for (size_t i = 0; i < line_count; i++) {
        if (i > 0 && lines[i].function) {
            m->places[count] =
                function_place(inlined_function(m, module, lines[i].function));
            m->places[count++].relation = CN_INLINED_CALL;
        }
        if (lines[i].file)
            m->places[count++] = line_place(m, &lines[i]);
    }
    cn_text_done(&path);
    return count;
}

static size_t symbol_places(struct cn_hpc_modules *m, uint32_t number, uint64_t address)
{
    struct cn_hpc_module *module = &m->list[number];
    uint32_t function = CN_NONE;

    if (module->knowledge == CN_HPC_KNOWS_KERNEL) {
        function =
            cn_hpc_kernel_symbols_find(&module->kernel, address, number, &m->tables);
    } else {
        const struct cn_hpc_range *range =
            cn_hpc_ranges_find(&module->symbols.ranges, address);

        function = range ? range->value : CN_NONE;
    }
    if (function == CN_NONE)
        return 0;
    m->places[0] = function_place(function);
    return module->knowledge == CN_HPC_KNOWS_SYMBOLS ? add_lines(m, number, address) : 1;
}

bool cn_hpc_modules_places(struct cn_hpc_modules *m, uint32_t module, uint64_t address,
                           struct cn_code_scopes *out, struct cn_error *err)
{
    enum { LEAST = 1 + 2 * LINES_MAX };
    size_t count = 0;

    (void)err;
    if (m->place_capacity < LEAST) {
        m->place_capacity = LEAST;
        m->places = cn_realloc(m->places, LEAST, sizeof(*m->places));
    }
    if (m->list[module].knowledge == CN_HPC_NOT_ASKED)
        ask(m, module);
    switch (m->list[module].knowledge) {
    case CN_HPC_KNOWS_LOGICAL:
        count = cn_hpc_logical_places(&m->list[module].logical, address, m->places);
        break;
    case CN_HPC_KNOWS_STRUCTURE:
        count = structure_places(m, module, address);
        break;
    case CN_HPC_KNOWS_KERNEL:
    case CN_HPC_KNOWS_SYMBOLS:
        count = symbol_places(m, module, address);
        break;
    case CN_HPC_NOT_ASKED:
    case CN_HPC_KNOWS_NOTHING:
        break;
    }
    *out = (struct cn_code_scopes){m->places, count,
                                   m->list[module].knowledge != CN_HPC_KNOWS_LOGICAL};
    return true;
}

bool cn_hpc_modules_paths(struct cn_hpc_modules *m, uint32_t module, uint64_t address,
                          struct cn_call_paths *out, struct cn_error *err)
{
    const struct cn_hpc_structure *structure;
    struct cn_hpc_call_paths *found = &m->found_paths;

    (void)err;
    *out = (struct cn_call_paths){0};
    if (m->list[module].knowledge == CN_HPC_NOT_ASKED)
        ask(m, module);
    structure = m->list[module].structure;
    if (m->list[module].knowledge != CN_HPC_KNOWS_STRUCTURE ||
        !cn_hpc_structure_paths(structure, &m->tables, address, found))
        return true;
    if (m->call_path_capacity < found->count) {
        m->call_path_capacity = found->count * 2;
        m->call_paths =
            cn_realloc(m->call_paths, m->call_path_capacity, sizeof(*m->call_paths));
    }
    for (size_t i = 0; i < found->count; i++) {
        const struct cn_hpc_call_path *path = &found->list[i];
        uint32_t entry = structure->graph.functions[path->entry];

        m->tables.functions[entry].module = module;
        m->call_paths[i] = (struct cn_call_path){
            .calls = path->call_count > 0 ? found->calls + path->first_call : NULL,
            .call_count = path->call_count,
            .entry = function_place(entry),
        };
    }
    *out = (struct cn_call_paths){m->call_paths, found->count};
    return true;
}

void cn_hpc_modules_done(struct cn_hpc_modules *m)
{
    for (size_t i = 0; i < m->count; i++) {
        cn_hpc_kernel_symbols_done(&m->list[i].kernel);
        cn_hpc_logical_done(&m->list[i].logical);
        cn_hpc_elf_symbols_done(&m->list[i].symbols);
    }
    free(m->list);
    cn_names_done(&m->paths);
    cn_hpc_tables_done(&m->tables);
    cn_hpc_structures_done(&m->structures);
    cn_map_done(&m->structure_of);
    cn_map_done(&m->located);
    free(m->places);
    cn_hpc_call_paths_done(&m->found_paths);
    free(m->call_paths);
    cn_arena_done(&m->arena);
}
