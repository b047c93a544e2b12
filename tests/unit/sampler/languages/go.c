#include "sampler/languages/go.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "formats/exchange/perf/stored_names.h"

enum { GOEXIT = 0x401000, SWITCH = 0x405000, ROOM = 8 };

static struct cn_go *go_new(unsigned minor, struct cn_stored_names *names)
{
    struct cn_go_place place = {
        .minor = minor,
        .state_off = (uint64_t)-8,
        .outermost = {GOEXIT, GOEXIT + 16},
        .resumed = {SWITCH, SWITCH + 16},
    };
    struct cn_file file = {0};
    struct cn_go_table table = {0};

    return cn_go_open(&place, &file, &table, names);
}

static void knows_versions_up_to_the_last_that_was_read(void **state)
{
    struct cn_frame_table table;

    (void)state;
    assert_null(cn_go_layout_find(17));
    assert_int_equal(cn_go_layout_find(18)->creator, 296);
    assert_int_equal(cn_go_layout_find(20)->creator, 296);
    assert_int_equal(cn_go_layout_find(22)->creator, 280);
    assert_int_equal(cn_go_layout_find(24)->id, 160);
    assert_int_equal(cn_go_layout_find(25)->curg, 184);
    assert_null(cn_go_layout_find(26));
    for (unsigned minor = 17; minor <= 26; minor++) {
        struct cn_go *go = go_new(minor, NULL);

        assert_int_equal(cn_go_describe(go, &table), minor >= 18 && minor <= 25
                                                         ? CN_LANGUAGE_TABLE
                                                         : CN_LANGUAGE_NO_TABLE);
        cn_go_close(go);
    }
}

static void shows_goroutines_of_their_own_stacks_alone(void **state)
{
    struct cn_stored_names names = {0};
    struct cn_go *go = go_new(19, &names);
    struct cn_frame_table table;
    uint64_t words[16] = {0};
    struct cn_frames_found found = {.language = CN_LANGUAGE_GO};
    struct cn_language_sample sample = {
        .is_whole = true, .found = &found, .words = words, .has_goroutines = true};
    uint64_t chain[ROOM] = {0x402000, GOEXIT + 1}, of_thread[ROOM] = {0x402000, 0x403000};

    (void)state;
    assert_int_equal(cn_go_describe(go, &table), CN_LANGUAGE_TABLE);
    found.head_len = (uint16_t)table.head_len;
    words[CN_FRAME_OTHER_LEN] = 18;         /* its number */
    words[CN_FRAME_OTHER_LEN + 1] = 0x1234; /* what created it is not in the table */
    assert_int_equal(cn_go_finish(go, &sample, of_thread, 2, ROOM), 2);
    assert_int_equal(cn_go_finish(go, &sample, chain, 2, 2), 2);
    assert_int_equal(cn_go_finish(go, &sample, chain, 2, ROOM), 3);
    assert_int_equal(cn_stored_language(chain[2]), CN_LANGUAGE_GO);
    assert_string_equal(names.frames[0].function, "goroutine 18");
    sample.has_goroutines = false;
    assert_int_equal(cn_go_finish(go, &sample, chain, 2, ROOM), 2);
    sample.found = NULL;
    assert_int_equal(cn_go_finish(go, &sample, chain, 2, ROOM), 2);
    cn_go_close(go);
    cn_stored_names_done(&names);
}

/* Go, which C calls, which Go calls. */
static void leaves_out_what_stands_for_changes_of_stacks(void **state)
{
    struct cn_go *go = go_new(19, NULL);
    struct cn_language_sample sample = {.is_whole = true};
    uint64_t chain[ROOM] = {0x402000, 0x403000, SWITCH, 0x404000, SWITCH + 8, GOEXIT};
    uint64_t itself[ROOM] = {SWITCH, GOEXIT};

    (void)state;
    assert_int_equal(cn_go_finish(go, &sample, chain, 6, ROOM), 4);
    assert_int_equal(chain[1], 0x403000);
    assert_int_equal(chain[2], 0x404000);
    assert_int_equal(chain[3], GOEXIT);
    assert_int_equal(cn_go_finish(go, &sample, itself, 2, ROOM), 2);
    cn_go_close(go);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_versions_up_to_the_last_that_was_read),
        cmocka_unit_test(shows_goroutines_of_their_own_stacks_alone),
        cmocka_unit_test(leaves_out_what_stands_for_changes_of_stacks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
