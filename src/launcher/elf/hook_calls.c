#include "launcher/elf/file.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/record.h"
#include "launcher/elf/reader.h"

enum { SLOTS_MAX = 8, CODES_MAX = 16 };

struct code {
    uint64_t address, len;
    const uint8_t *bytes;
};

struct cn_hook_calls {
    struct cn_elf_reader reader;
    uint64_t slots[SLOTS_MAX]; /* addresses of GOT slots that point to hooks */
    size_t slot_count;
    struct code codes[CODES_MAX];
    size_t code_count;
};

static void take_slot(void *arg, const GElf_Rela *relocation, const GElf_Sym *symbol,
                      const char *name)
{
    struct cn_hook_calls *calls = arg;
    bool is_hook = strcmp(name, "__cyg_profile_func_enter") == 0 ||
                   (calls->reader.head.e_machine == EM_AARCH64 &&
                    (strcmp(name, "_mcount") == 0 || strcmp(name, "mcount") == 0));

    (void)symbol;
    if (is_hook && calls->slot_count < SLOTS_MAX)
        calls->slots[calls->slot_count++] = relocation->r_offset;
}

struct cn_hook_calls *cn_hook_calls_open(const char *path)
{
    struct cn_hook_calls *calls = cn_alloc(1, sizeof(*calls));
    bool ok = cn_elf_reader_open(&calls->reader, path);
    Elf_Scn *section = NULL;
    GElf_Shdr head;

    while (ok && (section = elf_nextscn(calls->reader.elf, section))) {
        if (!gelf_getshdr(section, &head))
            continue;
        if (head.sh_type == SHT_RELA)
            cn_elf_relocations_walk(&calls->reader, section, take_slot, calls);
        if (head.sh_type != SHT_PROGBITS || !(head.sh_flags & SHF_EXECINSTR))
            continue;
        Elf_Data *data = elf_rawdata(section, NULL);
        if (data && data->d_buf && calls->code_count < CODES_MAX)
            calls->codes[calls->code_count++] =
                (struct code){head.sh_addr, data->d_size, data->d_buf};
    }
    if (calls->slot_count > 0)
        return calls;
    cn_hook_calls_close(calls);
    return NULL;
}

void cn_hook_calls_close(struct cn_hook_calls *calls)
{
    if (!calls)
        return;
    cn_elf_reader_close(&calls->reader);
    free(calls);
}

/* The `len` bytes at an address; NULL when they are not all in a section. */
static const uint8_t *bytes_at(const struct cn_hook_calls *calls, uint64_t address,
                               uint64_t len)
{
    for (size_t i = 0; i < calls->code_count; i++) {
        const struct code *code = &calls->codes[i];

        if (address >= code->address && address - code->address < code->len &&
            code->len - (address - code->address) >= len)
            return code->bytes + (address - code->address);
    }
    return NULL;
}

static bool is_slot(const struct cn_hook_calls *calls, uint64_t address)
{
    for (size_t i = 0; i < calls->slot_count; i++) {
        if (calls->slots[i] == address)
            return true;
    }
    return false;
}

static uint64_t relative(uint64_t address, uint32_t distance)
{
    return address + (uint64_t)(int64_t)(int32_t)distance;
}

/* endbr64, and a jump through a slot, which may have a prefix. */
static bool is_x86_stub(const struct cn_hook_calls *calls, uint64_t address)
{
    static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
    const uint8_t *bytes = bytes_at(calls, address, 11);

    if (bytes && memcmp(bytes, endbr, sizeof(endbr)) == 0) {
        bytes += sizeof(endbr);
        address += sizeof(endbr);
    }
    if (bytes && bytes[0] == 0xf2) {
        bytes++;
        address++;
    }
    return bytes && bytes[0] == 0xff && bytes[1] == 0x25 &&
           is_slot(calls, relative(address + 6, cn_u32_get(bytes + 2)));
}

static uint64_t find_x86(const struct cn_hook_calls *calls, uint64_t at, uint64_t end)
{
    for (; at + 6 <= end; at++) {
        const uint8_t *bytes = bytes_at(calls, at, 6);

        if (!bytes)
            return 0;
        if (bytes[0] == 0xe8 &&
            is_x86_stub(calls, relative(at + 5, cn_u32_get(bytes + 1))))
            return at + 5;
        if (bytes[0] == 0xff && bytes[1] == 0x15 &&
            is_slot(calls, relative(at + 6, cn_u32_get(bytes + 2))))
            return at + 6;
    }
    return 0;
}

/* adrp x16, page; ldr x17, [x16, low]; a landing pad may come first. */
static bool is_arm_stub(const struct cn_hook_calls *calls, uint64_t address)
{
    const uint8_t *bytes = bytes_at(calls, address, 12);
    uint64_t page;

    if (bytes && cn_u32_get(bytes) == 0xd503245f) {
        bytes += 4;
        address += 4;
    }
    if (!bytes)
        return false;
    uint32_t adrp = cn_u32_get(bytes);
    uint32_t load = cn_u32_get(bytes + 4);
    if ((adrp & 0x9f00001f) != 0x90000010 || (load & 0xffc003ff) != 0xf9400211)
        return false;
    page = (uint64_t)(adrp >> 29 & 3) | (uint64_t)(adrp >> 5 & 0x7ffff) << 2;
    page = (page ^ 0x100000) - 0x100000; /* 21 bits with a sign */
    return is_slot(calls, (address & ~(uint64_t)0xfff) + (page << 12) +
                              (uint64_t)(load >> 10 & 0xfff) * 8);
}

static uint64_t find_arm(const struct cn_hook_calls *calls, uint64_t at, uint64_t end)
{
    for (; at + 4 <= end; at += 4) {
        const uint8_t *bytes = bytes_at(calls, at, 4);
        uint64_t distance;

        if (!bytes)
            return 0;
        if (cn_u32_get(bytes) >> 26 != 0x25)
            continue;
        distance = cn_u32_get(bytes) & 0x3ffffff;
        distance = ((distance ^ 0x2000000) - 0x2000000) << 2;
        if (is_arm_stub(calls, at + distance))
            return at + 4;
    }
    return 0;
}

uint64_t cn_hook_calls_find(const struct cn_hook_calls *calls, uint64_t offset,
                            uint64_t size)
{
    uint64_t at = calls->reader.base + offset, found;

    if (size > UINT32_MAX || at + size < at)
        return 0;
    found = calls->reader.head.e_machine == EM_X86_64 ? find_x86(calls, at, at + size)
                                                      : find_arm(calls, at, at + size);
    return found ? found - calls->reader.base : 0;
}
