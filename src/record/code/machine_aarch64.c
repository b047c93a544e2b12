#include "record/code/machine.h"

#include <string.h>

#include "record/shared.h"

#define NOP         0xd503201fu
#define BTI_C       0xd503245fu
#define BTI_J       0xd503249fu
#define RET         0xd65f03c0u
#define LDP_X29_X30 0xa8c17bfdu /* ldp x29, x30, [sp], #16 */

static void put(uint8_t *at, uint32_t instruction)
{
    memcpy(at, &instruction, sizeof(instruction));
}

static uint32_t get(const uint8_t *at)
{
    uint32_t instruction;

    memcpy(&instruction, at, sizeof(instruction));
    return instruction;
}

/* ldr x16, .+8; br x16 */
void cn_rec_machine_jump(uint8_t *at, uintptr_t target)
{
    put(at, 0x58000050);
    put(at + 4, 0xd61f0200);
    memcpy(at + 8, &target, sizeof(target));
}

/* bti c; movz x17, low; movk x17, high; b to the beginning */
uintptr_t cn_rec_machine_slot_stub(uint8_t *stubs, uint32_t index, uint32_t number)
{
    uint8_t *at = stubs + CN_REC_STUB_LEN * ((size_t)index + 1);
    int64_t back = (stubs - (at + 12)) / 4;

    put(at, BTI_C);
    put(at + 4, 0xd2800011 | (number & 0xffff) << 5);
    put(at + 8, 0xf2a00011 | (number >> 16) << 5);
    put(at + 12, 0x14000000 | ((uint32_t)back & 0x3ffffff));
    return (uintptr_t)at;
}

/* Write a branch. */
static bool put_branch(uint8_t *at, uintptr_t target)
{
    int64_t distance = ((int64_t)target - (int64_t)(uintptr_t)at) / 4;

    if (distance < -(1 << 25) || distance >= 1 << 25)
        return false;
    put(at, 0x14000000 | ((uint32_t)distance & 0x3ffffff));
    return true;
}

/* Write a stub and a branch to it at `at`: ldr x17, .+8; b to the beginning; address of the
 * body, whose first nop becomes a landing place for its indirect call. */
static bool put_stub(uint8_t *at, uint8_t *body, struct cn_rec_stubs *stubs)
{
    uint8_t *stub = stubs->at + CN_REC_STUB_LEN * (stubs->count + 1);

    if (stubs->count == stubs->max)
        return false;
    put(stub, 0x58000051);
    memcpy(stub + 8, &body, sizeof(body));
    if (!put_branch(stub + 4, (uintptr_t)stubs->at))
        return false;
    __builtin___clear_cache((char *)stub, (char *)stub + CN_REC_STUB_LEN);
    put(body, BTI_C);
    if (!put_branch(at, (uintptr_t)stub))
        return false;
    stubs->count++;
    return true;
}

bool cn_rec_machine_patch(uint8_t *at, struct cn_rec_stubs *stubs)
{
    if (get(at) == BTI_C || get(at) == BTI_J)
        at += 4;
    return get(at) == NOP && get(at + 4) == NOP && put_stub(at, at + 4, stubs);
}

bool cn_rec_machine_patch_nops(uint8_t *at, size_t len, struct cn_rec_stubs *stubs)
{
    return len >= 8 && put_stub(at, at + len - 4, stubs);
}

/* ldr x17, address of the code; b to the beginning; the address; that of the function; the
 * code, which ends with branches */
bool cn_rec_machine_move(uint8_t *at, const struct cn_rec_patch *patch,
                         struct cn_rec_stubs *stubs)
{
    enum { ADDRESS_AT = 16, FUNCTION_AT = 24, CODE_AT = 32 };
    uint8_t *stub = stubs->at + CN_REC_STUB_LEN + CN_REC_MOVED_LEN * stubs->count;
    uint8_t *code = stub + CODE_AT;
    bool ok = stubs->count < stubs->max && patch->code_len <= CN_REC_MOVED_MAX;

    if (!ok)
        return false;
    put(stub, 0x58000011 | ADDRESS_AT / 4 << 5);
    memcpy(stub + ADDRESS_AT, &code, sizeof(code));
    memcpy(stub + FUNCTION_AT, &at, sizeof(at));
    memcpy(code, patch->code, patch->code_len);
    ok = put_branch(stub + 4, (uintptr_t)stubs->at);
    for (int i = 0; i < patch->fixup_count && ok; i++) {
        const struct cn_rec_fixup *fixup = &patch->fixups[i];
        uintptr_t target = (uintptr_t)at + (uintptr_t)(intptr_t)fixup->target;

        if (fixup->kind == CN_REC_FIXUP_ADDRESS)
            memcpy(code + fixup->field, &target, sizeof(target));
        else
            ok = put_branch(code + fixup->field, target);
    }
    __builtin___clear_cache((char *)stub, (char *)stub + CN_REC_MOVED_LEN);
    ok = ok && put_branch(at, (uintptr_t)stub);
    stubs->count += ok;
    return ok;
}

bool cn_rec_machine_divert(uint8_t *at, uintptr_t stub)
{
    if (get(at) == BTI_C)
        at += 4;
    return get(at) == RET && put_branch(at, stub);
}

enum { ADRP_MAX = 64, CALL_MAX = 16 }; /* instructions to search */

/* True for instructions after which another one than the next may run. */
static bool is_branch(uint32_t code)
{
    return (code & 0x7c000000) == 0x14000000 || (code & 0xff000010) == 0x54000000 ||
           (code & 0x7c000000) == 0x34000000 || (code & 0xfe000000) == 0xd6000000 ||
           (code & 0xff000000) == 0xd4000000;
}

/* True if a register may be an operand: one of the fields has its number. */
static bool has_operand(uint32_t code, uint32_t reg)
{
    return (code & 31) == reg || (code >> 5 & 31) == reg || (code >> 10 & 31) == reg ||
           (code >> 16 & 31) == reg;
}

/* True if register `reg`, which is loaded before `at`, is only called or jumped to. */
static bool is_only_called(const uint8_t *at, const uint8_t *end, uint32_t reg)
{
    for (int i = 0; i < CALL_MAX && at + 4 <= end; i++, at += 4) {
        uint32_t code = get(at);

        /* blr, br: the function may change these registers, the caller does not use
         * them again. */
        if ((code & 0xffdffc1f) == 0xd61f0000 && (code >> 5 & 31) == reg)
            return reg < 18;
        if (is_branch(code) || has_operand(code, reg))
            return false;
    }
    return false;
}

/* The page that `adrp` before `at` loads into a register; 0 when it is unknown. */
static uintptr_t find_page(const uint8_t *at, const uint8_t *start, uint32_t reg)
{
    for (int i = 0; i < ADRP_MAX && at - 4 >= start; i++) {
        uint32_t code = get(at -= 4);
        uint64_t pages = (uint64_t)(code >> 5 & 0x7ffff) << 2 | (code >> 29 & 3);

        if ((code & 0x9f00001f) == (0x90000000 | reg))
            return ((uintptr_t)at & ~(uintptr_t)0xfff) +
                   (uintptr_t)((int64_t)(pages << 43) >> 31);
        if ((code & 31) == reg)
            return 0;
    }
    return 0;
}

static void note_use(const struct cn_rec_slots *slots, uintptr_t address, uint8_t use)
{
    if (address >= slots->low && address < slots->high && address % 8 == 0)
        slots->uses[(address - slots->low) / 8] |= use;
}

/* Slots are read by ldr from a page that adrp loads, at any distance before, or relative
 * to the instruction. */
void cn_rec_machine_find_uses(uintptr_t low, uintptr_t high,
                              const struct cn_rec_slots *slots)
{
    const uint8_t *start = (const uint8_t *)((low + 3) & ~(uintptr_t)3);
    const uint8_t *end = (const uint8_t *)high;

    for (const uint8_t *at = start; at + 4 <= end; at += 4) {
        uint32_t code = get(at);
        uintptr_t off = (uintptr_t)(code >> 10 & 0xfff) * 8, page;
        uint8_t use = CN_REC_USE_OTHER;

        if ((code & 0xff000000) == 0x58000000)
            note_use(slots,
                     (uintptr_t)at +
                         (uintptr_t)((int64_t)((uint64_t)(code >> 5) << 45) >> 43),
                     use);
        if ((code & 0xffc00000) != 0xf9400000 || off > 0xff8)
            continue;
        page = find_page(at, start, code >> 5 & 31);
        if (page && is_only_called(at + 4, end, code & 31))
            use = CN_REC_USE_CALL;
        if (page)
            note_use(slots, page + off, use);
        for (page = slots->low & ~(uintptr_t)0xfff;
             use == CN_REC_USE_OTHER && page < slots->high; page += 0x1000)
            note_use(slots, page + off, use);
    }
}

/* Calls load the address into a register first, which may be far away. */
bool cn_rec_machine_redirect(uintptr_t low, uintptr_t high,
                             const struct cn_rec_slots *slots, const uintptr_t *targets)
{
    (void)low;
    (void)high;
    (void)slots;
    (void)targets;
    return false;
}

uintptr_t cn_rec_machine_find_passage(uintptr_t low, uintptr_t high)
{
    for (uintptr_t at = (low + 3) & ~(uintptr_t)3; at + 8 <= high; at += 4) {
        if (get((const uint8_t *)at) == LDP_X29_X30 &&
            get((const uint8_t *)at + 4) == RET)
            return at;
    }
    return 0;
}
