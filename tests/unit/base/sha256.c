/* SHA-256: the examples of its standard, and those of HMAC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256.h"

static void expect(const uint8_t hash[CN_SHA256_LEN], const char *expected)
{
    char text[2 * CN_SHA256_LEN + 1];

    for (size_t i = 0; i < CN_SHA256_LEN; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", hash[i]);
    assert_string_equal(text, expected);
}

static void hashes_as_the_standard(void **state)
{
    uint8_t hash[CN_SHA256_LEN];
    char million[1000000];

    (void)state;
    cn_sha256("", 0, hash);
    expect(hash, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    cn_sha256("abc", 3, hash);
    expect(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    cn_sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, hash);
    expect(hash, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(million, 'a', sizeof(million));
    cn_sha256(million, sizeof(million), hash);
    expect(hash, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* RFC 4231, test cases 2 and 6. */
static void hashes_with_a_key(void **state)
{
    static const char long_text[] =
        "Test Using Larger Than Block-Size Key - Hash Key First";
    uint8_t hash[CN_SHA256_LEN], key[131];

    (void)state;
    cn_hmac_sha256("Jefe", 4, "what do ya want for nothing?", 28, hash);
    expect(hash, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof(key));
    cn_hmac_sha256(key, sizeof(key), long_text, strlen(long_text), hash);
    expect(hash, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hashes_as_the_standard),
        cmocka_unit_test(hashes_with_a_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
