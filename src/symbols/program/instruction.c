#include "symbols/program/instruction.h"

#include "base/bytes/record.h"

#ifdef CN_HAS_CAPSTONE
#include "symbols/program/capstone.h"
#endif

enum { ARM_LEN = 4 };

bool cn_instructions_open(struct cn_instructions *reader, bool is_x86)
{
    *reader = (struct cn_instructions){.is_x86 = is_x86};
    if (!is_x86)
        return true;
#ifdef CN_HAS_CAPSTONE
    const struct cn_capstone *capstone = cn_capstone();
    csh disassembler;

    if (!capstone || capstone->open(CS_ARCH_X86, CS_MODE_64, &disassembler) != CS_ERR_OK)
        return false;
    reader->disassembler = disassembler;
    reader->scratch = capstone->malloc(disassembler);
    return true;
#else
    return false;
#endif
}

void cn_instructions_close(struct cn_instructions *reader)
{
#ifdef CN_HAS_CAPSTONE
    if (reader->scratch) {
        csh disassembler = reader->disassembler;

        cn_capstone()->free(reader->scratch, 1);
        (void)cn_capstone()->close(&disassembler);
    }
#endif
    *reader = (struct cn_instructions){0};
}

static uint64_t relative(uint32_t next, uint32_t bits, unsigned width)
{
    uint64_t sign = UINT64_C(1) << (width - 1);

    return next + (((uint64_t)bits ^ sign) - sign);
}

static void set_jump(struct cn_instruction *out, uint64_t target, bool is_always)
{
    out->has_target = true;
    out->target = target;
    out->is_end = is_always;
}

static void set_call(struct cn_instruction *out, uint64_t target)
{
    out->is_call = true;
    out->target = target;
}

#ifdef CN_HAS_CAPSTONE
static bool is_prefix(uint8_t byte)
{
    return byte == 0x2e || byte == 0x3e || byte == 0x66 || byte == 0xf2 || byte == 0xf3 ||
           (byte & 0xf0) == 0x40;
}

/* Jumps by their opcodes; all others continue with the next instruction. */
static void read_x86(const uint8_t *bytes, uint32_t len, uint32_t off,
                     struct cn_instruction *out)
{
    uint32_t at = 0, next = off + len;

    while (at + 1 < len && is_prefix(bytes[at]))
        at++;
    if ((bytes[at] & 0xf0) == 0x70 || (bytes[at] & 0xfc) == 0xe0)
        set_jump(out, relative(next, bytes[len - 1], 8), false);
    else if (bytes[at] == 0xeb)
        set_jump(out, relative(next, bytes[len - 1], 8), true);
    else if (bytes[at] == 0xe8 && len >= 5)
        set_call(out, relative(next, cn_u32_get(bytes + len - 4), 32));
    else if (bytes[at] == 0xe9 && len >= 5)
        set_jump(out, relative(next, cn_u32_get(bytes + len - 4), 32), true);
    else if (bytes[at] == 0x0f && len - at == 6 && (bytes[at + 1] & 0xf0) == 0x80)
        set_jump(out, relative(next, cn_u32_get(bytes + len - 4), 32), false);
    else
        out->is_end = bytes[at] == 0xc3 || bytes[at] == 0xc2 || bytes[at] == 0xf4 ||
                      (bytes[at] == 0x0f && len - at == 2 && bytes[at + 1] == 0x0b) ||
                      (bytes[at] == 0xff && at + 1 < len &&
                       ((bytes[at + 1] >> 3 & 7) == 4 || (bytes[at + 1] >> 3 & 7) == 5));
}
#endif

static void read_arm(uint32_t word, uint32_t off, struct cn_instruction *out)
{
    if ((word & 0xfc000000) == 0x14000000)
        set_jump(out, relative(off, (word & 0x3ffffff) << 2, 28), true);
    else if ((word & 0xfc000000) == 0x94000000)
        set_call(out, relative(off, (word & 0x3ffffff) << 2, 28));
    else if ((word & 0xff000000) == 0x54000000 || (word & 0x7e000000) == 0x34000000)
        set_jump(out, relative(off, (word >> 5 & 0x7ffff) << 2, 21), false);
    else if ((word & 0x7e000000) == 0x36000000)
        set_jump(out, relative(off, (word >> 5 & 0x3fff) << 2, 16), false);
    else /* br, ret, and traps */
        out->is_end = (word & 0xfffffc1f) == 0xd61f0000 ||
                      (word & 0xfffffc1f) == 0xd65f0000 ||
                      (word & 0xffe0001f) == 0xd4200000 || (word & 0xffff0000) == 0;
}

bool cn_instruction_decode(struct cn_instructions *reader, struct cn_bytes code,
                           uint32_t off, struct cn_instruction *out)
{
    struct cn_bytes rest;

    *out = (struct cn_instruction){0};
    if (!cn_bytes_from(code, off, &rest) || rest.len == 0)
        return false;
    if (!reader->is_x86) {
        if (rest.len < ARM_LEN)
            return false;
        out->len = ARM_LEN;
        read_arm(cn_u32_get(rest.ptr), off, out);
        return true;
    }
#ifdef CN_HAS_CAPSTONE
    const uint8_t *at = rest.ptr;
    size_t len = rest.len;
    uint64_t address = off;
    cs_insn *found = reader->scratch;

    if (!cn_capstone()->disasm_iter(reader->disassembler, &at, &len, &address, found))
        return false;
    out->len = found->size;
    read_x86(rest.ptr, out->len, off, out);
    return true;
#else
    return false;
#endif
}
