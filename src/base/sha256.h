/* SHA-256 and HMAC-SHA-256 (FIPS 180-4, RFC 2104), for short texts.
 * Threads: any thread.
 */
#ifndef CN_BASE_SHA256_H
#define CN_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { CN_SHA256_LEN = 32 };

void cn_sha256(const void *data, size_t len, uint8_t out[CN_SHA256_LEN]);
void cn_hmac_sha256(const void *key, size_t key_len, const void *data, size_t len,
                    uint8_t out[CN_SHA256_LEN]);

#endif
