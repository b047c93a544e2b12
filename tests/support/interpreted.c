#include "support/interpreted.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/record.h"
#include "base/bytes/wire.h"

enum { BYTES = 1 << 18 };

struct cn_test_interpreted *
cn_test_interpreted_new(const struct cn_test_language *language, uint32_t version)
{
    struct cn_test_interpreted *t = calloc(1, sizeof(*t));

    assert_non_null(t);
    t->language = language;
    t->image = language->image(version);
    t->bytes = cn_wire_view(&t->image);
    t->memory.copy = cn_image_copy;
    t->memory.arg = &t->bytes;
    t->memory.pid = CN_IMAGE_TID;
    t->state = language->open(&t->memory, &t->names, version);
    cn_memory_begin(&t->memory, CN_IMAGE_TID, BYTES);
    return t;
}

void cn_test_interpreted_free(struct cn_test_interpreted *t)
{
    t->language->runtime->close(t->state);
    cn_stored_names_done(&t->names);
    cn_text_done(&t->image);
    free(t);
}

bool cn_test_interpreted_read(struct cn_test_interpreted *t)
{
    cn_memory_begin(&t->memory, CN_IMAGE_TID, BYTES);
    if (t->language->runtime->describe(t->state, &t->table) != CN_LANGUAGE_TABLE)
        return false;
    return cn_image_walk(&t->walk, &t->memory, &t->table, t->language->state);
}

static void begin_chain(struct cn_test_interpreted *t)
{
    for (t->count = 0; t->language->chain[t->count]; t->count++)
        t->chain[t->count] = t->language->chain[t->count];
}

static void finish(struct cn_test_interpreted *t, bool is_late, bool is_whole)
{
    struct cn_language_sample sample = {
        .tid = CN_IMAGE_TID,
        .is_whole = is_whole,
        .found = is_late ? NULL : &t->walk.found,
        .words = t->walk.words,
    };

    t->count = t->language->runtime->finish(t->state, &sample, t->chain, t->count,
                                            CN_TEST_CHAIN_MAX);
    assert_true(t->count <= CN_TEST_CHAIN_MAX);
}

void cn_test_interpreted_finish(struct cn_test_interpreted *t, bool is_late,
                                bool is_whole)
{
    begin_chain(t);
    finish(t, is_late, is_whole);
}

void cn_test_interpreted_expect(struct cn_test_interpreted *t, const char *const *merged)
{
    for (size_t i = 0; i < t->count; i++) {
        char *name = cn_image_name(&t->names, t->chain[i]);

        assert_non_null(merged[i]);
        assert_string_equal(name, merged[i]);
        free(name);
    }
    assert_null(merged[t->count]);
}

void cn_test_interpreted_see(struct cn_test_interpreted *t, uint64_t pc, uint64_t held)
{
    struct cn_unwind_step step = {0};
    bool is_arm = cn_unwind_machine_here() == CN_UNWIND_AARCH64;

    step.registers.machine = cn_unwind_machine_here();
    step.registers.value[is_arm ? CN_UNWIND_ARM_PC : CN_UNWIND_X86_RIP] = pc;
    step.registers.value[3] = held;
    step.registers.known = 1 << 3;
    (void)t->language->runtime->undo(t->state, &step);
}

void cn_test_shows_frames(const struct cn_test_language *language)
{
    for (size_t i = 0; language->versions[i]; i++) {
        struct cn_test_interpreted *t =
            cn_test_interpreted_new(language, language->versions[i]);

        assert_true(cn_test_interpreted_read(t));
        cn_test_interpreted_finish(t, false, true);
        cn_test_interpreted_expect(t, language->merged);
        assert_null(language->runtime->hint(t->state));
        cn_test_interpreted_free(t);
    }
}

void cn_test_knows_what_was_read(const struct cn_test_language *language)
{
    struct cn_test_interpreted *t =
        cn_test_interpreted_new(language, language->versions[0]);

    assert_true(cn_test_interpreted_read(t));
    cn_test_interpreted_finish(t, false, true);
    t->bytes.len = 0;
    cn_memory_begin(&t->memory, CN_IMAGE_TID, BYTES);
    cn_test_interpreted_finish(t, false, true);
    cn_test_interpreted_expect(t, language->merged);
    cn_test_interpreted_free(t);
}

void cn_test_changes_no_stack_that_contradicts(const struct cn_test_language *language)
{
    struct cn_test_interpreted *t =
        cn_test_interpreted_new(language, language->versions[0]);

    assert_true(cn_test_interpreted_read(t));
    /* A call that begins has no frame yet. */
    begin_chain(t);
    memmove(t->chain + 1, t->chain, t->count * sizeof(t->chain[0]));
    t->chain[0] = CN_IMAGE_LOOP + 8;
    t->count++;
    finish(t, false, true);
    assert_int_equal(t->chain[0], CN_IMAGE_LOOP + 8);
    memmove(t->chain, t->chain + 1, --t->count * sizeof(t->chain[0]));
    cn_test_interpreted_expect(t, language->merged);
    /* Two can not. */
    begin_chain(t);
    memmove(t->chain + 2, t->chain, t->count * sizeof(t->chain[0]));
    t->chain[0] = t->chain[1] = CN_IMAGE_LOOP + 8;
    t->count += 2;
    size_t before = t->count;
    finish(t, false, true);
    assert_int_equal(t->count, before);
    for (size_t i = 2; i < t->count; i++)
        assert_int_equal(t->chain[i], language->chain[i - 2]);
    cn_test_interpreted_free(t);
}

static void try_all(struct cn_test_interpreted *t)
{
    for (unsigned i = 0; i < 2; i++) {
        if (cn_test_interpreted_read(t))
            cn_test_interpreted_finish(t, false, i == 0);
        cn_memory_begin(&t->memory, CN_IMAGE_TID, BYTES);
        for (size_t k = 0; t->language->chain[k]; k++)
            cn_test_interpreted_see(t, t->language->chain[k],
                                    k == 0 ? CN_IMAGE_KEY_ADDRESS + 8
                                           : CN_IMAGE_MAIN_ADDRESS + 8);
        cn_test_interpreted_finish(t, true, i == 0);
    }
    free(t->language->runtime->hint(t->state));
}

void cn_test_survives_any_memory(const struct cn_test_language *language)
{
    struct cn_text good = language->image(language->versions[0]);
    struct cn_bytes bytes = cn_wire_view(&good);

    for (unsigned kind = 0; kind < 4; kind++) {
        for (size_t i = 0; i <= bytes.len; i += 8) {
            struct cn_test_interpreted *t;
            uint64_t value = i == bytes.len ? 0 : cn_u64_get(bytes.ptr + i);

            /* Words that are not used are no help alone. */
            if (value == 0 && i < bytes.len)
                continue;
            t = cn_test_interpreted_new(language, language->versions[0]);
            for (size_t k = 0; k < bytes.len; k += 8) {
                uint8_t *word = (uint8_t *)t->image.chars + k;

                if (i < bytes.len ? k != i : cn_u64_get(word) != 0)
                    continue;
                cn_u64_put(word, kind == 0   ? CN_IMAGE_BASE + k
                                 : kind == 1 ? UINT64_MAX
                                 : kind == 2 ? UINT32_MAX
                                             : CN_IMAGE_BASE + CN_IMAGE_LEN - 8);
            }
            try_all(t);
            cn_test_interpreted_free(t);
        }
    }
    cn_text_done(&good);
}

void cn_test_interpreted_fuzz(const struct cn_test_language *language,
                              const uint8_t *data, size_t len)
{
    struct cn_test_interpreted *t;
    size_t version = len > 0 ? data[0] : 0, count = 0;

    while (language->versions[count])
        count++;
    t = cn_test_interpreted_new(language, language->versions[version % count]);
    t->bytes = (struct cn_bytes){data, len};
    try_all(t);
    cn_test_interpreted_free(t);
}

void cn_test_interpreted_seeds(const struct cn_test_language *language,
                               void (*emit)(const uint8_t *data, size_t len))
{
    for (size_t i = 0; language->versions[i]; i++) {
        struct cn_text image = language->image(language->versions[i]);

        image.chars[0] = (char)i;
        emit((const uint8_t *)image.chars, image.len);
        cn_text_done(&image);
    }
}

static void *open_php(struct cn_memory *memory, struct cn_stored_names *names,
                      uint32_t version)
{
    struct cn_php_place place = cn_image_php_place(version);

    return cn_php_open(memory, &place, names);
}

static void *open_ruby(struct cn_memory *memory, struct cn_stored_names *names,
                       uint32_t version)
{
    struct cn_ruby_place place = cn_image_ruby_place((uint16_t)version);

    return cn_ruby_open(memory, &place, names);
}

static struct cn_text ruby_image(uint32_t version)
{
    return cn_image_ruby((uint16_t)version);
}

static void *open_perl(struct cn_memory *memory, struct cn_stored_names *names,
                       uint32_t version)
{
    struct cn_perl_place place = cn_image_perl_place((uint8_t)version);

    return cn_perl_open(memory, &place, names);
}

static struct cn_text perl_image(uint32_t version)
{
    return cn_image_perl((uint8_t)version);
}

/* key() was called by C, which the program has called. */
static const uint64_t chain[] = {CN_IMAGE_LOOP + 64, CN_IMAGE_IN_C, CN_IMAGE_LOOP + 128,
                                 CN_IMAGE_RUN + 8, 0};
static const uint64_t ruby_chain[] = {CN_IMAGE_BODY + 64,
                                      CN_IMAGE_LOOP + 64,
                                      CN_IMAGE_IN_C,
                                      CN_IMAGE_BODY + 64,
                                      CN_IMAGE_LOOP + 128,
                                      CN_IMAGE_RUN + 8,
                                      0};

static const uint32_t php_versions[] = {20220829, 20190902, 20200930, 20210902,
                                        20230831, 20240924, 20250925, 0};
static const uint32_t ruby_versions[] = {0x301, 0};
static const uint32_t perl_versions[] = {36, 28, 30, 32, 34, 38, 40, 0};

static const char *const php_merged[] = {"Shape::key:3", "", "usort:0",
                                         "{main}:12",    "", NULL};
static const char *const ruby_merged[] = {
    "block in Text#words:10", "", "Array#each:0", "Text#words:11", "<main>:12", "", NULL};
static const char *const perl_merged[] = {"main::key:3",      "", "main::work:12",
                                          "main::RUNTIME:20", "", NULL};

const struct cn_test_language cn_test_php = {
    .runtime = &cn_language_php,
    .open = open_php,
    .image = cn_image_php,
    .state = CN_IMAGE_BASE,
    .versions = php_versions,
    .chain = chain,
    .merged = php_merged,
};
const struct cn_test_language cn_test_ruby = {
    .runtime = &cn_language_ruby,
    .open = open_ruby,
    .image = ruby_image,
    .state = CN_IMAGE_STATE,
    .versions = ruby_versions,
    .chain = ruby_chain,
    .merged = ruby_merged,
};
const struct cn_test_language cn_test_perl = {
    .runtime = &cn_language_perl,
    .open = open_perl,
    .image = perl_image,
    .state = CN_IMAGE_STATE,
    .versions = perl_versions,
    .chain = chain,
    .merged = perl_merged,
};
