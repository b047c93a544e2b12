#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/files/sink.h"
#include "base/files/unpack.h"

enum { LEN = 700000 };

static uint8_t *plain(void)
{
    uint8_t *bytes = cn_alloc(1, LEN);

    for (size_t i = 0; i < LEN; i++)
        bytes[i] = (uint8_t)(i * i >> 7);
    return bytes;
}

/* Write it compressed, as its name says. */
static void write_packed(const char *path, const uint8_t *bytes)
{
    struct cn_sink sink = {0};
    struct cn_error err = {0};

    assert_true(cn_sink_open(&sink, path, true, &err));
    assert_true(cn_sink_write(&sink, bytes, LEN, &err));
    assert_true(cn_sink_commit(&sink, &err));
}

static void unpacks_what_was_packed(void **state)
{
    static const char *const names[] = {"plain", "packed.gz", "packed.zst"};
    char folder[] = "/tmp/cairn-unpack-XXXXXX";
    uint8_t *bytes = plain(), beginning[100];

    (void)state;
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < 3; i++) {
        struct cn_text path = {0}, out = {0};
        struct cn_unpacked file = {0};
        struct cn_error err = {0};

        cn_text_printf(&path, "%s/%s", folder, names[i]);
        write_packed(cn_text_str(&path), bytes);
        assert_true(cn_unpacked_open(&file, cn_text_str(&path), &err));
        assert_int_equal(cn_is_packed(file.file.bytes), i > 0);
        assert_int_equal(file.bytes.len, LEN);
        assert_memory_equal(file.bytes.ptr, bytes, LEN);
        assert_true(cn_unpack(file.file.bytes, LEN, &out, &err));
        assert_int_equal(out.len, LEN);
        cn_text_clear(&out);
        assert_false(cn_unpack(file.file.bytes, LEN - 1, &out, &err));
        assert_int_equal(err.kind, CN_ERR_LIMIT);
        assert_int_equal(cn_unpack_beginning(file.file.bytes, beginning, 100), 100);
        assert_memory_equal(beginning, bytes, 100);
        cn_unpacked_close(&file);
        (void)unlink(cn_text_str(&path));
        cn_text_done(&path);
        cn_text_done(&out);
    }
    (void)rmdir(folder);
    free(bytes);
}

static void refuses_what_is_cut_off(void **state)
{
    static const char *const names[] = {"packed.gz", "packed.zst"};
    char folder[] = "/tmp/cairn-unpack-XXXXXX";
    uint8_t *bytes = plain();

    (void)state;
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < 2; i++) {
        struct cn_text path = {0}, out = {0};
        struct cn_file file = {0};
        struct cn_error err = {0};
        struct cn_bytes part;

        cn_text_printf(&path, "%s/%s", folder, names[i]);
        write_packed(cn_text_str(&path), bytes);
        assert_true(cn_file_open(&file, cn_text_str(&path), &err));
        for (size_t len = 4; len < file.bytes.len; len += 1 + len / 3) {
            assert_true(cn_bytes_slice(file.bytes, 0, len, &part));
            cn_text_clear(&out);
            assert_false(cn_unpack(part, LEN, &out, &err));
            assert_int_equal(err.kind, CN_ERR_FORMAT);
        }
        cn_file_close(&file);
        (void)unlink(cn_text_str(&path));
        cn_text_done(&path);
        cn_text_done(&out);
    }
    (void)rmdir(folder);
    free(bytes);
}

/* Cut anywhere, or with a wrong byte: a file gives a beginning of what was packed. */
static void opens_what_is_before_the_damage(void **state)
{
    static const char *const names[] = {"packed.gz", "packed.zst"};
    char folder[] = "/tmp/cairn-unpack-XXXXXX";
    uint8_t *bytes = plain();

    (void)state;
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < 2; i++) {
        struct cn_text path = {0};
        struct cn_unpacked file = {0};
        struct cn_error err = {0}, damage;

        cn_text_printf(&path, "%s/%s", folder, names[i]);
        write_packed(cn_text_str(&path), bytes);
        assert_true(cn_unpacked_open_beginning(&file, cn_text_str(&path), &damage, &err));
        assert_int_equal(damage.kind, CN_ERR_NONE);
        off_t len = (off_t)file.file.bytes.len;
        cn_unpacked_close(&file);
        assert_int_equal(truncate(cn_text_str(&path), len - 1), 0);
        assert_false(cn_unpacked_open(&file, cn_text_str(&path), &err));
        assert_true(cn_unpacked_open_beginning(&file, cn_text_str(&path), &damage, &err));
        assert_int_equal(damage.kind, CN_ERR_FORMAT);
        assert_non_null(strstr(damage.text, "cut off"));
        assert_true(file.bytes.len > 0 && file.bytes.len <= LEN);
        assert_memory_equal(file.bytes.ptr, bytes, file.bytes.len);
        cn_unpacked_close(&file);
        assert_int_equal(truncate(cn_text_str(&path), 5), 0);
        assert_false(
            cn_unpacked_open_beginning(&file, cn_text_str(&path), &damage, &err));
        (void)unlink(cn_text_str(&path));
        cn_text_done(&path);
    }
    (void)rmdir(folder);
    free(bytes);
}

/* The checksum of gzip comes last: everything is before the damage. */
static void opens_what_has_a_wrong_checksum(void **state)
{
    char folder[] = "/tmp/cairn-unpack-XXXXXX";
    uint8_t *bytes = plain();
    struct cn_text path = {0};
    struct cn_unpacked file = {0};
    struct cn_error err = {0}, damage;
    FILE *f;

    (void)state;
    assert_non_null(mkdtemp(folder));
    cn_text_printf(&path, "%s/packed.gz", folder);
    write_packed(cn_text_str(&path), bytes);
    f = fopen(cn_text_str(&path), "r+");
    assert_non_null(f);
    assert_int_equal(fseek(f, -8, SEEK_END), 0);
    assert_int_equal(fwrite("wrong", 1, 4, f), 4);
    assert_int_equal(fclose(f), 0);
    assert_true(cn_unpacked_open_beginning(&file, cn_text_str(&path), &damage, &err));
    assert_non_null(strstr(damage.text, "incorrect data check"));
    assert_int_equal(file.bytes.len, LEN);
    assert_memory_equal(file.bytes.ptr, bytes, LEN);
    cn_unpacked_close(&file);
    (void)unlink(cn_text_str(&path));
    (void)rmdir(folder);
    cn_text_done(&path);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unpacks_what_was_packed),
        cmocka_unit_test(refuses_what_is_cut_off),
        cmocka_unit_test(opens_what_is_before_the_damage),
        cmocka_unit_test(opens_what_has_a_wrong_checksum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
