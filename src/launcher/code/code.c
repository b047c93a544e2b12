#include "launcher/code/code.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"

void cn_code_add_section(struct cn_code *code, const struct cn_code_section *section)
{
    CN_PUSH(code->sections, code->section_count, code->section_capacity, *section);
}

void cn_code_add_address(struct cn_code_addresses *addresses, uint64_t address)
{
    CN_PUSH(addresses->list, addresses->count, addresses->capacity, address);
}

/* Compares the first member of an element, an address. */
static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

_Static_assert(offsetof(struct cn_code_section, address) == 0 &&
                   offsetof(struct cn_code_frame, start) == 0,
               "compare() reads it");

static void sort(void *list, size_t count, size_t size)
{
    if (count > 0)
        qsort(list, count, size, compare);
}

void cn_code_sort(struct cn_code *code)
{
    sort(code->sections, code->section_count, sizeof(*code->sections));
    sort(code->frames, code->frame_count, sizeof(*code->frames));
    sort(code->labels.list, code->labels.count, sizeof(uint64_t));
    sort(code->sleds.list, code->sleds.count, sizeof(uint64_t));
}

/* The number of elements whose address is at most `address`. */
static size_t count_up_to(const void *list, size_t count, size_t size, uint64_t address)
{
    return cn_search_u64(list, count, size, address);
}

const struct cn_code_section *cn_code_section_at(const struct cn_code *code,
                                                 uint64_t address)
{
    size_t i = count_up_to(code->sections, code->section_count, sizeof(*code->sections),
                           address);

    return i > 0 && address - code->sections[i - 1].address <
                        code->sections[i - 1].bytes.len
               ? &code->sections[i - 1]
               : NULL;
}

const uint8_t *cn_code_bytes(const struct cn_code *code, uint64_t address, uint64_t len)
{
    const struct cn_code_section *section = cn_code_section_at(code, address);
    struct cn_bytes bytes;

    return section &&
                   cn_bytes_slice(section->bytes, address - section->address, len, &bytes)
               ? bytes.ptr
               : NULL;
}

const struct cn_code_frame *cn_code_frame_at(const struct cn_code *code, uint64_t address)
{
    size_t i =
        count_up_to(code->frames, code->frame_count, sizeof(*code->frames), address);

    return i > 0 && address < code->frames[i - 1].end ? &code->frames[i - 1] : NULL;
}

uint64_t cn_code_next(const struct cn_code_addresses *addresses, uint64_t address)
{
    size_t i = cn_search_below_u64(addresses->list, addresses->count,
                                   sizeof(*addresses->list), address);

    return i < addresses->count ? addresses->list[i] : UINT64_MAX;
}

void cn_code_done(struct cn_code *code)
{
    free(code->sections);
    free(code->frames);
    free(code->labels.list);
    free(code->pointers.list);
    free(code->sleds.list);
    *code = (struct cn_code){0};
}
