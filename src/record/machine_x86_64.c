#include "record/machine.h"

#include <string.h>

enum { STUB_LEN = 16, CALL_LEN = 5, ENDBR_LEN = 4 };

static const uint8_t endbr[ENDBR_LEN] = {0xf3, 0x0f, 0x1e, 0xfa};

size_t cn_rec_machine_jump(uint8_t *at, uintptr_t target)
{
    static const uint8_t jump[6] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *0(%rip) */

    memcpy(at, jump, sizeof(jump));
    memcpy(at + sizeof(jump), &target, sizeof(target));
    return sizeof(jump) + sizeof(target);
}

size_t cn_rec_machine_slot_stubs_len(uint32_t count)
{
    return STUB_LEN * ((size_t)count + 1);
}

void cn_rec_machine_slot_stubs_begin(uint8_t *stubs, uintptr_t target)
{
    (void)cn_rec_machine_jump(stubs, target);
}

/* endbr64; push $number; jmp to the beginning */
uintptr_t cn_rec_machine_slot_stub(uint8_t *stubs, uint32_t number)
{
    uint8_t *at = stubs + STUB_LEN * ((size_t)number + 1);
    int32_t back = (int32_t)(stubs - (at + 14));

    memcpy(at, endbr, ENDBR_LEN);
    at[4] = 0x68;
    memcpy(at + 5, &number, sizeof(number));
    at[9] = 0xe9;
    memcpy(at + 10, &back, sizeof(back));
    return (uintptr_t)at;
}

static bool is_empty(const uint8_t *at)
{
    static const uint8_t forms[][CALL_LEN] = {
        {0x90, 0x90, 0x90, 0x90, 0x90},
        {0x0f, 0x1f, 0x44, 0x00, 0x00},
    };

    return memcmp(at, forms[0], CALL_LEN) == 0 || memcmp(at, forms[1], CALL_LEN) == 0;
}

bool cn_rec_machine_patch(uint8_t *at, uintptr_t stub)
{
    int64_t distance;
    int32_t near;

    if (memcmp(at, endbr, ENDBR_LEN) == 0)
        at += ENDBR_LEN;
    distance = (int64_t)(stub - ((uintptr_t)at + CALL_LEN));
    near = (int32_t)distance;
    if (!is_empty(at) || near != distance)
        return false;
    at[0] = 0xe8;
    memcpy(at + 1, &near, sizeof(near));
    return true;
}
