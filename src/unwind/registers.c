/* Registers: their numbers in masks of perf_event_open() and in DWARF. */

#include "base/bytes/record.h"
#include "unwind/unwind.h"

enum { NONE = 0xff, PERF_X86_DI = 5 };

/* PERF_REG_X86_AX and so on; segments and flags have no number in DWARF. */
static const uint8_t x86_registers[] = {
    0,    3,    2,    1,    4,    5,    6,    7, CN_UNWIND_X86_RIP,
    NONE, NONE, NONE, NONE, NONE, NONE, NONE, 8, 9,
    10,   11,   12,   13,   14,   15};

enum cn_unwind_machine cn_unwind_machine_here(void)
{
#if defined(__x86_64__)
    return CN_UNWIND_X86_64;
#elif defined(__aarch64__)
    return CN_UNWIND_AARCH64;
#else
    return CN_UNWIND_NO_MACHINE;
#endif
}

static unsigned dwarf_number(enum cn_unwind_machine machine, unsigned bit)
{
    if (machine == CN_UNWIND_AARCH64) /* X0 to X29, LR, SP, PC */
        return bit <= CN_UNWIND_ARM_PC ? bit : NONE;
    return bit < sizeof(x86_registers) ? x86_registers[bit] : NONE;
}

uint64_t cn_unwind_perf_mask(enum cn_unwind_machine machine)
{
    uint64_t mask = 0;

    for (unsigned bit = 0; bit < 64; bit++)
        if (dwarf_number(machine, bit) != NONE)
            mask |= UINT64_C(1) << bit;
    return mask;
}

unsigned cn_unwind_perf_argument(enum cn_unwind_machine machine)
{
    return machine == CN_UNWIND_AARCH64 ? 0 : PERF_X86_DI;
}

bool cn_unwind_registers_decode(struct cn_unwind_registers *out,
                                enum cn_unwind_machine machine, uint64_t mask,
                                struct cn_bytes values)
{
    struct cn_unwind_registers found = {.machine = machine};
    uint64_t needed =
        machine == CN_UNWIND_AARCH64
            ? UINT64_C(1) << CN_UNWIND_ARM_SP | UINT64_C(1) << CN_UNWIND_ARM_PC
            : UINT64_C(1) << CN_UNWIND_X86_RSP | UINT64_C(1) << CN_UNWIND_X86_RIP;

    if (machine == CN_UNWIND_NO_MACHINE)
        return false;
    for (unsigned bit = 0; bit < 64; bit++) {
        unsigned number = dwarf_number(machine, bit);
        struct cn_bytes value;

        if (!(mask >> bit & 1))
            continue;
        if (!cn_bytes_take(&values, sizeof(uint64_t), &value))
            return false;
        if (number == NONE)
            continue;
        found.value[number] = cn_u64_get(value.ptr);
        found.known |= UINT64_C(1) << number;
    }
    if ((found.known & needed) != needed)
        return false;
    *out = found;
    return true;
}
