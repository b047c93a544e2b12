#include "record/code/got.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#include "record/code/elf_image.h"
#include "record/code/libcalls.h"
#include "record/code/machine.h"
#include "record/syscalls.h"

enum { SLOTS_MAX = 1 << 18 };

enum got_how { ONLY_CALLED, MIXED, ONLY_OTHER };

/* True for the slot of a function of another file. */
static bool is_function(const struct cn_rec_image *image, const Elf64_Rela *rela)
{
    const Elf64_Sym *symbol = &image->symbols[ELF64_R_SYM(rela->r_info)];

    return ELF64_R_TYPE(rela->r_info) == CN_REC_GLOB_DAT && rela->r_addend == 0 &&
           ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_shndx == SHN_UNDEF &&
           !cn_rec_libcall_is_left_out(image->names + symbol->st_name) &&
           *(const uintptr_t *)(image->bias + rela->r_offset) != 0;
}

static uint32_t count_functions(const struct cn_rec_image *image, uint64_t *low,
                                uint64_t *high)
{
    uint32_t count = 0;

    *low = UINT64_MAX;
    *high = 0;
    for (size_t i = 0; i < image->rela_count; i++) {
        uint64_t at = image->relas[i].r_offset;

        if (!is_function(image, &image->relas[i]))
            continue;
        *low = at < *low ? at : *low;
        *high = at + sizeof(uintptr_t) > *high ? at + sizeof(uintptr_t) : *high;
        count++;
    }
    return count;
}

static bool map_lists(struct cn_rec_got *got, uint64_t rela_count, uint64_t slot_count)
{
    uint64_t len = slot_count * (sizeof(*got->targets) + 1);

    got->mapped_len = len + rela_count * sizeof(*got->relas) + sizeof(*got->relas);
    got->mapped = cn_rec_map(got->mapped_len);
    if (!got->mapped)
        return false;
    got->targets = got->mapped;
    got->relas = (uint32_t *)(void *)(got->targets + slot_count);
    got->slots.uses = (uint8_t *)(got->relas + rela_count);
    return true;
}

static uint8_t use_of(const struct cn_rec_got *got, const struct cn_rec_image *image,
                      const Elf64_Rela *rela)
{
    return is_function(image, rela)
               ? got->slots.uses[(image->bias + rela->r_offset - got->slots.low) /
                                 sizeof(uintptr_t)]
               : 0;
}

/* List the slots that are used in this way after the first `count`; returns how many. */
static uint32_t take(struct cn_rec_got *got, const struct cn_rec_image *image,
                     uint32_t count, enum got_how how)
{
    uint32_t first = count;

    for (size_t i = 0; i < image->rela_count; i++) {
        uint8_t use = use_of(got, image, &image->relas[i]);
        bool is_called = use & (CN_REC_USE_CALL | CN_REC_USE_JUMP);
        bool is_other = use & CN_REC_USE_OTHER;

        if (is_called == (how != ONLY_OTHER) && is_other == (how != ONLY_CALLED) && use)
            got->relas[count++] = (uint32_t)i;
    }
    return count - first;
}

static bool is_without_plt(const struct cn_rec_got *got, const struct cn_rec_image *image)
{
    size_t i = 0;

    while (i < image->rela_count &&
           !(use_of(got, image, &image->relas[i]) & CN_REC_USE_CALL))
        i++;
    return i < image->rela_count;
}

void cn_rec_got_begin(struct cn_rec_got *got, const struct cn_rec_image *image)
{
    uint64_t low, high, slot_count;

    *got = (struct cn_rec_got){0};
    if (!image->symbols || !image->names || image->code_count != 1)
        return;
    uint32_t count = count_functions(image, &low, &high);
    slot_count = count > 0 ? (high - low) / sizeof(uintptr_t) : 0;
    if (count == 0 || slot_count > SLOTS_MAX || low % sizeof(uintptr_t) != 0 ||
        !map_lists(got, count, slot_count))
        return;
    got->slots.low = image->bias + low;
    got->slots.high = image->bias + high;
    got->slots.base = image->got;
    cn_rec_machine_find_uses(image->code_low, image->code_high, &got->slots);
    got->count = take(got, image, 0, ONLY_CALLED);
    got->mixed_count = take(got, image, got->count, MIXED);
    if (is_without_plt(got, image))
        got->other_count = take(got, image, got->count + got->mixed_count, ONLY_OTHER);
}

void cn_rec_got_done(struct cn_rec_got *got)
{
    if (got->mapped)
        (void)cn_rec_syscall3(SYS_munmap, (long)got->mapped, (long)got->mapped_len, 0);
    *got = (struct cn_rec_got){0};
}
