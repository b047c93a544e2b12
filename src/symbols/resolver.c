#include "symbols/resolver.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"
#include "symbols/debug_info.h"

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

static struct cn_debug_info *find_module(struct cn_resolver *resolver, const char *path,
                                         const char *build_id)
{
    size_t known = resolver->keys.count;
    struct cn_text key = {0};
    uint32_t at;

    if (path[0] != '/')
        return NULL;
    cn_text_printf(&key, "%s\n%s", path, build_id);
    at = cn_names_add(&resolver->keys, cn_text_str(&key));
    cn_text_done(&key);
    if (at == known) {
        resolver->list =
            cn_grow(resolver->list, at, &resolver->capacity, sizeof(*resolver->list));
        (void)cn_debug_info_open(&resolver->list[at], path, build_id, &resolver->files);
    }
    return resolver->list[at].dwfl ? &resolver->list[at] : NULL;
}

static const char *intern(struct cn_resolver *resolver, const char *text)
{
    uint32_t at = cn_names_add(&resolver->strings, text);

    return resolver->strings.list[at];
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
static bool find_unit(const struct cn_debug_info *module, uint64_t offset,
                      Dwarf_Die **unit, Dwarf_Addr *address)
{
    Dwarf_Addr bias;

    if (!module->has_dwarf)
        return false;
    *unit = dwfl_module_addrdie(module->module, module->begin + offset, &bias);
    *address = module->begin + offset - bias;
    return *unit != NULL;
}

/* The scopes of an address, innermost first; released with free(). dwarf_getscopes() continues
 * from an inlined function with the scopes of its definition, dwarf_getscopes_die() with those
 * of its call site. */
static int scopes_at(Dwarf_Die *unit, Dwarf_Addr address, Dwarf_Die **out)
{
    Dwarf_Die *by_address = NULL;
    int count = dwarf_getscopes(unit, address, &by_address);

    *out = NULL;
    if (count > 0)
        count = dwarf_getscopes_die(&by_address[0], out);
    free(by_address);
    return count;
}

/* Set file and line; false if they are unknown. */
static bool set_location(struct cn_resolver *resolver, Dwarf_Die *unit, const char *file,
                         int64_t line, struct cn_source_location *out)
{
    struct cn_text path = {0};
    Dwarf_Attribute attribute;
    const char *folder;

    if (!file || line < 0 || line > UINT32_MAX)
        return false;
    folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    if (file[0] != '/' && folder)
        cn_text_printf(&path, "%s/", folder);
    cn_text_str_add(&path, file);
    if (path.chars[0] == '/')
        simplify(path.chars);
    out->file = intern(resolver, path.chars);
    cn_text_done(&path);
    out->line = (uint32_t)line;
    return true;
}

bool cn_resolver_function(struct cn_resolver *resolver, const char *path,
                          const char *build_id, uint64_t offset,
                          struct cn_source_location *out)
{
    const struct cn_debug_info *module = find_module(resolver, path, build_id);
    Dwarf_Die *unit, *scopes;
    Dwarf_Addr address;
    bool found = false;
    int count, line;

    if (!module || !find_unit(module, offset, &unit, &address))
        return false;
    count = scopes_at(unit, address, &scopes);
    for (int i = 0; i < count && !found; i++) {
        if (dwarf_tag(&scopes[i]) != DW_TAG_subprogram ||
            dwarf_decl_line(&scopes[i], &line) != 0)
            continue;
        found = set_location(resolver, unit, dwarf_decl_file(&scopes[i]), line, out);
        out->function = NULL;
        out->mangled = NULL;
    }
    free(scopes);
    return found;
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
    return name ? intern(resolver, name) : NULL;
}

size_t cn_resolver_instruction(struct cn_resolver *resolver, const char *path,
                               const char *build_id, uint64_t offset,
                               struct cn_source_location *out, size_t most)
{
    const struct cn_debug_info *module = find_module(resolver, path, build_id);
    Dwarf_Die *unit, *scopes;
    Dwarf_Addr address;
    Dwarf_Line *entry;
    size_t levels = 1;
    int line;

    if (most == 0 || !module || !find_unit(module, offset, &unit, &address))
        return 0;
    /* The location of each level is the call site of the next one, that of the innermost is
     * the line of the address. */
    out[0].function = NULL;
    out[0].mangled = NULL;
    for (int i = scopes_at(unit, address, &scopes); i-- > 0;) {
        const char *name;

        if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
            continue;
        name = dwarf_diename(&scopes[i]);
        if (levels == most || !called_at(resolver, &scopes[i], unit, &out[levels - 1]))
            break;
        out[levels].mangled = linkage_name(resolver, &scopes[i]);
        out[levels++].function = intern(resolver, name ? name : "");
    }
    free(scopes);
    entry = dwarf_getsrc_die(unit, address);
    if (!entry || dwarf_lineno(entry, &line) != 0 || line == 0 ||
        !set_location(resolver, unit, dwarf_linesrc(entry, NULL, NULL), line,
                      &out[levels - 1]))
        return 0;
    return levels;
}

/* Without the version of a symbol of a library: "read@@GLIBC_2.2.5". */
static const char *intern_symbol(struct cn_resolver *resolver, const char *name)
{
    const char *at = name[0] ? strchr(name + 1, '@') : NULL;
    struct cn_text text = {0};
    const char *result;

    if (!at)
        return intern(resolver, name);
    cn_text_add(&text, name, (size_t)(at - name));
    result = intern(resolver, text.chars);
    cn_text_done(&text);
    return result;
}

bool cn_resolver_symbol(struct cn_resolver *resolver, const char *path,
                        const char *build_id, uint64_t offset, struct cn_symbol *out)
{
    struct cn_debug_info *module = find_module(resolver, path, build_id);
    const struct cn_table_symbol *symbol;
    struct cn_plt_entry entry;

    if (!module)
        return false;
    if (cn_plt_find(&module->plt, module->begin + offset - module->linked, &entry)) {
        if (!entry.name)
            return false;
        *out =
            (struct cn_symbol){entry.name, entry.begin + module->linked - module->begin};
        return true;
    }
    if (!module->has_symbols)
        cn_symbol_table_read(&module->symbols, module->module);
    module->has_symbols = true;
    symbol = cn_symbol_table_find(&module->symbols, module->begin + offset);
    if (!symbol || symbol->begin < module->begin)
        return false;
    *out = (struct cn_symbol){intern_symbol(resolver, symbol->name),
                              symbol->begin - module->begin};
    return true;
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
