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

#if defined(__aarch64__)
static bool has_instruction(void)
{
    return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}

/* clang 14 has no name for these instructions unless the whole file may use them. */
static uint32_t add_by_instruction(uint32_t crc, struct cn_bytes bytes)
{
    size_t i = 0;

    for (; bytes.len - i >= 8; i += 8)
        __asm__(".arch_extension crc\n\tcrc32cx %w0, %w0, %1"
                : "+r"(crc)
                : "r"(cn_u64_get(bytes.ptr + i)));
    for (; i < bytes.len; i++)
        __asm__(".arch_extension crc\n\tcrc32cb %w0, %w0, %w1"
                : "+r"(crc)
                : "r"((uint32_t)bytes.ptr[i]));
    return crc;
}
#elif defined(__x86_64__)
static bool has_instruction(void)
{
    return __builtin_cpu_supports("sse4.2");
}

__attribute__((target("sse4.2"))) static uint32_t
add_by_instruction(uint32_t crc, struct cn_bytes bytes)
{
    size_t i = 0;

    for (; bytes.len - i >= 8; i += 8)
        crc = (uint32_t)_mm_crc32_u64(crc, cn_u64_get(bytes.ptr + i));
    for (; i < bytes.len; i++)
        crc = _mm_crc32_u8(crc, bytes.ptr[i]);
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

/* Zeros shift the first checksum; they need no conditioning at either end. */
uint32_t cn_crc32c_join(uint32_t left, uint32_t right, size_t right_len)
{
    static const uint8_t zeros[4096];
    uint32_t shifted = ~left;

    while (right_len > 0) {
        size_t len = right_len < sizeof(zeros) ? right_len : sizeof(zeros);

        shifted = cn_crc32c_add(shifted, (struct cn_bytes){zeros, len});
        right_len -= len;
    }
    return ~shifted ^ right;
}
