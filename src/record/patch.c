#include "record/patch.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/elf_sections.h"
#include "record/hooks.h"
#include "record/machine.h"
#include "record/module_rules.h"
#include "record/process.h"

enum { STEP = 1 << 20, TRIES = 1000 };

struct module {
    uintptr_t base, low, high; /* low to high: what can be run */
    uintptr_t stub;            /* near enough to be called from there */
};

/* A page that a call from the module reaches. */
static uint8_t *map_near(const struct module *module)
{
    for (uintptr_t i = 1; i < TRIES; i++) {
        uintptr_t at =
            ((module->low > i * STEP ? module->low - i * STEP : 0)) & ~(uintptr_t)(65535);
        uint8_t *page;

        if (at == 0 || module->high - at >= (uintptr_t)1 << CN_REC_REACH_LOG2)
            return NULL;
        page = mmap((void *)at, CN_REC_PAGE_LEN, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (page == (uint8_t *)at)
            return page;
        if (page != MAP_FAILED)
            (void)munmap(page, CN_REC_PAGE_LEN);
    }
    return NULL;
}

static bool make_stub(struct module *module)
{
    uint8_t *page = map_near(module);

    if (!page)
        return false;
    (void)cn_rec_machine_jump(page, (uintptr_t)cn_rec_patched);
    __builtin___clear_cache((char *)page, (char *)page + CN_REC_PAGE_LEN);
    module->stub = (uintptr_t)page;
    return mprotect(page, CN_REC_PAGE_LEN, PROT_READ | PROT_EXEC) == 0;
}

static bool protect(const struct module *module, int how)
{
    uintptr_t low = module->low & ~(uintptr_t)(CN_REC_PAGE_LEN - 1);

    return mprotect((void *)low, module->high - low, how) == 0;
}

static bool is_wanted(uintptr_t at)
{
    uintptr_t base;
    const struct cn_rec_rule *rule = cn_rec_module_rules_find(at, &base);
    uint32_t actions = rule ? rule->actions : 0;

    return !(actions & CN_REC_RULE_UNPATCH) &&
           (!cn_rec_process.shared->has_patch_list || (actions & CN_REC_RULE_PATCH));
}

static void patch_all(struct module *module, const uintptr_t *entries, size_t count)
{
    if (!make_stub(module) || !protect(module, PROT_READ | PROT_WRITE))
        return;
    for (size_t i = 0; i < count; i++) {
        uintptr_t at = entries[i];

        if (at >= module->low && at < module->high - 16 && is_wanted(at))
            (void)cn_rec_machine_patch((uint8_t *)at, module->stub);
    }
    __builtin___clear_cache((char *)module->low, (char *)module->high);
    (void)protect(module, PROT_READ | PROT_EXEC);
}

static int patch_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct module module = {.base = info->dlpi_addr};
    const char *path = info->dlpi_name[0] ? info->dlpi_name : "/proc/self/exe";
    struct cn_rec_section section;

    (void)size;
    (void)arg;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const Elf64_Phdr *segment = &info->dlpi_phdr[i];

        if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X)) {
            module.low = info->dlpi_addr + segment->p_vaddr;
            module.high = module.low + segment->p_memsz;
        }
    }
    if (module.high > module.low &&
        cn_rec_section_find(path, "__patchable_function_entries", &section))
        patch_all(&module, (const uintptr_t *)(info->dlpi_addr + section.address),
                  section.len / sizeof(uintptr_t));
    return 0;
}

void cn_rec_patch_begin(void)
{
    (void)dl_iterate_phdr(patch_module, NULL);
}
