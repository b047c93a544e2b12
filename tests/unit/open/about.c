/* The files beside the database of an analysis: what is written is read, and damage is noticed. */

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
#include "model/contexts/database.h"
#include "open/about.h"
#include "open/folder.h"
#include "support/sample.h"
#include "support/scratch.h"

/* The analysis of samples, in the folder "made". */
static void make(void)
{
    struct cn_points points = {0};
    struct cn_launch launch = {100, 200, 1, 2};
    struct cn_database *db = cn_sample_database();
    const char **names = calloc(db->profile_count, sizeof(*names));
    struct cn_error err;

    assert_non_null(names);
    names[1] = "render";
    db->thread_names = names;
    (void)cn_points_at(&points,
                       (struct cn_point){.module = 1, .context = 2, .offset = 3});
    cn_points_add(&points, 0, 1, 0, 2.5);
    db->points = &points;
    db->launches = &launch;
    db->launch_count = 1;
    cn_database_warn(db, false, "a \"quoted\"\nwarning");
    cn_database_warn(db, true, "damage");
    assert_int_equal(mkdir("made", 0700), 0);
    if (!cn_folder_of_samples("made", db, NULL, &err))
        fail_msg("%s", err.text);
    cn_database_close(db);
    cn_points_done(&points);
    free(names);
}

static void reads_what_was_written(void **state)
{
    struct cn_profile profile;
    struct cn_database *db;
    struct cn_about about;
    struct cn_error err;

    (void)state;
    make();
    if (!cn_about_open(&db, &about, "made", &err))
        fail_msg("%s", err.text);
    assert_int_equal(db->launch_count, 1);
    assert_int_equal(db->launches[0].from_ns, 100);
    assert_int_equal(db->launches[0].to_ns, 200);
    assert_int_equal(db->launches[0].to_profile, 2);
    assert_string_equal(db->warnings->text, "a \"quoted\"\nwarning");
    assert_false(db->warnings->is_damage);
    assert_string_equal(db->warnings->next->text, "damage");
    assert_true(db->warnings->next->is_damage);
    assert_int_equal(about.analysis.lost_count, 0);
    assert_true(cn_database_profile(db, 1, &profile, &err));
    assert_string_equal(profile.name, "render");
    assert_true(cn_database_profile(db, 2, &profile, &err));
    assert_null(profile.name);
    assert_int_equal(db->points->count, 1);
    assert_int_equal(db->points->list[0].offset, 3);
    assert_int_equal(db->points->list[0].context, 2);
    assert_true(db->points->values[0].value == 2.5);
    cn_database_close(db);
    cn_about_close(&about);
}

/* Open the folder with other bytes in about.json; they may be refused. */
static bool opens_with(const uint8_t *bytes, size_t len)
{
    struct cn_database *db;
    struct cn_about about;
    struct cn_error err;

    cn_scratch_write("made/about.json", bytes, len);
    if (!cn_about_open(&db, &about, "made", &err))
        return false;
    for (uint32_t i = 0; i < db->profile_count; i++) {
        struct cn_profile profile;

        assert_true(cn_database_profile(db, i, &profile, &err));
        assert_true(!profile.name || strlen(profile.name) < len);
    }
    cn_database_close(db);
    cn_about_close(&about);
    return true;
}

static void notices_damage(void **state)
{
    struct cn_file file;
    struct cn_error err;
    uint8_t *bytes;
    size_t len;

    (void)state;
    make();
    assert_true(cn_file_open(&file, "made/about.json", &err));
    len = file.bytes.len;
    bytes = malloc(len);
    assert_non_null(bytes);
    memcpy(bytes, file.bytes.ptr, len);
    cn_file_close(&file);
    assert_true(opens_with(bytes, len));
    for (size_t i = 0; i + 2 < len; i++)
        assert_false(opens_with(bytes, i)); /* the last two are "}" and a newline */
    for (size_t i = 0; i < len; i++) {
        bytes[i] ^= (uint8_t)(1u << (i % 8));
        (void)opens_with(bytes, len);
        bytes[i] ^= (uint8_t)(1u << (i % 8));
    }
    free(bytes);
}

static void refuses_points_of_another_database(void **state)
{
    static const char *const wrong[] = {
        "{\"points\": [1000000, 1, 1]}",
        "{\"points\": [0, 1000000, 1]}",
        "{\"points\": [0, 1, 1], \"values\": [1, 1, 0, 2.5]}",
        "{\"points\": [0, 1, 1], \"values\": [0, 1000000, 0, 2.5]}",
        "{\"points\": [0, 1, 1], \"values\": [0, 1, 1000000, 2.5]}",
        "{\"points\": [{}]}",
        "{\"points\": 5}",
        "{\"points\": [",
    };
    struct cn_database *db;
    struct cn_about about;
    struct cn_error err;

    (void)state;
    make();
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        cn_scratch_write("made/points.json", wrong[i], strlen(wrong[i]));
        assert_false(cn_about_open(&db, &about, "made", &err));
        assert_non_null(strstr(err.text, "made/points.json: "));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(reads_what_was_written),
        CN_SCRATCH_TEST(notices_damage),
        CN_SCRATCH_TEST(refuses_points_of_another_database),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
