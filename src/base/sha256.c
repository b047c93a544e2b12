#include "base/sha256.h"

#include <string.h>

enum { BLOCK_LEN = 64, ROUNDS = 64, LEN_AT = 56 };

/* The first 32 bits of the fractional parts of the cube roots of the first 64 primes. */
static const uint32_t constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
};

struct sha256 {
    uint32_t state[8];
    uint8_t block[BLOCK_LEN];
    size_t used;
    uint64_t len;
};

static void begin(struct sha256 *sha)
{
    *sha = (struct sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

static uint32_t rotate(uint32_t word, unsigned by)
{
    return word >> by | word << (32 - by);
}

static void mix(struct sha256 *sha)
{
    uint32_t w[ROUNDS], s[8];

    for (size_t i = 0; i < 16; i++)
        w[i] = (uint32_t)sha->block[4 * i] << 24 | (uint32_t)sha->block[4 * i + 1] << 16 |
               (uint32_t)sha->block[4 * i + 2] << 8 | sha->block[4 * i + 3];
    for (size_t i = 16; i < ROUNDS; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];

        w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    memcpy(s, sha->state, sizeof(s));
    for (size_t i = 0; i < ROUNDS; i++) {
        uint32_t e = s[4], a = s[0];
        uint32_t first = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                         ((e & s[5]) ^ (~e & s[6])) + constants[i] + w[i];
        uint32_t second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                          ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

        memmove(s + 1, s, 7 * sizeof(*s));
        s[4] += first;
        s[0] = first + second;
    }
    for (size_t i = 0; i < 8; i++)
        sha->state[i] += s[i];
    sha->used = 0;
}

static void add(struct sha256 *sha, const void *data, size_t len)
{
    const uint8_t *bytes = data;

    sha->len += len;
    for (size_t i = 0; i < len; i++) {
        sha->block[sha->used++] = bytes[i];
        if (sha->used == BLOCK_LEN)
            mix(sha);
    }
}

static void end(struct sha256 *sha, uint8_t out[CN_SHA256_LEN])
{
    uint64_t bits = sha->len * 8;
    uint8_t len[8], one = 0x80, zero = 0;

    for (size_t i = 0; i < sizeof(len); i++)
        len[i] = (uint8_t)(bits >> (56 - 8 * i));
    add(sha, &one, 1);
    while (sha->used != LEN_AT)
        add(sha, &zero, 1);
    add(sha, len, sizeof(len));
    for (size_t i = 0; i < CN_SHA256_LEN; i++)
        out[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}

void cn_sha256(const void *data, size_t len, uint8_t out[CN_SHA256_LEN])
{
    struct sha256 sha;

    begin(&sha);
    add(&sha, data, len);
    end(&sha, out);
}

void cn_hmac_sha256(const void *key, size_t key_len, const void *data, size_t len,
                    uint8_t out[CN_SHA256_LEN])
{
    uint8_t pad[BLOCK_LEN] = {0}, inner[CN_SHA256_LEN];
    struct sha256 sha;

    if (key_len > BLOCK_LEN)
        cn_sha256(key, key_len, pad);
    else if (key_len > 0)
        memcpy(pad, key, key_len);
    for (size_t i = 0; i < BLOCK_LEN; i++)
        pad[i] ^= 0x36;
    begin(&sha);
    add(&sha, pad, BLOCK_LEN);
    add(&sha, data, len);
    end(&sha, inner);
    for (size_t i = 0; i < BLOCK_LEN; i++)
        pad[i] ^= 0x36 ^ 0x5c;
    begin(&sha);
    add(&sha, pad, BLOCK_LEN);
    add(&sha, inner, sizeof(inner));
    end(&sha, out);
}
