#include "record/machine.h"

#include <string.h>

#define NOP         0xd503201fu
#define BTI_C       0xd503245fu
#define BTI_J       0xd503249fu
#define MOV_X9_X30  0xaa1e03e9u
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

/* Write a branch; `instruction` is its encoding without the distance. */
static bool put_branch(uint8_t *at, uint32_t instruction, uintptr_t target)
{
    int64_t distance = ((int64_t)target - (int64_t)(uintptr_t)at) / 4;

    if (distance < -(1 << 25) || distance >= 1 << 25)
        return false;
    put(at, instruction | ((uint32_t)distance & 0x3ffffff));
    return true;
}

bool cn_rec_machine_patch(uint8_t *at, uintptr_t stub)
{
    if (get(at) == BTI_C || get(at) == BTI_J)
        at += 4;
    if (get(at) != NOP || get(at + 4) != NOP || !put_branch(at + 4, 0x94000000, stub))
        return false;
    put(at, MOV_X9_X30);
    return true;
}

bool cn_rec_machine_divert(uint8_t *at, uintptr_t stub)
{
    if (get(at) == BTI_C)
        at += 4;
    return get(at) == RET && put_branch(at, 0x14000000, stub);
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
