#include "record/code/machine.h"

#include <string.h>

#include "record/shared.h"

enum { BRANCH_LEN = 5, LEA_LEN = 7, JUMP_LEN = 6, ENDBR_LEN = 4, FUNCTION_LEN = 16 };

static const uint8_t endbr[ENDBR_LEN] = {0xf3, 0x0f, 0x1e, 0xfa};

void cn_rec_machine_jump(uint8_t *at, uintptr_t target)
{
    static const uint8_t jump[JUMP_LEN] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *0(%rip) */

    memcpy(at, jump, JUMP_LEN);
    memcpy(at + JUMP_LEN, &target, sizeof(target));
}

/* endbr64; push $number; jmp to the beginning */
uintptr_t cn_rec_machine_slot_stub(uint8_t *stubs, uint32_t index, uint32_t number)
{
    uint8_t *at = stubs + CN_REC_STUB_LEN * ((size_t)index + 1);
    int32_t back = (int32_t)(stubs - (at + 14));

    memcpy(at, endbr, ENDBR_LEN);
    at[4] = 0x68;
    memcpy(at + 5, &number, sizeof(number));
    at[9] = 0xe9;
    memcpy(at + 10, &back, sizeof(back));
    return (uintptr_t)at;
}

/* True if there are five nops, or one of five bytes, with any distance. */
static bool is_empty(const uint8_t *at)
{
    static const uint8_t nops[BRANCH_LEN] = {0x90, 0x90, 0x90, 0x90, 0x90};
    static const uint8_t nop[] = {0x0f, 0x1f, 0x44, 0x00};

    return memcmp(at, nops, sizeof(nops)) == 0 || memcmp(at, nop, sizeof(nop)) == 0;
}

/* Write a call or a jump of five bytes. */
static bool put_branch(uint8_t *at, uint8_t opcode, uintptr_t target)
{
    int64_t distance = (int64_t)(target - ((uintptr_t)at + BRANCH_LEN));
    int32_t near = (int32_t)distance;

    if (near != distance)
        return false;
    at[0] = opcode;
    memcpy(at + 1, &near, sizeof(near));
    return true;
}

/* Write a stub and a jump to it over the `len` bytes at `at`:
 * lea body(%rip), %r11; jmp *target(%rip), that of the first jump */
static bool put_stub(uint8_t *at, size_t len, struct cn_rec_stubs *stubs)
{
    static const uint8_t code[13] = {0x4c, 0x8d, 0x1d, 0, 0, 0, 0, 0xff, 0x25};
    uint8_t *stub = stubs->at + CN_REC_STUB_LEN * (stubs->count + 1);
    int32_t body = (int32_t)(at + len - (stub + LEA_LEN));
    int32_t target = (int32_t)(stubs->at + JUMP_LEN - (stub + sizeof(code)));

    if (stubs->count == stubs->max)
        return false;
    memcpy(stub, code, sizeof(code));
    memcpy(stub + LEA_LEN - sizeof(body), &body, sizeof(body));
    memcpy(stub + sizeof(code) - sizeof(target), &target, sizeof(target));
    if (!put_branch(at, 0xe9, (uintptr_t)stub))
        return false;
    stubs->count++;
    return true;
}

static uint8_t *skip_endbr(uint8_t *at)
{
    return memcmp(at, endbr, ENDBR_LEN) == 0 ? at + ENDBR_LEN : at;
}

bool cn_rec_machine_patch(uint8_t *at, struct cn_rec_stubs *stubs)
{
    at = skip_endbr(at);
    return is_empty(at) && put_stub(at, BRANCH_LEN, stubs);
}

bool cn_rec_machine_patch_nops(uint8_t *at, size_t len, struct cn_rec_stubs *stubs)
{
    return len >= BRANCH_LEN && put_stub(at, len, stubs);
}

/* A distance of 32 bits at `field`, from `end` to `target`. */
static bool put_distance(uint8_t *field, const uint8_t *end, uintptr_t target)
{
    int64_t distance = (int64_t)(target - (uintptr_t)end);
    int32_t near = (int32_t)distance;

    if (near != distance)
        return false;
    memcpy(field, &near, sizeof(near));
    return true;
}

/* push address of the code(%rip); jmp *target(%rip), that of the first jump; the address;
 * that of the function; the code; jmp to the rest of the function */
bool cn_rec_machine_move(uint8_t *at, const struct cn_rec_patch *patch,
                         struct cn_rec_stubs *stubs)
{
    enum { PUSH_AT = 16, FUNCTION_AT = 24, CODE_AT = 32 };
    uint8_t *stub = stubs->at + CN_REC_STUB_LEN + CN_REC_MOVED_LEN * stubs->count;
    uint8_t *code = stub + CODE_AT;
    bool ok = stubs->count < stubs->max && patch->code_len <= CN_REC_MOVED_MAX &&
              patch->len >= BRANCH_LEN;

    if (!ok)
        return false;
    stub[0] = stub[6] = 0xff;
    stub[1] = 0x35;
    stub[7] = 0x25;
    (void)put_distance(stub + 2, stub + 6, (uintptr_t)stub + PUSH_AT);
    (void)put_distance(stub + 8, stub + 12, (uintptr_t)stubs->at + JUMP_LEN);
    memcpy(stub + PUSH_AT, &code, sizeof(code));
    memcpy(stub + FUNCTION_AT, &at, sizeof(at));
    memcpy(code, patch->code, patch->code_len);
    for (int i = 0; i < patch->fixup_count && ok; i++) {
        const struct cn_rec_fixup *fixup = &patch->fixups[i];
        uintptr_t target = (uintptr_t)at + (uintptr_t)(intptr_t)fixup->target;

        if (fixup->kind == CN_REC_FIXUP_ADDRESS)
            memcpy(code + fixup->field, &target, sizeof(target));
        else
            ok = put_distance(code + fixup->field, code + fixup->end, target);
    }
    ok = ok && put_branch(code + patch->code_len, 0xe9, (uintptr_t)at + patch->len) &&
         put_branch(at, 0xe9, (uintptr_t)stub);
    stubs->count += ok;
    return ok;
}

/* The address that an instruction of `len` bytes refers to with its last four. */
static uintptr_t referred(const uint8_t *at, size_t len)
{
    int32_t distance;

    memcpy(&distance, at + len - sizeof(distance), sizeof(distance));
    return (uintptr_t)(at + len) + (uintptr_t)(intptr_t)distance;
}

/* True if the code at `at` is jmp *slot(%rip), as in a PLT. */
static bool jumps_to(uintptr_t at, const struct cn_rec_import *import)
{
    uint8_t *code;

    if (at < import->low || at >= import->high ||
        import->high - at < ENDBR_LEN + 1 + JUMP_LEN)
        return false;
    code = skip_endbr((uint8_t *)at);
    if (code[0] == 0xf2) /* bnd */
        code++;
    return code[0] == 0xff && code[1] == 0x25 && referred(code, JUMP_LEN) == import->slot;
}

bool cn_rec_machine_patch_call(uint8_t *at, const struct cn_rec_import *import,
                               struct cn_rec_stubs *stubs)
{
    at = skip_endbr(at);
    if (at[0] == 0xff && at[1] == 0x15 && referred(at, JUMP_LEN) == import->slot)
        return put_stub(at, JUMP_LEN, stubs);
    return at[0] == 0xe8 && jumps_to(referred(at, BRANCH_LEN), import) &&
           put_stub(at, BRANCH_LEN, stubs);
}

/* The length of the nop at `at`; 0 when there is none. Long nops are prefixes, 0f 1f, and
 * an operand whose first byte determines its length. */
static size_t filler_len(const uint8_t *at, size_t limit)
{
    static const uint8_t lens[8] = {[0] = 3, [1] = 4, [2] = 7, [4] = 4, [5] = 5, [6] = 8};
    size_t i = 0;

    while (i < limit && (at[i] == 0x66 || at[i] == 0x2e))
        i++;
    if (i < limit && at[i] == 0x90)
        return i + 1;
    if (limit - i < 3 || at[i] != 0x0f || at[i + 1] != 0x1f || (at[i + 2] & 0x3b) != 0)
        return 0;
    return i + lens[at[i + 2] >> 6 | (at[i + 2] & 4)];
}

bool cn_rec_machine_divert(uint8_t *at, uintptr_t stub)
{
    size_t len = 1;

    at = skip_endbr(at);
    if (at[0] != 0xc3)
        return false;
    while (len < BRANCH_LEN) {
        size_t more = filler_len(at + len, FUNCTION_LEN - ENDBR_LEN - len);

        if (more == 0)
            return false;
        len += more;
    }
    return put_branch(at, 0xe9, stub);
}

static void note_use(const struct cn_rec_slots *slots, uintptr_t address, uint8_t use)
{
    uintptr_t off = address - slots->low;

    if (off < slots->high - slots->low && off % sizeof(uintptr_t) == 0)
        slots->uses[off / sizeof(uintptr_t)] |= use;
}

static bool is_call(const uint8_t *at)
{
    return at[-2] == 0xff && (at[-1] == 0x15 || at[-1] == 0x25);
}

/* A call or jump through a slot has six bytes: become one of five, as linkers do it. */
bool cn_rec_machine_redirect(uintptr_t low, uintptr_t high,
                             const struct cn_rec_slots *slots, const uintptr_t *targets)
{
    for (uint8_t *at = (uint8_t *)low + 2; at + 4 <= (uint8_t *)high; at++) {
        int32_t distance;

        if (!is_call(at))
            continue;
        memcpy(&distance, at, sizeof(distance));
        uintptr_t off = (uintptr_t)at + 4 + (uintptr_t)(intptr_t)distance - slots->low;
        if (off >= slots->high - slots->low || off % sizeof(uintptr_t) != 0)
            continue;
        uintptr_t target = targets[off / sizeof(uintptr_t)];
        if (target && at[-1] == 0x15 && put_branch(at - 1, 0xe8, target))
            at[-2] = 0x67;
        else if (target && at[-1] == 0x25 && put_branch(at - 2, 0xe9, target))
            at[3] = 0x90;
    }
    return true;
}

/* Any four bytes may be a distance from the next instruction, which follows them or an
 * operand of 1, 2 or 4 bytes. Calls and jumps have none. */
void cn_rec_machine_find_uses(uintptr_t low, uintptr_t high,
                              const struct cn_rec_slots *slots)
{
    uintptr_t base = slots->base ? slots->base : slots->low;
    /* One comparison for nearly all bytes: of the slots and the place that they are counted
     * from, which is beside them. */
    uintptr_t first = (base < slots->low ? base : slots->low) - 4;
    uintptr_t len = (base < slots->high ? slots->high : base + 1) - first;
    bool is_base_used = false;

    for (const uint8_t *at = (const uint8_t *)low + 2; at + 4 <= (const uint8_t *)high;
         at++) {
        int32_t distance;

        memcpy(&distance, at, sizeof(distance));
        uintptr_t address = (uintptr_t)at + 4 + (uintptr_t)(intptr_t)distance;
        if (address - first >= len)
            continue;
        /* The slots may be counted from here, by other distances. */
        if (address == slots->base && !is_base_used)
            for (uintptr_t i = 0; i < (slots->high - slots->low) / sizeof(uintptr_t); i++)
                slots->uses[i] |= CN_REC_USE_OTHER;
        is_base_used |= address == slots->base;
        note_use(slots, address,
                 !is_call(at)     ? CN_REC_USE_OTHER
                 : at[-1] == 0x15 ? CN_REC_USE_CALL
                                  : CN_REC_USE_JUMP);
        note_use(slots, address + 1, CN_REC_USE_OTHER);
        note_use(slots, address + 2, CN_REC_USE_OTHER);
        note_use(slots, address + 4, CN_REC_USE_OTHER);
    }
}

uintptr_t cn_rec_machine_find_passage(uintptr_t low, uintptr_t high)
{
    static const uint8_t code[] = {0x48, 0x83, 0xc4, 0x08, 0xc3}; /* add $8, %rsp; ret */

    for (uintptr_t at = low; at + sizeof(code) <= high; at++) {
        if (memcmp((const void *)at, code, sizeof(code)) == 0)
            return at;
    }
    return 0;
}
