/* What machine code at an address does, for code without call frame information. */

#include "unwind/space.h"

enum {
    CODE_LEN = 16,
    ABOVE_LEN = 8,
    BEFORE_LEN = 8,
    ARM_SEARCH_LEN = 1024,
    TRAMPOLINE_SEARCH_LEN = 1 << 14
};

/* mov $15,%rax; syscall */
static const uint8_t x86_sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
/* mov x8, #139; svc #0 */
static const uint8_t arm_sigreturn[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4};
static const uint8_t x86_endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};

static bool begins_with(struct cn_bytes code, const uint8_t *bytes, size_t len)
{
    return code.len >= len && memcmp(code.ptr, bytes, len) == 0;
}

/* mov %rsp,%rbp in its two encodings, which compilers move after other instructions. */
static bool makes_frame(struct cn_bytes code)
{
    for (size_t i = 0; code.len - i >= 3; i++)
        if (code.ptr[i] == 0x48 &&
            ((code.ptr[i + 1] == 0x89 && code.ptr[i + 2] == 0xe5) ||
             (code.ptr[i + 1] == 0x8b && code.ptr[i + 2] == 0xec)))
            return true;
    return false;
}

/* What is found here is checked: a return address must be where it says. */
static enum cn_unwind_code x86_code(struct cn_bytes code, const uint8_t before[ABOVE_LEN])
{
    enum { PUSH_RBP = 0x55, RET = 0xc3 };

    if (begins_with(code, x86_sigreturn, sizeof(x86_sigreturn)))
        return CN_UNWIND_CODE_TRAMPOLINE;
    if (before[ABOVE_LEN - 2] == 0x0f && before[ABOVE_LEN - 1] == 0x05)
        return CN_UNWIND_CODE_AFTER_SYSCALL;
    if (code.ptr[0] == RET || code.ptr[0] == PUSH_RBP ||
        begins_with(code, x86_endbr, sizeof(x86_endbr)))
        return CN_UNWIND_CODE_AT_ENTRY;
    return memchr(before, PUSH_RBP, ABOVE_LEN) && makes_frame(code)
               ? CN_UNWIND_CODE_AFTER_PUSH
               : CN_UNWIND_CODE_ORDINARY;
}

static enum cn_unwind_code arm_code(struct cn_bytes code, const uint8_t before[ABOVE_LEN])
{
    static const uint8_t svc[] = {0x01, 0, 0, 0xd4};

    if (begins_with(code, arm_sigreturn, sizeof(arm_sigreturn)))
        return CN_UNWIND_CODE_TRAMPOLINE;
    return memcmp(before + ABOVE_LEN - sizeof(svc), svc, sizeof(svc)) == 0
               ? CN_UNWIND_CODE_AFTER_SYSCALL
               : CN_UNWIND_CODE_ORDINARY;
}

bool cn_unwind_mapping_trampoline(const struct cn_unwind_mapping *mapping,
                                  uint64_t *file_off)
{
    uint8_t code[sizeof(arm_sigreturn)];

    for (uint64_t off = 0; off < TRAMPOLINE_SEARCH_LEN; off += 4) {
        if (cn_unwind_module_read(mapping->module, off, code, sizeof(code)) <
            sizeof(code))
            return false;
        if (memcmp(code, arm_sigreturn, sizeof(code)) == 0) {
            *file_off = off;
            return true;
        }
    }
    return false;
}

enum cn_unwind_code cn_unwind_code_at(struct cn_unwind_point *point,
                                      enum cn_unwind_machine machine)
{
    uint8_t bytes[ABOVE_LEN + CODE_LEN];
    struct cn_bytes code = {bytes + ABOVE_LEN, 0};

    if (point->code != CN_UNWIND_CODE_UNSEEN)
        return (enum cn_unwind_code)point->code;
    size_t len = point->module && point->file_off >= ABOVE_LEN
                     ? cn_unwind_module_read(point->module, point->file_off - ABOVE_LEN,
                                             bytes, sizeof(bytes))
                     : 0;
    code.len = len > ABOVE_LEN ? len - ABOVE_LEN : 0;
    if (code.len == 0)
        point->code = CN_UNWIND_CODE_UNREADABLE;
    else if (machine == CN_UNWIND_X86_64)
        point->code = (uint8_t)x86_code(code, bytes);
    else
        point->code = (uint8_t)arm_code(code, bytes);
    return (enum cn_unwind_code)point->code;
}

/* call to a relative address, or ff /2 with each length of its operand. */
static bool is_x86_call(const uint8_t before[BEFORE_LEN])
{
    static const unsigned lengths[] = {2, 3, 4, 6, 7};

    if (before[BEFORE_LEN - 5] == 0xe8)
        return true;
    for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
        const uint8_t *at = before + BEFORE_LEN - lengths[i];

        if (at[0] == 0xff && (at[1] >> 3 & 7) == 2)
            return true;
    }
    return false;
}

/* bl, or blr with or without authentication. */
static bool is_arm_call(const uint8_t before[BEFORE_LEN])
{
    uint32_t code = cn_u32_get(before + BEFORE_LEN - 4);

    return (code & 0xfc000000) == 0x94000000 || (code & 0xfefff000) == 0xd63f0000;
}

bool cn_unwind_is_after_call(struct cn_unwind_point *point,
                             enum cn_unwind_machine machine)
{
    uint8_t before[BEFORE_LEN];

    if (point->code_before == CN_UNWIND_CODE_UNSEEN) {
        if (!point->module || point->file_off + 1 < BEFORE_LEN ||
            cn_unwind_module_read(point->module, point->file_off + 1 - BEFORE_LEN, before,
                                  BEFORE_LEN) < BEFORE_LEN)
            point->code_before = CN_UNWIND_CODE_UNREADABLE;
        else if (machine == CN_UNWIND_X86_64 ? is_x86_call(before) : is_arm_call(before))
            point->code_before = CN_UNWIND_CODE_AFTER_CALL;
        else
            point->code_before = CN_UNWIND_CODE_ORDINARY;
    }
    return point->module && point->code_before != CN_UNWIND_CODE_ORDINARY;
}

/* The signed distance of stp and ldp, in bytes. */
static int64_t pair_distance(uint32_t word)
{
    int64_t units = word >> 15 & 0x7f;

    return 8 * (units < 64 ? units : units - 128);
}

/* An entry of the PLT: up to its jump nothing changes but x16 and x17. */
static bool is_in_arm_plt(const struct cn_unwind_point *point)
{
    const uint32_t jump = 0xd61f0220;      /* br x17 */
    const uint32_t landing = 0xd503245f;   /* bti c */
    const uint32_t authentic = 0xd503219f; /* autia1716 */
    const uint32_t offset_mask = 0xffc003ff;
    uint8_t code[20];
    size_t len = point->module ? cn_unwind_module_read(point->module, point->file_off,
                                                       code, sizeof(code))
                               : 0;

    for (size_t at = 0; at + 4 <= len; at += 4) {
        uint32_t word = cn_u32_get(code + at);

        if (word == jump)
            return true;
        if ((word & 0x9f00001f) != 0x90000010 &&  /* adrp x16 */
            (word & offset_mask) != 0xf9400211 && /* ldr x17, [x16, #...] */
            (word & offset_mask) != 0x91000210 && /* add x16, x16, #... */
            word != landing && word != authentic)
            return false;
    }
    return false;
}

/* The frame that code has made before an instruction of it. */
static bool frame_at(const uint8_t *code, size_t at, uint64_t *len)
{
    const uint32_t paciasp = 0xd503233f, pair_mask = 0xffc07fff;
    const uint32_t push = 0xa9807bfd; /* stp x29, x30, [sp, #-len]! */
    const uint32_t pop = 0xa8c07bfd;  /* ldp x29, x30, [sp], #len */
    bool is_after_return = false;

    *len = 0;
    if (cn_u32_get(code + at) == paciasp)
        return true;
    for (size_t end = at > ARM_SEARCH_LEN ? at - ARM_SEARCH_LEN : 0; at > end; at -= 4) {
        uint32_t word = cn_u32_get(code + at - 4);

        if (word == paciasp || ((word & pair_mask) == pop && !is_after_return))
            return true;
        if ((word & pair_mask) == push) {
            *len = (uint64_t)-pair_distance(word);
            return pair_distance(word) < 0;
        }
        /* ret, with or without authentication */
        is_after_return |= (word & 0xfffff3e0) == 0xd65f03c0 || word == 0xd65f0bff;
    }
    return false;
}

bool cn_unwind_arm_frame(const struct cn_unwind_point *point, uint64_t *len)
{
    uint8_t code[ARM_SEARCH_LEN + 4];
    uint64_t before = point->file_off < ARM_SEARCH_LEN ? point->file_off & ~UINT64_C(3)
                                                       : ARM_SEARCH_LEN;

    *len = 0;
    if (!point->module || cn_unwind_module_read(point->module, point->file_off - before,
                                                code, (size_t)before + 4) < before + 4)
        return false;
    return is_in_arm_plt(point) || frame_at(code, (size_t)before, len);
}

bool cn_unwind_arm_frame_in(struct cn_bytes code, size_t at, uint64_t *len)
{
    struct cn_bytes near;

    /* Handlers return to its first instruction, which is looked up by the byte before. */
    for (size_t i = at < 4 ? at : at - 4; i <= at + 4; i += 4)
        if (cn_bytes_slice(code, i, sizeof(arm_sigreturn), &near) &&
            memcmp(near.ptr, arm_sigreturn, sizeof(arm_sigreturn)) == 0)
            return false;
    return cn_bytes_slice(code, at, 4, &near) && frame_at(code.ptr, at, len);
}
