#include "record/machine.h"

#include <string.h>

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

/* ldr x17, .+8; b to the beginning; address of the body. The body begins with the second
 * nop, which becomes a landing place for its indirect call. */
bool cn_rec_machine_patch(uint8_t *at, struct cn_rec_stubs *stubs)
{
    uint8_t *stub = stubs->at + CN_REC_STUB_LEN * (stubs->count + 1);
    uintptr_t body;

    if (get(at) == BTI_C || get(at) == BTI_J)
        at += 4;
    if (get(at) != NOP || get(at + 4) != NOP || stubs->count == stubs->max)
        return false;
    body = (uintptr_t)at + 4;
    put(stub, 0x58000051);
    memcpy(stub + 8, &body, sizeof(body));
    if (!put_branch(stub + 4, (uintptr_t)stubs->at))
        return false;
    __builtin___clear_cache((char *)stub, (char *)stub + CN_REC_STUB_LEN);
    put(at + 4, BTI_C);
    if (!put_branch(at, (uintptr_t)stub))
        return false;
    stubs->count++;
    return true;
}

bool cn_rec_machine_divert(uint8_t *at, uintptr_t stub)
{
    if (get(at) == BTI_C)
        at += 4;
    return get(at) == RET && put_branch(at, stub);
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
