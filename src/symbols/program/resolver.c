#include "symbols/program/resolver.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/path.h"
#include "base/text.h"
#include "symbols/program/debug_info.h"

struct cn_resolver {
    struct cn_names keys;       /* "PATH\nBUILD_ID" */
    struct cn_debug_info *list; /* by index of the key */
    size_t capacity;
    struct cn_names strings; /* of results */
    struct cn_build_files files;
};

struct cn_resolver *cn_resolver_new(void)
{
    return cn_alloc(1, sizeof(struct cn_resolver));
}

void cn_resolver_free(struct cn_resolver *resolver)
{
    if (!resolver)
        return;
    for (size_t i = 0; i < resolver->keys.count; i++)
        cn_debug_info_close(&resolver->list[i]);
    free(resolver->list);
    cn_names_done(&resolver->keys);
    cn_names_done(&resolver->strings);
    cn_build_files_done(&resolver->files);
    free(resolver);
}

void cn_resolver_look_in(struct cn_resolver *resolver, const char *const *folders,
                         size_t count, bool is_offline)
{
    resolver->files.folders = folders;
    resolver->files.folder_count = count;
    resolver->files.is_offline = is_offline;
}

/* True if libdw reads .dwp files. */
static bool reads_packages(void)
{
    return strverscmp(dwfl_version(NULL), "0.191") >= 0;
}

void cn_resolver_hint(const struct cn_resolver *resolver, struct cn_text *out)
{
    for (size_t i = 0; i < resolver->keys.count; i++) {
        const char *key = resolver->keys.list[i];
        size_t len = strcspn(key, "\n");
        size_t begin = len;

        while (begin > 0 && key[begin - 1] != '/')
            begin--;
        if (resolver->list[i].is_packed)
            cn_text_printf(out,
                           "%.*s: no lines and inlined calls: its debug sections are "
                           "compressed with zstd, which libelf reads from 0.189 on; "
                           "'objcopy --decompress-debug-sections' helps\n",
                           (int)(len - begin), key + begin);
        if (resolver->list[i].scopes.has_lost)
            cn_text_printf(out,
                           "%.*s: functions without lines and inlined calls: it was "
                           "built with -gsplit-dwarf, and a .dwo file is neither where "
                           "it was compiled nor beside the program%s\n",
                           (int)(len - begin), key + begin,
                           reads_packages() ? ""
                                            : "; .dwp files are read with libdw 0.191");
    }
}

static struct cn_debug_info *find_module(struct cn_resolver *resolver, const char *path,
                                         const char *build_id)
{
    size_t known = resolver->keys.count;

    if (path[0] != '/')
        return NULL;
    char *key = cn_strprintf("%s\n%s", path, build_id);
    uint32_t at = cn_names_add(&resolver->keys, key);
    free(key);
    if (at == known) {
        CN_GROW(resolver->list, at, resolver->capacity);
        (void)cn_debug_info_open(&resolver->list[at], path, build_id, &resolver->files);
    }
    return resolver->list[at].dwfl ? &resolver->list[at] : NULL;
}

/* "/a/./b/../c" to "/a/c", without asking the file system. */
static void simplify(char *path)
{
    char *from = path, *to = path;

    while (*from) {
        size_t len = 1 + strcspn(from + 1, "/");

        if (len == 3 && strncmp(from, "/..", 3) == 0) {
            while (to > path && *--to != '/')
                continue;
        } else if (len > 1 && !(len == 2 && from[1] == '.')) {
            memmove(to, from, len);
            to += len;
        }
        from += len;
    }
    *to = '\0';
}

/* The compilation unit of an offset, and its address in that unit. */
static bool find_unit(struct cn_debug_info *module, uint64_t offset, Dwarf_Die *unit,
                      Dwarf_Addr *address)
{
    Dwarf_Addr bias;

    if (!module->has_dwarf || !cn_units_find(&module->units, module->module,
                                             module->begin + offset, unit, &bias))
        return false;
    *address = module->begin + offset - bias;
    return true;
}

/* The function of a Go program that contains an offset, and the address in its table. */
static bool find_go(const struct cn_debug_info *module, uint64_t offset,
                    struct cn_go_function *out, uint64_t *address)
{
    *address = module->begin + offset - module->linked;
    return module->has_go && cn_go_table_find(&module->go, *address, out);
}

/* The locations of an address in a Go function, the innermost last. */
static size_t locate_go(struct cn_resolver *resolver, const struct cn_debug_info *module,
                        const struct cn_go_function *function, uint64_t address,
                        struct cn_source_location *out, size_t most)
{
    struct cn_go_location found[CN_SCOPE_MAX];
    size_t count = cn_go_table_locations(&module->go, function, address, found,
                                         most < CN_SCOPE_MAX ? most : CN_SCOPE_MAX);

    if (count == 0 || found[count - 1].line == 0 || !found[count - 1].file[0])
        return 0;
    for (size_t i = 0; i < count; i++)
        out[i] = (struct cn_source_location){
            .function =
                i > 0 ? cn_names_keep(&resolver->strings, found[i].function) : NULL,
            .file = cn_names_keep(&resolver->strings, found[i].file),
            .line = found[i].line,
        };
    return count;
}

/* Set file and line; false if they are unknown. */
static bool set_location(struct cn_resolver *resolver, Dwarf_Die *unit, const char *file,
                         int64_t line, struct cn_source_location *out)
{
    struct cn_text path = {0};
    Dwarf_Attribute attribute;

    if (!file || line < 0 || line > UINT32_MAX)
        return false;
    const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    if (file[0] != '/' && folder)
        cn_text_printf(&path, "%s/", folder);
    cn_text_str_add(&path, file);
    if (path.chars[0] == '/')
        simplify(path.chars);
    out->file = cn_names_keep(&resolver->strings, path.chars);
    cn_text_done(&path);
    out->line = (uint32_t)line;
    return true;
}

bool cn_resolver_function(struct cn_resolver *resolver, const char *path,
                          const char *build_id, uint64_t offset,
                          struct cn_source_location *out)
{
    struct cn_debug_info *module = find_module(resolver, path, build_id);
    Dwarf_Die unit, scopes[CN_SCOPE_MAX];
    struct cn_go_function go;
    Dwarf_Addr address;
    int line;

    if (module && find_go(module, offset, &go, &address)) {
        struct cn_source_location first[1];

        if (locate_go(resolver, module, &go, go.begin, first, 1) == 0)
            return false;
        *out = first[0];
        out->line = go.first_line > 0 ? go.first_line : out->line;
        return true;
    }
    if (!module || !find_unit(module, offset, &unit, &address) ||
        cn_scopes_at(&module->scopes, module->module, &unit, address, scopes) == 0 ||
        dwarf_decl_line(&scopes[0], &line) != 0 ||
        !set_location(resolver, &unit, cn_unit_declared_in(&scopes[0]), line, out))
        return false;
    const char *name = dwarf_diename(&scopes[0]);
    out->function = name ? cn_names_keep(&resolver->strings, name) : NULL;
    out->mangled = NULL;
    return true;
}

/* The call site of an inlined function. */
static bool called_at(struct cn_resolver *resolver, Dwarf_Die *inlined, Dwarf_Die *unit,
                      struct cn_source_location *out)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file, line;
    Dwarf_Files *files;
    size_t count;

    return dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file) ==
               0 &&
           dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) ==
               0 &&
           dwarf_getsrcfiles(unit, &files, &count) == 0 &&
           set_location(resolver, unit, dwarf_filesrc(files, (size_t)file, NULL, NULL),
                        line <= UINT32_MAX ? (int64_t)line : -1, out);
}

static const char *linkage_name(struct cn_resolver *resolver, Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    const char *name =
        dwarf_formstring(dwarf_attr_integrate(function, DW_AT_linkage_name, &attribute));

    if (!name)
        name = dwarf_formstring(
            dwarf_attr_integrate(function, DW_AT_MIPS_linkage_name, &attribute));
    return name ? cn_names_keep(&resolver->strings, name) : NULL;
}

size_t cn_resolver_instruction(struct cn_resolver *resolver, const char *path,
                               const char *build_id, uint64_t offset,
                               struct cn_source_location *out, size_t most)
{
    struct cn_debug_info *module = find_module(resolver, path, build_id);
    Dwarf_Die unit, scopes[CN_SCOPE_MAX];
    Dwarf_Addr address;
    size_t levels = 1, scope_count;
    struct cn_go_function go;
    int line;

    if (most > 0 && module && find_go(module, offset, &go, &address))
        return locate_go(resolver, module, &go, address, out, most);
    if (most == 0 || !module || !find_unit(module, offset, &unit, &address))
        return 0;
    /* The location of each level is the call site of the next one, that of the innermost is
     * the line of the address. */
    out[0].function = NULL;
    out[0].mangled = NULL;
    scope_count = cn_scopes_at(&module->scopes, module->module, &unit, address, scopes);
    for (size_t i = 1; i < scope_count; i++) {
        const char *name = dwarf_diename(&scopes[i]);

        if (levels == most || !called_at(resolver, &scopes[i], &unit, &out[levels - 1]))
            break;
        out[levels].mangled = linkage_name(resolver, &scopes[i]);
        out[levels++].function = cn_names_keep(&resolver->strings, name ? name : "");
    }
    Dwarf_Line *entry = dwarf_getsrc_die(&unit, address);
    if (!entry || dwarf_lineno(entry, &line) != 0 || line == 0 ||
        !set_location(resolver, &unit, dwarf_linesrc(entry, NULL, NULL), line,
                      &out[levels - 1]))
        return 0;
    return levels;
}

/* Without the version of a symbol of a library: "read@@GLIBC_2.2.5". */
static const char *intern_symbol(struct cn_resolver *resolver, const char *name)
{
    const char *at = name[0] ? strchr(name + 1, '@') : NULL;
    struct cn_text text = {0};

    if (!at)
        return cn_names_keep(&resolver->strings, name);
    cn_text_add(&text, name, (size_t)(at - name));
    const char *result = cn_names_keep(&resolver->strings, text.chars);
    cn_text_done(&text);
    return result;
}

/* The bounds of a function in the tables for unwinding, which a stripped module has as well. */
static bool find_bounds(struct cn_debug_info *module, uint64_t address, Dwarf_Addr *begin,
                        Dwarf_Addr *end)
{
    Dwarf_Addr bias = 0;
    Dwarf_CFI *table = dwfl_module_eh_cfi(module->module, &bias);
    Dwarf_Frame *frame = NULL;

    if (!table || dwarf_cfi_addrframe(table, address - bias, &frame) != 0)
        return false;
    (void)dwarf_frame_info(frame, begin, end, NULL);
    free(frame);
    *begin += bias;
    *end += bias;
    return *begin >= module->begin && *begin <= address && address < *end;
}

/* A function without a name: "git+0x2a1500", where it begins. */
static void name_by_offset(struct cn_resolver *resolver, const char *path,
                           struct cn_symbol *function)
{
    char *text = cn_strprintf("%s+0x%" PRIx64, cn_path_name(path), function->offset);

    function->name = cn_names_keep(&resolver->strings, text);
    free(text);
}

bool cn_resolver_symbol(struct cn_resolver *resolver, const char *path,
                        const char *build_id, uint64_t offset, struct cn_symbol *out)
{
    Dwarf_Addr begin, end;
    struct cn_debug_info *module = find_module(resolver, path, build_id);
    struct cn_plt_entry entry;
    struct cn_go_function go;
    uint64_t address;

    if (!module)
        return false;
    if (find_go(module, offset, &go, &address) && go.name[0]) {
        *out = (struct cn_symbol){
            .name = cn_names_keep(&resolver->strings, go.name),
            .offset = offset - (address - go.begin),
            .len = go.end - go.begin,
        };
        return true;
    }
    if (cn_plt_find(&module->plt, module->begin + offset - module->linked, &entry)) {
        if (!entry.name)
            return false;
        *out = (struct cn_symbol){.name = entry.name,
                                  .offset = entry.begin + module->linked - module->begin};
        return true;
    }
    if (!module->has_symbols)
        cn_symbol_table_read(&module->symbols, module->module, false);
    module->has_symbols = true;
    const struct cn_table_symbol *symbol =
        cn_symbol_table_find(&module->symbols, module->begin + offset);
    /* A symbol without a size may be that of an earlier function. */
    if ((!symbol || !symbol->has_size) &&
        find_bounds(module, module->begin + offset, &begin, &end) &&
        (!symbol || symbol->begin < begin)) {
        *out = (struct cn_symbol){.offset = begin - module->begin, .len = end - begin};
        name_by_offset(resolver, path, out);
        return true;
    }
    if (!symbol || symbol->begin < module->begin)
        return false;
    *out = (struct cn_symbol){
        .name = intern_symbol(resolver, symbol->name),
        .offset = symbol->begin - module->begin,
        .len = symbol->has_size ? symbol->end - symbol->begin : 0,
    };
    return true;
}

/* The bytes of a function in the file; none if they are not there. */
static struct cn_bytes code_of(Elf *elf, uint64_t address, uint64_t len)
{
    size_t count;

    for (size_t i = 0; elf_getphdrnum(elf, &count) == 0 && i < count; i++) {
        GElf_Phdr header;

        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
            address < header.p_vaddr || address - header.p_vaddr >= header.p_filesz ||
            len > header.p_filesz - (address - header.p_vaddr))
            continue;
        Elf_Data *data = elf_getdata_rawchunk(
            elf, (int64_t)(header.p_offset + (address - header.p_vaddr)), (size_t)len,
            ELF_T_BYTE);
        return data && data->d_buf ? (struct cn_bytes){data->d_buf, data->d_size}
                                   : (struct cn_bytes){0};
    }
    return (struct cn_bytes){0};
}

/* The length of a function; one that has none in the symbol table ends at the next. */
static uint64_t length_of(const struct cn_debug_info *module,
                          const struct cn_symbol *function)
{
    uint64_t begin = module->begin + function->offset;
    const struct cn_table_symbol *symbol =
        function->len == 0 ? cn_symbol_table_find(&module->symbols, begin) : NULL;

    return symbol && symbol->begin == begin && symbol->end != UINT64_MAX
               ? symbol->end - begin
               : function->len;
}

/* Why the module of a function cannot be opened. */
static bool fail_module(const char *path, const char *build_id, struct cn_error *err)
{
    if (path[0] != '/')
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s is not a file with code", path);
    if (access(path, R_OK) != 0)
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s is not on this machine", path);
    if (build_id[0])
        return cn_fail(err, CN_ERR_NOT_FOUND,
                       "%s is another build than the one that was measured, %s", path,
                       build_id);
    return cn_fail(err, CN_ERR_NOT_FOUND, "%s is not an ELF file", path);
}

bool cn_resolver_code(struct cn_resolver *resolver, const char *path,
                      const char *build_id, uint64_t offset, struct cn_resolver_code *out,
                      struct cn_error *err)
{
    struct cn_debug_info *module = find_module(resolver, path, build_id);
    GElf_Addr bias;
    GElf_Ehdr head;

    *out = (struct cn_resolver_code){0};
    if (!module)
        return fail_module(path, build_id, err);
    Elf *elf = dwfl_module_getelf(module->module, &bias);
    if (!elf || !gelf_getehdr(elf, &head) ||
        (head.e_machine != EM_X86_64 && head.e_machine != EM_AARCH64))
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s is not code of x86_64 or aarch64",
                       path);
    if (!cn_resolver_symbol(resolver, path, build_id, offset, &out->symbol))
        return cn_fail(err, CN_ERR_NOT_FOUND, "%s has no symbol at 0x%" PRIx64, path,
                       offset);
    out->is_x86 = head.e_machine == EM_X86_64;
    out->bytes = code_of(elf, module->begin + out->symbol.offset - module->linked,
                         length_of(module, &out->symbol));
    return out->bytes.len > 0 ||
           cn_fail(err, CN_ERR_NOT_FOUND, "%s has no code of %s", path, out->symbol.name);
}

struct resolver_caller {
    struct cn_debug_info *module;
    uint64_t begin; /* of the function that calls, as libdwfl counts */
};

/* Functions of the C and C++ libraries; there is no sign of it in their code. */
static bool never_returns(void *arg, uint64_t target)
{
    static const char *const names[] = {"abort",
                                        "exit",
                                        "_exit",
                                        "_Exit",
                                        "quick_exit",
                                        "__assert_fail",
                                        "__stack_chk_fail",
                                        "__libc_fatal",
                                        "__fortify_fail",
                                        "__chk_fail",
                                        "_Unwind_Resume",
                                        "__cxa_throw",
                                        "__cxa_rethrow",
                                        "__cxa_bad_cast",
                                        "__clang_call_terminate",
                                        "_ZSt9terminatev",
                                        "longjmp",
                                        "_longjmp",
                                        "__longjmp_chk",
                                        "siglongjmp",
                                        "__libc_start_call_main",
                                        "pthread_exit",
                                        "err",
                                        "errx"};
    const struct resolver_caller *caller = arg;
    struct cn_debug_info *module = caller->module;
    const struct cn_table_symbol *symbol;
    struct cn_plt_entry entry;
    const char *name;

    if (cn_plt_find(&module->plt, caller->begin + target - module->linked, &entry)) {
        name = entry.name;
    } else {
        symbol = cn_symbol_table_find(&module->symbols, caller->begin + target);
        name = symbol ? symbol->name : NULL;
    }
    size_t len = name ? strcspn(name, "@") : 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (len == strlen(names[i]) && strncmp(name, names[i], len) == 0)
            return true;
    return name && strncmp(name, "_ZSt", 4) == 0 && strstr(name, "__throw_");
}

static const struct cn_loops *loops_of(struct cn_debug_info *module,
                                       const struct cn_symbol *function)
{
    uint32_t at =
        *cn_map_at(&module->loop_of, function->offset, (uint32_t)module->loop_count);
    GElf_Addr bias;
    GElf_Ehdr head;

    if (at < module->loop_count)
        return &module->loops[at];
    CN_GROW(module->loops, at, module->loop_capacity);
    module->loops[module->loop_count++] = (struct cn_loops){0};
    Elf *elf = dwfl_module_getelf(module->module, &bias);
    if (elf && gelf_getehdr(elf, &head) && function->len <= CN_LOOPS_CODE_MAX &&
        (head.e_machine == EM_X86_64 || head.e_machine == EM_AARCH64))
        cn_loops_find(
            &module->loops[at],
            code_of(elf, module->begin + function->offset - module->linked,
                    function->len),
            head.e_machine == EM_X86_64, never_returns,
            &(struct resolver_caller){module, module->begin + function->offset});
    return &module->loops[at];
}

size_t cn_resolver_loops(struct cn_resolver *resolver, const char *path,
                         const char *build_id, const struct cn_symbol *function,
                         uint64_t offset, uint64_t out[CN_RESOLVER_LOOP_MAX])
{
    struct cn_debug_info *module = find_module(resolver, path, build_id);
    uint32_t heads[CN_LOOPS_DEPTH_MAX];

    if (!module || offset < function->offset ||
        offset - function->offset >= function->len)
        return 0;
    size_t count = cn_loops_at(loops_of(module, function),
                               (uint32_t)(offset - function->offset), heads);
    for (size_t i = 0; i < count; i++)
        out[i] = function->offset + heads[i];
    return count;
}

size_t cn_resolver_loop(struct cn_resolver *resolver, const char *path,
                        const char *build_id, const struct cn_symbol *function,
                        uint64_t head, struct cn_source_location *out, size_t most)
{
    struct cn_debug_info *module = find_module(resolver, path, build_id);
    size_t count = cn_resolver_instruction(resolver, path, build_id, head, out, most);
    struct cn_source_location *others = cn_alloc(most, sizeof(*others));
    uint32_t blocks[CN_LOOPS_BLOCK_MAX];
    size_t block_count = 0;

    if (count > 1)
        block_count = cn_loops_blocks(loops_of(module, function),
                                      (uint32_t)(head - function->offset), blocks);
    for (size_t i = 0; i < block_count && count > 1; i++) {
        size_t levels = cn_resolver_instruction(
            resolver, path, build_id, function->offset + blocks[i], others, most);
        size_t same = 1;

        /* Strings are unique, and calls of the same function at two lines are two. */
        while (same < levels && same < count &&
               others[same].function == out[same].function &&
               others[same - 1].line == out[same - 1].line)
            same++;
        if (levels > 0)
            count = same;
    }
    free(others);
    return count;
}

bool cn_resolver_offset(struct cn_resolver *resolver, const char *path,
                        const char *build_id, uint64_t file_off, uint64_t *out)
{
    const struct cn_debug_info *module = find_module(resolver, path, build_id);
    GElf_Addr bias;
    Elf *elf = module ? dwfl_module_getelf(module->module, &bias) : NULL;
    size_t count;

    if (!elf || elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;

        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD &&
            file_off >= header.p_offset && file_off - header.p_offset < header.p_filesz) {
            *out = bias + header.p_vaddr + (file_off - header.p_offset) - module->begin;
            return true;
        }
    }
    return false;
}

/* Is it in a segment that can be written? */
static bool is_data(const struct cn_debug_info *module, uint64_t offset)
{
    GElf_Addr bias;
    Elf *elf = dwfl_module_getelf(module->module, &bias);
    size_t count;

    if (!elf || elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;

        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD &&
            header.p_flags & PF_W &&
            offset - (bias + header.p_vaddr - module->begin) < header.p_memsz)
            return true;
    }
    return false;
}

bool cn_resolver_variable(struct cn_resolver *resolver, const char *path,
                          const char *build_id, uint64_t file_off, uint64_t distance,
                          struct cn_symbol *out, uint64_t *offset)
{
    struct cn_debug_info *module = find_module(resolver, path, build_id);
    uint64_t at;

    if (!module || !cn_resolver_offset(resolver, path, build_id, file_off, &at))
        return false;
    at += distance;
    if (!is_data(module, at))
        return false;
    if (!module->has_variables)
        cn_symbol_table_read(&module->variables, module->module, true);
    module->has_variables = true;
    const struct cn_table_symbol *symbol =
        cn_symbol_table_find(&module->variables, module->begin + at);
    *out = (struct cn_symbol){.offset = at};
    if (symbol) {
        out->name = intern_symbol(resolver, symbol->name);
        out->offset = symbol->begin - module->begin;
        out->len = symbol->end - symbol->begin;
    } else {
        name_by_offset(resolver, path, out);
    }
    *offset = at - out->offset;
    return true;
}
