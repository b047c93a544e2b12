#include "symbols/debug_info.h"

#include <string.h>
#include <sys/stat.h>

#include "base/text.h"

enum { PAGE_LEN = 4096 }; /* mappings begin at multiples of at least this */

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
    *out = bias + (lowest & ~(GElf_Addr)(PAGE_LEN - 1));
    return lowest != UINT64_MAX;
}

bool cn_debug_info_open(struct cn_debug_info *info, const char *path,
                        const char *build_id)
{
    static char *debug_folders = NULL; /* libdwfl's default */
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &debug_folders,
    };
    struct stat st;

    *info = (struct cn_debug_info){0};
    /* A recording may name anything, and opening a FIFO or a device would block. */
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    info->dwfl = dwfl_begin(&callbacks);
    if (info->dwfl)
        info->module = dwfl_report_offline(info->dwfl, path, path, -1);
    if (info->module && dwfl_report_end(info->dwfl, NULL, NULL) == 0 &&
        is_build(info->module, build_id) && find_begin(info->module, &info->begin)) {
        info->has_dwarf = dwfl_module_getdwarf(info->module, &info->bias) != NULL;
        return true;
    }
    cn_debug_info_close(info);
    return false;
}

void cn_debug_info_close(struct cn_debug_info *info)
{
    if (info->dwfl)
        dwfl_end(info->dwfl);
    *info = (struct cn_debug_info){0};
}
