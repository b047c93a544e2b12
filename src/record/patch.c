#include "record/patch.h"

#include <stdbool.h>
#include <sys/mman.h>

#include "record/elf_image.h"
#include "record/elf_sections.h"
#include "record/machine.h"
#include "record/module_rules.h"
#include "record/near_stub.h"
#include "record/process.h"
#include "record/stubs.h"

enum { PATCH_LEN_MAX = 16 };

struct patching {
    const struct cn_rec_image *image;
    uintptr_t stub;
};

static bool protect(const struct cn_rec_image *image, int how)
{
    uintptr_t low = image->code_low & ~(uintptr_t)(CN_REC_PAGE_LEN - 1);

    return mprotect((void *)low, image->code_high - low, how) == 0;
}

static bool is_wanted(uintptr_t at)
{
    uintptr_t base;
    const struct cn_rec_rule *rule = cn_rec_module_rules_find(at, &base);
    uint32_t actions = rule ? rule->actions : 0;

    return !(actions & CN_REC_RULE_UNPATCH) &&
           (!cn_rec_process.shared->has_patch_list || (actions & CN_REC_RULE_PATCH));
}

static void patch_one(const struct patching *patching, uintptr_t at)
{
    const struct cn_rec_image *image = patching->image;

    if (at >= image->code_low && at < image->code_high - PATCH_LEN_MAX && is_wanted(at))
        (void)cn_rec_machine_patch((uint8_t *)at, patching->stub);
}

/* The addresses of the entries are in the list once the file was relocated, and before
 * that in its relocations or, less where the file lies, in the list. */
static void patch_all(const struct patching *patching,
                      const struct cn_rec_section *section)
{
    const struct cn_rec_image *image = patching->image;
    const uintptr_t *entries = (const uintptr_t *)(image->bias + section->address);

    for (size_t i = 0; i < section->len / sizeof(*entries); i++)
        patch_one(patching,
                  entries[i] < image->low ? image->bias + entries[i] : entries[i]);
    for (size_t i = 0; i < image->rela_count; i++) {
        const Elf64_Rela *rela = &image->relas[i];

        if (ELF64_R_TYPE(rela->r_info) == CN_REC_RELATIVE &&
            rela->r_offset >= section->address &&
            rela->r_offset < section->address + section->len)
            patch_one(patching, image->bias + (uintptr_t)rela->r_addend);
    }
}

void cn_rec_patch(const struct cn_rec_image *image, const char *path)
{
    struct patching patching = {.image = image};
    struct cn_rec_section section;

    if (image->code_high - image->code_low <= PATCH_LEN_MAX ||
        !cn_rec_section_find(path, "__patchable_function_entries", &section) ||
        section.len > image->high - image->low ||
        section.address > image->high - image->bias - section.len)
        return;
    patching.stub =
        cn_rec_near_stub(image->code_low, image->code_high, (uintptr_t)cn_rec_patched);
    /* Threads that a constructor started may be in there, if the system lets them. */
    if (!patching.stub || !(protect(image, PROT_READ | PROT_WRITE | PROT_EXEC) ||
                            protect(image, PROT_READ | PROT_WRITE)))
        return;
    patch_all(&patching, &section);
    __builtin___clear_cache((char *)image->code_low, (char *)image->code_high);
    (void)protect(image, PROT_READ | PROT_EXEC);
}
