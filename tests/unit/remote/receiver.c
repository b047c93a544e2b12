/* Messages of senders that lie, stop, or want to write elsewhere. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/files/file.h"
#include "base/text.h"
#include "formats/uftrace/format.h"
#include "remote/receiver.h"
#include "support/scratch.h"

enum { LIMIT = 1 << 20 };

static void add(struct cn_text *to, uint16_t type, const char *payload, size_t len)
{
    struct cn_remote_header header = {
        .magic = CN_REMOTE_MAGIC, .type = type, .len = (uint32_t)len};
    uint8_t bytes[cn_remote_header_size];

    cn_remote_header_encode(&header, bytes);
    cn_text_add(to, (const char *)bytes, sizeof(bytes));
    cn_text_add(to, payload, len);
}

static void add_number(struct cn_text *to, uint16_t type, uint32_t number,
                       const char *rest)
{
    struct cn_text payload = {0};
    uint8_t bytes[4];

    cn_u32_be_put(bytes, number);
    cn_text_add(&payload, (const char *)bytes, sizeof(bytes));
    cn_text_str_add(&payload, rest);
    add(to, type, payload.chars, payload.len);
    cn_text_done(&payload);
}

static void add_meta(struct cn_text *to, const char *name, const char *rest)
{
    struct cn_text payload = {0};

    cn_text_printf(&payload, "%s%s", name, rest);
    add_number(to, CN_REMOTE_META, (uint32_t)strlen(name), cn_text_str(&payload));
    cn_text_done(&payload);
}

static void add_info(struct cn_text *to, uint8_t byte_order)
{
    struct cn_uft_info_header info = {.version = 4,
                                      .header_len = 40,
                                      .byte_order = byte_order,
                                      .word_class = 2,
                                      .max_stack = 1024};
    uint8_t bytes[cn_uft_info_header_size];

    cn_uft_info_header_encode_any(&info, true, bytes);
    memcpy(bytes, CN_UFT_MAGIC, CN_UFT_MAGIC_LEN);
    add(to, CN_REMOTE_INFO, (const char *)bytes, sizeof(bytes));
}

static void add_recording(struct cn_text *to, const char *name)
{
    add(to, CN_REMOTE_DIR, name, strlen(name));
    add_number(to, CN_REMOTE_TASK, 77, "one");
    add_number(to, CN_REMOTE_TASK, 77, "two");
    add_number(to, CN_REMOTE_PERF, 3, "perf");
    add_number(to, CN_REMOTE_KERNEL, 4294967295U, "");
    add_meta(to, "task.txt", "tasks");
    add_info(to, CN_UFT_LITTLE_ENDIAN);
    add(to, CN_REMOTE_END, "", 0);
}

/* Feeds the bytes in pieces of `piece`; true if the recording is complete. */
static bool receive(const char *folder, const struct cn_text *text, size_t piece,
                    struct cn_error *err)
{
    struct cn_receiver receiver;
    bool ok = true, is_complete;

    cn_receiver_init(&receiver, folder, NULL, LIMIT);
    for (size_t at = 0; ok && at < text->len; at += piece) {
        size_t len = text->len - at < piece ? text->len - at : piece;

        ok = cn_receiver_feed(&receiver,
                              (struct cn_bytes){(uint8_t *)text->chars + at, len}, err);
    }
    is_complete = receiver.is_complete;
    cn_receiver_done(&receiver);
    return ok && is_complete;
}

static void stores_a_recording_in_any_pieces(void **state)
{
    struct cn_text text = {0};
    struct cn_error err = {0};

    (void)state;
    add_recording(&text, "elsewhere/run.data//");
    for (size_t piece = 1; piece <= 1000; piece += 999) {
        if (!receive(".", &text, piece, &err))
            fail_msg("pieces of %zu: %s", piece, err.text);
        assert_true(cn_scratch_holds("run.data/77.dat", "onetwo", 6));
        assert_true(cn_scratch_holds("run.data/perf-cpu3.dat", "perf", 4));
        assert_true(cn_scratch_holds("run.data/kernel-cpu4294967295.dat", "", 0));
        assert_true(cn_scratch_holds("run.data/task.txt", "tasks", 5));
        assert_true(cn_scratch_holds("run.data/.cairn-recording", "", 0));
        assert_int_equal(cn_scratch_count("run.data"), 6); /* and info */
    }
    assert_int_equal(cn_scratch_count("."), 2); /* and run.data.old */
    cn_text_done(&text);
}

static void writes_the_header_of_info_in_the_order_of_the_recording(void **state)
{
    (void)state;
    for (uint8_t order = CN_UFT_LITTLE_ENDIAN; order <= CN_UFT_BIG_ENDIAN; order++) {
        struct cn_text text = {0};
        struct cn_error err = {0};
        struct cn_uft_info_header info;
        struct cn_file file;

        add(&text, CN_REMOTE_DIR, order == 1 ? "little" : "big", order == 1 ? 6 : 3);
        add_info(&text, order);
        add(&text, CN_REMOTE_END, "", 0);
        assert_true(receive(".", &text, 11, &err));
        assert_true(cn_file_open_at(&file, order == 1 ? "little" : "big", "info", &err));
        assert_memory_equal(file.bytes.ptr, CN_UFT_MAGIC, CN_UFT_MAGIC_LEN);
        assert_true(
            cn_uft_info_header_decode_any(file.bytes, order == CN_UFT_BIG_ENDIAN, &info));
        assert_int_equal(info.version, 4);
        assert_int_equal(info.max_stack, 1024);
        cn_file_close(&file);
        cn_text_done(&text);
    }
}

static void keeps_what_arrived_of_every_truncation(void **state)
{
    struct cn_text text = {0};

    (void)state;
    add_recording(&text, "run.data");
    for (size_t len = 0; len < text.len; len++) {
        struct cn_text part = {.chars = text.chars, .len = len};
        struct cn_error err = {0};
        char folder[24];

        (void)snprintf(folder, sizeof(folder), "%zu", len);
        assert_int_equal(mkdir(folder, 0700), 0);
        assert_false(receive(folder, &part, len + 1, &err));
        assert_string_equal(err.text, "");
        /* The partial directory, as soon as there is a file in it. */
        assert_int_equal(cn_scratch_count(folder), len >= 8 + 8 + 8 + 4);
    }
    cn_text_done(&text);
}

static void refuses(const struct cn_text *text, const char *expected)
{
    struct cn_error err = {0};
    (void)mkdir("folder", 0700);
    assert_false(receive("folder", text, text->len, &err));
    if (!strstr(err.text, expected))
        fail_msg("'%s' does not contain '%s'", err.text, expected);
    assert_int_equal(cn_scratch_count("."), 1);
}

static void refuses_names_that_lead_elsewhere(void **state)
{
    static const char *const dirs[] = {"",     ".",    "..",      "../..",    "/",
                                       "a/..", "a\nb", ".hidden", "a\033[2Jb"};
    static const char *const files[] = {".",     "..",    "../x", "/etc/x", "a/b",
                                        ".hide", "x\033", "x\n",  "x\177"};

    (void)state;
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        struct cn_text text = {0};

        add(&text, CN_REMOTE_DIR, dirs[i], strlen(dirs[i]));
        add_meta(&text, "x", "x");
        refuses(&text, i == 0 ? "first part" : "not a name for a recording");
        cn_text_done(&text);
    }
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        struct cn_text text = {0};

        add(&text, CN_REMOTE_DIR, "d", 1);
        add_meta(&text, files[i], "x");
        refuses(&text, "not the name of a file");
        cn_text_done(&text);
    }
}

static void refuses_wrong_messages(void **state)
{
    struct cn_text big = {0};
    static const struct {
        uint16_t type;
        const char *payload;
        size_t len;
        const char *message;
    } cases[] = {
        {CN_REMOTE_DIR, "e", 1, "renames the recording"},
        {CN_REMOTE_TASK, "abc", 3, "first part"},
        {CN_REMOTE_META, "\0\0\0\5abcd", 8, "first part"},
        {CN_REMOTE_META, "\377\377\377\377abcd", 8, "first part"},
        {CN_REMOTE_META, "\0\0\0\0abcd", 8, "first part"},
        {CN_REMOTE_META, "\0\0\0\3a\0b", 7, "not the name of a file"},
        {CN_REMOTE_INFO, "Ftrace!", 8, "first part"},
        {CN_REMOTE_INFO, "0123456789012345678901234567890123456789", 40, "byte order"},
        {100, "", 0, "unknown message 100"},
        {108, "", 0, "unknown message 108"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cn_text text = {0};

        add(&text, CN_REMOTE_DIR, "d", 1);
        add(&text, cases[i].type, cases[i].payload, cases[i].len);
        refuses(&text, cases[i].message);
        cn_text_done(&text);
    }
    add_meta(&big, "x", "x"); /* before the name */
    refuses(&big, "before the name");
    big.chars[0] = 0;
    refuses(&big, "not a sender");
    cn_text_clear(&big);
    add(&big, CN_REMOTE_DIR, "d", 1);
    for (int i = 0; i < 3; i++) {
        char *half = calloc(1, LIMIT / 2);

        add(&big, CN_REMOTE_TASK, half, LIMIT / 2);
        free(half);
    }
    refuses(&big, "larger than");
    cn_text_done(&big);
}

static void survives_every_flipped_bit(void **state)
{
    struct cn_text text = {0};

    (void)state;
    assert_int_equal(mkdir("inner", 0700), 0);
    add_recording(&text, "run.data");
    text.len -= cn_remote_header_size; /* never complete: nothing is synced */
    for (size_t bit = 0; bit < text.len * 8; bit += 3) {
        struct cn_error err = {0};

        text.chars[bit / 8] ^= (char)(1 << bit % 8);
        (void)receive("inner", &text, text.len, &err);
        text.chars[bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_int_equal(cn_scratch_count("."), 1); /* nothing outside */
    cn_text_done(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(stores_a_recording_in_any_pieces),
        CN_SCRATCH_TEST(writes_the_header_of_info_in_the_order_of_the_recording),
        CN_SCRATCH_TEST(keeps_what_arrived_of_every_truncation),
        CN_SCRATCH_TEST(refuses_names_that_lead_elsewhere),
        CN_SCRATCH_TEST(refuses_wrong_messages),
        CN_SCRATCH_TEST(survives_every_flipped_bit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
