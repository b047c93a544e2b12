#include "launcher/hook_calls.h"

#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/bytes/record.h"

enum { SLOTS_MAX = 8, CODES_MAX = 16 };

struct code {
    uint64_t address, len;
    const uint8_t *bytes;
};

struct cn_hook_calls {
    int fd;
    Elf *elf;
    unsigned machine;
    uint64_t base;
    uint64_t slots[SLOTS_MAX]; /* that hold the addresses of hooks */
    size_t slot_count;
    struct code codes[CODES_MAX];
    size_t code_count;
};

static bool is_hook(unsigned machine, const char *name)
{
    return strcmp(name, "__cyg_profile_func_enter") == 0 ||
           (machine == EM_AARCH64 &&
            (strcmp(name, "_mcount") == 0 || strcmp(name, "mcount") == 0));
}

static void take_slots(struct cn_hook_calls *calls, Elf_Scn *section,
                       const GElf_Shdr *head)
{
    Elf_Data *data = elf_getdata(section, NULL);
    Elf_Scn *symbols = elf_getscn(calls->elf, head->sh_link);
    Elf_Data *symbol_data = symbols ? elf_getdata(symbols, NULL) : NULL;
    size_t count = head->sh_entsize ? head->sh_size / head->sh_entsize : 0;
    GElf_Shdr symbol_head;

    if (!data || !symbol_data || !gelf_getshdr(symbols, &symbol_head))
        return;
    for (size_t i = 0; i < count && i <= INT_MAX && calls->slot_count < SLOTS_MAX; i++) {
        GElf_Rela rela;
        GElf_Sym symbol;
        const char *name;

        if (!gelf_getrela(data, (int)i, &rela) || GELF_R_SYM(rela.r_info) == 0 ||
            !gelf_getsym(symbol_data, (int)GELF_R_SYM(rela.r_info), &symbol))
            continue;
        name = elf_strptr(calls->elf, symbol_head.sh_link, symbol.st_name);
        if (name && is_hook(calls->machine, name))
            calls->slots[calls->slot_count++] = rela.r_offset;
    }
}

static void take_code(struct cn_hook_calls *calls, Elf_Scn *section,
                      const GElf_Shdr *head)
{
    Elf_Data *data = elf_rawdata(section, NULL);

    if (data && data->d_buf && calls->code_count < CODES_MAX)
        calls->codes[calls->code_count++] =
            (struct code){head->sh_addr, data->d_size, data->d_buf};
}

static void walk_sections(struct cn_hook_calls *calls)
{
    Elf_Scn *section = NULL;
    GElf_Shdr head;

    while ((section = elf_nextscn(calls->elf, section))) {
        if (!gelf_getshdr(section, &head))
            continue;
        if (head.sh_type == SHT_RELA)
            take_slots(calls, section, &head);
        else if (head.sh_type == SHT_PROGBITS && (head.sh_flags & SHF_EXECINSTR))
            take_code(calls, section, &head);
    }
}

static void find_base(struct cn_hook_calls *calls)
{
    size_t count = 0;

    (void)elf_getphdrnum(calls->elf, &count);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;

        if (gelf_getphdr(calls->elf, (int)i, &segment) && segment.p_type == PT_LOAD) {
            calls->base = segment.p_vaddr - segment.p_offset;
            return;
        }
    }
}

struct cn_hook_calls *cn_hook_calls_open(const char *path)
{
    struct cn_hook_calls *calls = cn_alloc(1, sizeof(*calls));
    GElf_Ehdr head;

    calls->fd = open(path, O_RDONLY | O_CLOEXEC);
    (void)elf_version(EV_CURRENT);
    if (calls->fd >= 0)
        calls->elf = elf_begin(calls->fd, ELF_C_READ_MMAP, NULL);
    if (calls->elf && gelf_getehdr(calls->elf, &head)) {
        calls->machine = head.e_machine;
        find_base(calls);
        walk_sections(calls);
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
    (void)elf_end(calls->elf);
    if (calls->fd >= 0)
        (void)close(calls->fd);
    free(calls);
}

/* The bytes at an address; NULL unless there are `len` of them. */
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
    uint32_t adrp, load;
    uint64_t page;

    if (bytes && cn_u32_get(bytes) == 0xd503245f) {
        bytes += 4;
        address += 4;
    }
    if (!bytes)
        return false;
    adrp = cn_u32_get(bytes);
    load = cn_u32_get(bytes + 4);
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
    uint64_t at = calls->base + offset, found;

    if (size > UINT32_MAX || at + size < at)
        return 0;
    found = calls->machine == EM_X86_64 ? find_x86(calls, at, at + size)
                                        : find_arm(calls, at, at + size);
    return found ? found - calls->base : 0;
}
