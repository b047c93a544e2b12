#include "base/files/crc32c.h"

#include "base/bytes/record.h"

#if defined(__aarch64__)
#include <sys/auxv.h>
#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif
#elif defined(__x86_64__)
#include <nmmintrin.h>
#endif

/* The polynomial 0x1edc6f41 with its bits reversed. */
#define POLYNOMIAL UINT32_C(0x82f63b78)

/* Four bits at a time: small enough to be spelled out, used only where the processor has
 * no instruction. */
static uint32_t add_by_table(uint32_t crc, struct cn_bytes bytes)
{
    uint32_t table[16];

    for (uint32_t i = 0; i < 16; i++) {
        uint32_t row = i;

        for (int bit = 0; bit < 4; bit++)
            row = row & 1 ? row >> 1 ^ POLYNOMIAL : row >> 1;
        table[i] = row;
    }
    for (size_t i = 0; i < bytes.len; i++) {
        crc ^= bytes.ptr[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return crc;
}

/* The product of two polynomials, modulo that of the checksum; all with their bits reversed. */
static uint32_t multiply(uint32_t a, uint32_t b)
{
    uint32_t product = 0;

    for (int bit = 31; bit >= 0; bit--) {
        product ^= b & (0 - (a >> bit & 1));
        b = b >> 1 ^ (POLYNOMIAL & (0 - (b & 1)));
    }
    return product;
}

/* The polynomial that a checksum is multiplied by when `len` zero bytes follow: x to the power of 8 * len. */
static uint32_t shift_by(uint64_t len)
{
    uint32_t shift = UINT32_C(1) << 31, power = UINT32_C(1) << (31 - 8);

    for (; len > 0; len >>= 1) {
        if (len & 1)
            shift = multiply(power, shift);
        power = multiply(power, power);
    }
    return shift;
}

#if defined(__aarch64__)
#define WITH_INSTRUCTION

static bool has_instruction(void)
{
    return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}

/* clang 14 has no name for these instructions unless the whole file may use them. */
static inline uint32_t add_word(uint32_t crc, uint64_t word)
{
    __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %1" : "+r"(crc) : "r"(word));
    return crc;
}

static inline uint32_t add_byte(uint32_t crc, uint8_t byte)
{
    __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1"
            : "+r"(crc)
            : "r"((uint32_t)byte));
    return crc;
}
#elif defined(__x86_64__)
#define WITH_INSTRUCTION __attribute__((target("sse4.2")))

static bool has_instruction(void)
{
    return __builtin_cpu_supports("sse4.2");
}

WITH_INSTRUCTION static inline uint32_t add_word(uint32_t crc, uint64_t word)
{
    return (uint32_t)_mm_crc32_u64(crc, word);
}

WITH_INSTRUCTION static inline uint32_t add_byte(uint32_t crc, uint8_t byte)
{
    return _mm_crc32_u8(crc, byte);
}
#endif

#ifdef WITH_INSTRUCTION
/* Each instruction waits for the one before, and a processor runs three at a time: parts of LANE bytes are
 * checked side by side, and their checksums joined. */
enum { LANE = 4096, LANES = 3 };
#define LANE_SHIFT UINT32_C(0x35d73a62) /* shift_by(LANE) */

WITH_INSTRUCTION static uint32_t add_lanes(uint32_t crc, const uint8_t *at)
{
    uint32_t second = 0, third = 0;

    for (size_t i = 0; i < LANE; i += sizeof(uint64_t)) {
        crc = add_word(crc, cn_u64_get(at + i));
        second = add_word(second, cn_u64_get(at + LANE + i));
        third = add_word(third, cn_u64_get(at + 2 * LANE + i));
    }
    return multiply(LANE_SHIFT, multiply(LANE_SHIFT, crc) ^ second) ^ third;
}

WITH_INSTRUCTION static uint32_t add_by_instruction(uint32_t crc, struct cn_bytes bytes)
{
    size_t i = 0;

    for (; bytes.len - i >= LANES * LANE; i += LANES * LANE)
        crc = add_lanes(crc, bytes.ptr + i);
    for (; bytes.len - i >= sizeof(uint64_t); i += sizeof(uint64_t))
        crc = add_word(crc, cn_u64_get(bytes.ptr + i));
    for (; i < bytes.len; i++)
        crc = add_byte(crc, bytes.ptr[i]);
    return crc;
}
#else
static bool has_instruction(void)
{
    return false;
}

static uint32_t add_by_instruction(uint32_t crc, struct cn_bytes bytes)
{
    return add_by_table(crc, bytes);
}
#endif

uint32_t cn_crc32c_add(uint32_t crc, struct cn_bytes bytes)
{
    if (has_instruction())
        return ~add_by_instruction(~crc, bytes);
    return ~add_by_table(~crc, bytes);
}

uint32_t cn_crc32c(struct cn_bytes bytes)
{
    return cn_crc32c_add(0, bytes);
}

uint32_t cn_crc32c_join(uint32_t left, uint32_t right, uint64_t right_len)
{
    return multiply(shift_by(right_len), left) ^ right;
}
