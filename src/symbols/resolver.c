#include "symbols/resolver.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text.h"

enum { PAGE_LEN = 4096 }; /* mappings begin at multiples of at least this */

/* A module as it was asked for. */
struct opened {
    Dwfl *dwfl; /* NULL: it knows nothing */
    Dwfl_Module *module;
    GElf_Addr begin; /* of the module where libdwfl puts it: offset 0 */
    bool has_debug_info;
};

struct cn_resolver {
    struct cn_names keys; /* "PATH\nBUILD_ID" */
    struct opened *list;  /* by number of the key */
    size_t capacity;
    struct cn_names strings; /* what was handed out */
};

static char *debug_folders = NULL; /* libdwfl's default */
static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = dwfl_standard_find_debuginfo,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debug_folders,
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
        if (resolver->list[i].dwfl)
            dwfl_end(resolver->list[i].dwfl);
    free(resolver->list);
    cn_names_done(&resolver->keys);
    cn_names_done(&resolver->strings);
    free(resolver);
}

static bool is_build(Dwfl_Module *module, const char *build_id)
{
    const unsigned char *bits;
    GElf_Addr address;
    int len = dwfl_module_build_id(module, &bits, &address);
    struct cn_text text = {0};
    bool ok;

    if (build_id[0] == '\0')
        return true;
    for (int i = 0; i < len; i++)
        cn_text_printf(&text, "%02x", bits[i]);
    ok = strcmp(cn_text_str(&text), build_id) == 0;
    cn_text_done(&text);
    return ok;
}

/* Offsets of a recording count from where the module is mapped, those of debug
 * information from where it was linked to be. */
static bool find_begin(Dwfl_Module *module, GElf_Addr *out)
{
    GElf_Addr bias, lowest = UINT64_MAX;
    Elf *elf = dwfl_module_getelf(module, &bias);
    size_t count;

    if (!elf || elf_getphdrnum(elf, &count) != 0)
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;

        if (gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD &&
            header.p_vaddr < lowest)
            lowest = header.p_vaddr;
    }
    if (lowest == UINT64_MAX)
        return false;
    *out = bias + (lowest & ~(GElf_Addr)(PAGE_LEN - 1));
    return true;
}

static struct opened open_module(const char *path, const char *build_id)
{
    struct opened opened = {0};
    GElf_Addr bias;
    struct stat st;

    /* A recording may name anything, and some things are not there to be read. */
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return opened;
    opened.dwfl = dwfl_begin(&callbacks);
    if (!opened.dwfl)
        return opened;
    opened.module = dwfl_report_offline(opened.dwfl, path, path, -1);
    if (dwfl_report_end(opened.dwfl, NULL, NULL) == 0 && opened.module &&
        is_build(opened.module, build_id) && find_begin(opened.module, &opened.begin)) {
        opened.has_debug_info = dwfl_module_getdwarf(opened.module, &bias) != NULL;
        return opened;
    }
    dwfl_end(opened.dwfl);
    return (struct opened){0};
}

static const struct opened *find_module(struct cn_resolver *resolver, const char *path,
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
        resolver->list[at] = open_module(path, build_id);
    }
    return resolver->list[at].dwfl ? &resolver->list[at] : NULL;
}

static const char *keep(struct cn_resolver *resolver, const char *text)
{
    uint32_t at = cn_names_add(&resolver->strings, text);

    return resolver->strings.list[at];
}

/* "/a/./b/../c" to "/a/c": by the words, without asking the file system. */
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

static const char *keep_path(struct cn_resolver *resolver, const char *folder,
                             const char *path)
{
    struct cn_text text = {0};
    const char *kept;

    if (path[0] != '/' && folder)
        cn_text_printf(&text, "%s/", folder);
    cn_text_str_add(&text, path);
    if (text.chars[0] == '/')
        simplify(text.chars);
    kept = keep(resolver, text.chars);
    cn_text_done(&text);
    return kept;
}

static const char *folder_of(Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;

    return dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
}

/* The unit of an address, and the address as the unit counts. */
static bool find_unit(const struct opened *module, uint64_t offset, Dwarf_Die **unit,
                      Dwarf_Addr *address)
{
    Dwarf_Addr bias;

    if (!module->has_debug_info)
        return false;
    *unit = dwfl_module_addrdie(module->module, module->begin + offset, &bias);
    *address = module->begin + offset - bias;
    return *unit != NULL;
}

/* The scopes around an address, innermost first, to be released with free(). Those that
 * libdw lists by address go on from an inlined function with where it is defined; asked
 * for the innermost one, with where it was called. */
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

static bool declared_at(struct cn_resolver *resolver, Dwarf_Die *function,
                        Dwarf_Die *unit, struct cn_source_place *out)
{
    const char *file = dwarf_decl_file(function);
    int line;

    if (!file || dwarf_decl_line(function, &line) != 0 || line < 0)
        return false;
    *out = (struct cn_source_place){
        .file = keep_path(resolver, folder_of(unit), file),
        .line = (uint32_t)line,
    };
    return true;
}

bool cn_resolver_function(struct cn_resolver *resolver, const char *path,
                          const char *build_id, uint64_t offset,
                          struct cn_source_place *out)
{
    const struct opened *module = find_module(resolver, path, build_id);
    Dwarf_Die *unit, *scopes;
    Dwarf_Addr address;
    bool found = false;
    int count;

    if (!module || !find_unit(module, offset, &unit, &address))
        return false;
    count = scopes_at(unit, address, &scopes);
    for (int i = 0; i < count && !found; i++)
        if (dwarf_tag(&scopes[i]) == DW_TAG_subprogram)
            found = declared_at(resolver, &scopes[i], unit, out);
    free(scopes);
    return found;
}

/* Where an inlined function was called. */
static bool called_at(struct cn_resolver *resolver, Dwarf_Die *inlined, Dwarf_Die *unit,
                      struct cn_source_place *out)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file_number, line;
    Dwarf_Files *files;
    const char *file;
    size_t count;

    if (dwarf_formudata(dwarf_attr(inlined, DW_AT_call_file, &attribute), &file_number) ||
        dwarf_formudata(dwarf_attr(inlined, DW_AT_call_line, &attribute), &line) ||
        dwarf_getsrcfiles(unit, &files, &count) != 0 || line > UINT32_MAX)
        return false;
    file = dwarf_filesrc(files, (size_t)file_number, NULL, NULL);
    if (!file)
        return false;
    out->file = keep_path(resolver, folder_of(unit), file);
    out->line = (uint32_t)line;
    return true;
}

static bool line_at(struct cn_resolver *resolver, Dwarf_Die *unit, Dwarf_Addr address,
                    struct cn_source_place *out)
{
    Dwarf_Line *entry = dwarf_getsrc_die(unit, address);
    const char *file = entry ? dwarf_linesrc(entry, NULL, NULL) : NULL;
    int line;

    if (!file || dwarf_lineno(entry, &line) != 0 || line <= 0)
        return false;
    out->file = keep_path(resolver, folder_of(unit), file);
    out->line = (uint32_t)line;
    return true;
}

/* The place of each level is where the next one inside it was called, that of the
 * innermost the line itself. */
static size_t list_levels(struct cn_resolver *resolver, Dwarf_Die *unit,
                          Dwarf_Addr address, struct cn_source_place *out, size_t most)
{
    Dwarf_Die *scopes;
    int count = scopes_at(unit, address, &scopes);
    size_t levels = 1;

    out[0].function = NULL;
    for (int i = count; i-- > 0;) {
        const char *name;

        if (dwarf_tag(&scopes[i]) != DW_TAG_inlined_subroutine)
            continue;
        name = dwarf_diename(&scopes[i]);
        if (levels == most || !called_at(resolver, &scopes[i], unit, &out[levels - 1]))
            break;
        out[levels++].function = keep(resolver, name ? name : "");
    }
    free(scopes);
    return line_at(resolver, unit, address, &out[levels - 1]) ? levels : 0;
}

size_t cn_resolver_instruction(struct cn_resolver *resolver, const char *path,
                               const char *build_id, uint64_t offset,
                               struct cn_source_place *out, size_t most)
{
    const struct opened *module = find_module(resolver, path, build_id);
    Dwarf_Die *unit;
    Dwarf_Addr address;

    if (most == 0 || !module || !find_unit(module, offset, &unit, &address))
        return 0;
    return list_levels(resolver, unit, address, out, most);
}

bool cn_resolver_symbol(struct cn_resolver *resolver, const char *path,
                        const char *build_id, uint64_t offset, struct cn_symbol *out)
{
    const struct opened *module = find_module(resolver, path, build_id);
    GElf_Off inside;
    GElf_Sym symbol;
    const char *name;

    if (!module)
        return false;
    name = dwfl_module_addrinfo(module->module, module->begin + offset, &inside, &symbol,
                                NULL, NULL, NULL);
    /* What lies behind the end of a symbol belongs to nobody. */
    if (!name || inside > offset || (symbol.st_size > 0 && inside >= symbol.st_size))
        return false;
    *out = (struct cn_symbol){keep(resolver, name), offset - inside};
    return true;
}

bool cn_resolver_offset(struct cn_resolver *resolver, const char *path,
                        const char *build_id, uint64_t file_off, uint64_t *out)
{
    const struct opened *module = find_module(resolver, path, build_id);
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
