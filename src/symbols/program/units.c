#include "symbols/program/debug_info.h"

#include <dwarf.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "base/path.h"
#include "base/search.h"
#include "base/sort.h"
#include "base/text.h"

enum {
    OVERLAP_MAX = 8
}; /* ranges that begin before an address and end before it as well */

struct cn_unit_range {
    uint64_t low, high;
    Dwarf_Die unit;
};

static void read_units(struct cn_units *units, Dwfl_Module *module)
{
    Dwarf_Die *unit = NULL;
    Dwarf_Addr bias, base, low, high;

    while ((unit = dwfl_module_nextcu(module, unit, &bias))) {
        for (ptrdiff_t at = 0; (at = dwarf_ranges(unit, at, &base, &low, &high)) > 0;)
            CN_PUSH(units->list, units->count, units->capacity,
                    (struct cn_unit_range){low, high, *unit});
    }
    CN_SORT(units->list, units->count, CN_UP(struct cn_unit_range, low));
    units->is_read = true;
}

bool cn_units_find(struct cn_units *units, Dwfl_Module *module, Dwarf_Addr address,
                   Dwarf_Die *out, Dwarf_Addr *bias)
{
    Dwarf_Die *listed = dwfl_module_addrdie(module, address, bias);

    if (listed) {
        *out = *listed;
        return true;
    }
    if (!units->is_read)
        read_units(units, module);
    if (units->count == 0 || !dwfl_module_getdwarf(module, bias))
        return false;
    address -= *bias;
    size_t at =
        cn_search_u64(&units->list[0].low, units->count, sizeof(*units->list), address);
    for (size_t i = 0; at > 0 && i < OVERLAP_MAX; i++) {
        if (address < units->list[--at].high) {
            *out = units->list[at].unit;
            return true;
        }
    }
    return false;
}

void cn_units_done(struct cn_units *units)
{
    free(units->list);
    *units = (struct cn_units){0};
}

/* True if the file is there, or nothing: to open a FIFO or a device would block. */
static bool is_harmless(const char *program, const char *folder, const char *name)
{
    struct cn_text path = {0};
    struct stat st;

    if (name[0] != '/' && folder[0] != '/')
        cn_text_add(&path, program, cn_path_folder_len(program));
    if (name[0] != '/')
        cn_text_printf(&path, "%s/", folder);
    cn_text_str_add(&path, name);
    bool ok = stat(cn_text_str(&path), &st) != 0 || S_ISREG(st.st_mode);
    cn_text_done(&path);
    return ok;
}

static const char *text_of(Dwarf_Die *die, unsigned int name)
{
    Dwarf_Attribute attribute;

    return dwarf_formstring(dwarf_attr(die, name, &attribute));
}

bool cn_unit_whole(Dwfl_Module *module, Dwarf_Die *unit, Dwarf_Die *out)
{
    const char *file = NULL, *debug_file = NULL;
    const char *name = text_of(unit, DW_AT_dwo_name);
    const char *built_in = text_of(unit, DW_AT_comp_dir);

    *out = *unit;
    if (!name)
        name = text_of(unit, DW_AT_GNU_dwo_name);
    if (!name)
        return true;
    (void)dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &file, &debug_file);
    if (!debug_file)
        debug_file = file;
    if (!debug_file)
        return false;
    /* Where libdw looks. */
    char *package = cn_strprintf("%s.dwp", debug_file);
    bool ok = is_harmless(debug_file, ".", name) && is_harmless("", ".", package) &&
              is_harmless(debug_file, built_in ? built_in : ".", name);
    free(package);
    Dwarf_Die split = {0};
    if (!ok || dwarf_cu_info(unit->cu, NULL, NULL, NULL, &split, NULL, NULL, NULL) != 0 ||
        !split.addr)
        return false;
    *out = split;
    return true;
}

const char *cn_unit_declared_in(Dwarf_Die *function)
{
    Dwarf_Attribute attribute;
    Dwarf_Word file;
    Dwarf_Files *files;
    Dwarf_Die unit;
    size_t count;

    if (dwarf_formudata(dwarf_attr_integrate(function, DW_AT_decl_file, &attribute),
                        &file) != 0 ||
        !dwarf_cu_die(attribute.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL) ||
        dwarf_getsrcfiles(&unit, &files, &count) != 0)
        return NULL;
    return dwarf_filesrc(files, (size_t)file, NULL, NULL);
}
