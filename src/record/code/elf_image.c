#include "record/code/elf_image.h"

#include "record/shared.h"

/* The loader relocates most addresses in the section. */
static uintptr_t address_of(const struct cn_rec_image *image, uint64_t value)
{
    return value < image->low ? image->bias + value : value;
}

static void read_dynamic(struct cn_rec_image *image, const Elf64_Dyn *entry)
{
    uint64_t slots_len = 0, relas_len = 0;

    for (; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_JMPREL)
            image->slots = (const Elf64_Rela *)address_of(image, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_PLTRELSZ)
            slots_len = entry->d_un.d_val;
        else if (entry->d_tag == DT_RELA)
            image->relas = (const Elf64_Rela *)address_of(image, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_RELASZ)
            relas_len = entry->d_un.d_val;
        else if (entry->d_tag == DT_SYMTAB)
            image->symbols = (const Elf64_Sym *)address_of(image, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_PLTGOT)
            image->got = address_of(image, entry->d_un.d_ptr);
        else if (entry->d_tag == DT_STRTAB)
            image->names = (const char *)address_of(image, entry->d_un.d_ptr);
    }
    if (!image->symbols || !image->names)
        image->slots = NULL;
    image->slot_count = image->slots ? slots_len / sizeof(Elf64_Rela) : 0;
    image->rela_count = image->relas ? relas_len / sizeof(Elf64_Rela) : 0;
}

static void read_segment(struct cn_rec_image *image, const Elf64_Phdr *segment)
{
    uintptr_t start = image->bias + segment->p_vaddr, end = start + segment->p_memsz;
    uintptr_t page_mask = ~(uintptr_t)(CN_REC_PAGE_LEN - 1);

    if (segment->p_type == PT_LOAD) {
        image->low = image->high == 0 ? start & page_mask : image->low;
        image->high = end;
    }
    if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X)) {
        image->code_low = start;
        image->code_high = end;
        if (image->code_count < CN_REC_CODES_MAX)
            image->codes[image->code_count] = (struct cn_rec_code){start, end};
        image->code_count++;
    }
    if (segment->p_type == PT_GNU_RELRO) {
        image->relro_low = start & page_mask;
        image->relro_high = end & page_mask;
    }
}

void cn_rec_image_read(struct cn_rec_image *image, uintptr_t bias,
                       const Elf64_Phdr *segments, size_t count)
{
    *image = (struct cn_rec_image){.bias = bias};
    for (size_t i = 0; i < count; i++)
        read_segment(image, &segments[i]);
    for (size_t i = 0; i < count; i++) {
        if (segments[i].p_type == PT_DYNAMIC)
            read_dynamic(image, (const Elf64_Dyn *)(bias + segments[i].p_vaddr));
    }
}
