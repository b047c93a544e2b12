/* Ranks that talk: what one has reaches the others, in order, and failures too.
 * Label: threads. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/wire.h"
#include "base/files/spool.h"
#include "support/rank_group.h"

enum { SIZE_MAX_TRIED = 9 };

/* cmocka's assertions belong to the main thread: ranks count what is wrong. */
struct outcome {
    unsigned wrong[SIZE_MAX_TRIED];
};

static void run_sizes(cn_rank_fn run)
{
    for (unsigned size = 1; size <= SIZE_MAX_TRIED; size++) {
        struct outcome outcome = {0};

        cn_rank_group_run(size, run, &outcome);
        for (unsigned i = 0; i < size; i++)
            assert_int_equal(outcome.wrong[i], 0);
    }
}

static void expect(struct cn_ranks *ranks, struct outcome *outcome, bool holds)
{
    outcome->wrong[ranks->rank] += !holds;
}

static void broadcast(struct cn_ranks *ranks, void *arg)
{
    struct cn_text text = {0};
    struct cn_error err;

    cn_text_printf(&text, "from rank %u", ranks->rank);
    expect(ranks, arg, cn_ranks_broadcast(ranks, &text, &err));
    expect(ranks, arg, strcmp(cn_text_str(&text), "from rank 0") == 0);
    cn_text_done(&text);
}

static void rank_0_reaches_all(void **state)
{
    (void)state;
    run_sizes(broadcast);
}

static void share(struct cn_ranks *ranks, void *arg)
{
    struct cn_text own = {0}, all = {0};
    struct cn_bytes left, message;
    struct cn_error err;

    /* Empty messages are messages too. */
    if (ranks->rank % 3 != 2)
        cn_wire_u32(&own, ranks->rank * 7);
    expect(ranks, arg, cn_ranks_share(ranks, &own, &all, &err));
    left = cn_wire_view(&all);
    for (unsigned i = 0; i < ranks->size; i++) {
        uint32_t value = 0;

        expect(ranks, arg, cn_wire_bytes_take(&left, &message));
        if (i % 3 == 2)
            expect(ranks, arg, message.len == 0);
        else
            expect(ranks, arg, cn_wire_u32_take(&message, &value) && value == i * 7);
    }
    expect(ranks, arg, left.len == 0);
    cn_text_done(&own);
    cn_text_done(&all);
}

static void all_reach_all(void **state)
{
    (void)state;
    run_sizes(share);
}

/* Receive in the reverse order of channels: each message is that of its channel. */
static void use_channels(struct cn_ranks *ranks, void *arg)
{
    struct cn_text message = {0};
    struct cn_error err;

    for (unsigned i = 0; i < CN_RANKS_CHANNEL_COUNT && ranks->rank == 0; i++) {
        struct cn_ranks channel = cn_ranks_channel(ranks, i);

        cn_text_clear(&message);
        cn_text_printf(&message, "channel %u", i);
        for (unsigned to = 1; to < ranks->size; to++)
            expect(ranks, arg, cn_ranks_send(&channel, to, &message, &err));
    }
    for (unsigned i = CN_RANKS_CHANNEL_COUNT; i-- > 0 && ranks->rank > 0;) {
        struct cn_ranks channel = cn_ranks_channel(ranks, i);
        char expected[32];

        (void)snprintf(expected, sizeof(expected), "channel %u", i);
        expect(ranks, arg, cn_ranks_receive(&channel, 0, &message, &err));
        expect(ranks, arg, strcmp(cn_text_str(&message), expected) == 0);
    }
    cn_text_done(&message);
}

static void channels_do_not_meet(void **state)
{
    (void)state;
    run_sizes(use_channels);
}

static void add_name(void *arg, struct cn_text *message)
{
    const struct cn_text *own = arg;

    cn_text_add(message, own->chars, own->len);
}

static bool append(void *arg, unsigned from, struct cn_bytes message,
                   struct cn_error *err)
{
    (void)from;
    (void)err;
    cn_text_add(arg, (const char *)message.ptr, message.len);
    return true;
}

static void reduce(struct cn_ranks *ranks, void *arg)
{
    struct cn_text own = {0}, expected = {0};
    struct cn_ranks_sum sum = {&own, add_name, append};
    struct cn_error err = {0};

    cn_text_printf(&own, "%u.", ranks->rank);
    expect(ranks, arg, cn_ranks_reduce(ranks, true, &sum, &err));
    for (unsigned i = 0; i < ranks->size; i++)
        cn_text_printf(&expected, "%u.", i);
    if (ranks->rank == 0)
        expect(ranks, arg, strcmp(cn_text_str(&own), cn_text_str(&expected)) == 0);
    cn_text_done(&own);
    cn_text_done(&expected);
}

static void lower_ranks_come_first(void **state)
{
    (void)state;
    run_sizes(reduce);
}

static void combine(struct cn_ranks *ranks, void *arg)
{
    enum { COUNT = 70000 };
    static uint64_t values[SIZE_MAX_TRIED][COUNT];
    uint64_t *own = values[ranks->rank], size = ranks->size;
    uint64_t least = ranks->rank, most = ranks->rank, much = UINT64_MAX;
    struct cn_error err = {0};

    for (size_t i = 0; i < COUNT; i++)
        own[i] = i + ranks->rank;
    expect(ranks, arg, cn_ranks_combine(ranks, CN_RANKS_ADD, own, COUNT, &err));
    for (size_t i = 0; i < COUNT; i++)
        expect(ranks, arg, own[i] == size * i + size * (size - 1) / 2);
    expect(ranks, arg, cn_ranks_combine(ranks, CN_RANKS_MIN, &least, 1, &err));
    expect(ranks, arg, cn_ranks_combine(ranks, CN_RANKS_MAX, &most, 1, &err));
    expect(ranks, arg, least == 0 && most == size - 1);
    expect(ranks, arg,
           cn_ranks_combine(ranks, CN_RANKS_ADD, &much, 1, &err) == (size == 1));
}

static void numbers_are_combined(void **state)
{
    (void)state;
    run_sizes(combine);
}

/* The lowest of the ranks that say why. */
static void agree(struct cn_ranks *ranks, void *arg)
{
    struct cn_error err = {0}, own = {0};
    bool fails = ranks->rank > 0;

    expect(ranks, arg, cn_ranks_agree(ranks, true, &err));
    if (ranks->rank >= 2)
        (void)cn_fail(&own, CN_ERR_LIMIT, "rank %u has enough", ranks->rank);
    expect(ranks, arg, cn_ranks_agree(ranks, !fails, &own) == (ranks->size == 1));
    if (ranks->size > 2)
        expect(ranks, arg,
               own.kind == CN_ERR_LIMIT && strcmp(own.text, "rank 2 has enough") == 0);
}

static void a_failure_is_everybodys(void **state)
{
    (void)state;
    run_sizes(agree);
}

static void take_turns(struct cn_ranks *ranks, void *arg)
{
    enum { COUNT = 23 };
    struct cn_ranks_turn turn = {.number = 100};
    struct cn_error err;

    for (size_t job = ranks->rank; job < COUNT; job += ranks->size) {
        expect(ranks, arg, cn_ranks_turn_await(ranks, job, &turn, &err));
        expect(ranks, arg, turn.number == 100 + job && turn.has_failed == (job > 11));
        turn.number++;
        turn.has_failed = turn.has_failed || job == 11;
        expect(ranks, arg, cn_ranks_turn_pass(ranks, job, COUNT, &turn, &err));
    }
}

static void turns_are_taken_in_order(void **state)
{
    (void)state;
    run_sizes(take_turns);
}

static void parts_cover_everything_once(void **state)
{
    uint64_t weights[40] = {0};

    (void)state;
    for (size_t i = 0; i < 40; i++)
        weights[i] = i % 7 == 3 ? 1000 : i % 5;
    for (unsigned size = 1; size < 60; size++) {
        size_t next = 0;

        for (unsigned rank = 0; rank < size; rank++) {
            struct cn_ranks ranks = {.rank = rank, .size = size};
            struct cn_ranks_part part = cn_ranks_split(&ranks, weights, 40);

            assert_int_equal(part.first, next);
            assert_true(part.end >= part.first);
            next = part.end;
        }
        assert_int_equal(next, 40);
    }
}

static void parts_weigh_about_the_same(void **state)
{
    uint64_t weights[1000];

    (void)state;
    for (size_t i = 0; i < 1000; i++)
        weights[i] = i * i;
    for (unsigned rank = 0; rank < 4; rank++) {
        struct cn_ranks ranks = {.rank = rank, .size = 4};
        struct cn_ranks_part part = cn_ranks_split(&ranks, weights, 1000);
        uint64_t sum = 0;

        for (size_t i = part.first; i < part.end; i++)
            sum += weights[i];
        assert_in_range(sum, 332833500 / 4 - 1000000, 332833500 / 4 + 1000000);
    }
}

/* Every rank reads what every other has written, and the files have no names left. */
static void use_spool(struct cn_ranks *ranks, void *arg)
{
    struct cn_spool spool = {0};
    struct cn_error err = {0};
    uint32_t value = ranks->rank + 1000;
    uint64_t off;

    expect(ranks, arg, cn_spool_open_together(&spool, ".", ranks, &err));
    (void)cn_spool_reserve(&spool, 100);
    off = cn_spool_reserve(&spool, sizeof(value));
    expect(ranks, arg, off >> CN_SPOOL_RANK_SHIFT == ranks->rank);
    expect(ranks, arg, cn_spool_write(&spool, off, &value, sizeof(value), &err));
    expect(ranks, arg, cn_ranks_agree(ranks, true, &err));
    for (uint64_t i = 0; i < ranks->size; i++) {
        off = (i << CN_SPOOL_RANK_SHIFT) + 100;
        expect(ranks, arg, cn_spool_read(&spool, off, &value, sizeof(value), &err));
        expect(ranks, arg, value == i + 1000);
    }
    cn_spool_close(&spool);
}

static void spools_are_shared(void **state)
{
    (void)state;
    run_sizes(use_spool);
}

/* One process has a file for each lane; ranks, which may be many, have one each. */
static void use_lanes(struct cn_ranks *ranks, void *arg)
{
    struct cn_spool spool = {0};
    struct cn_error err = {0};
    uint64_t offs[3];

    expect(ranks, arg, cn_spool_open_together(&spool, ".", ranks, &err));
    expect(ranks, arg, cn_spool_add_lanes(&spool, 3, &err));
    for (unsigned i = 0; i < 3; i++) {
        offs[i] = cn_spool_reserve_in(&spool, i, sizeof(i));
        expect(ranks, arg,
               offs[i] >> CN_SPOOL_RANK_SHIFT == (ranks->size == 1 ? i : ranks->rank));
        expect(ranks, arg, cn_spool_write(&spool, offs[i], &i, sizeof(i), &err));
    }
    for (unsigned i = 0; i < 3; i++) {
        unsigned value = 0;

        expect(ranks, arg, cn_spool_read(&spool, offs[i], &value, sizeof(value), &err));
        expect(ranks, arg, value == i);
    }
    expect(ranks, arg,
           cn_spool_file_len(&spool, 0) == (ranks->size == 1 ? 1 : 3) * sizeof(unsigned));
    cn_spool_close(&spool);
}

static void lanes_do_not_overlap(void **state)
{
    (void)state;
    run_sizes(use_lanes);
}

static void a_spool_needs_its_folder(struct cn_ranks *ranks, void *arg)
{
    struct cn_spool spool = {0};
    struct cn_error err = {0};

    expect(ranks, arg, !cn_spool_open_together(&spool, "/no/such", ranks, &err));
    expect(ranks, arg, err.kind != CN_ERR_NONE);
    cn_spool_close(&spool);
}

static void no_folder_fails_everywhere(void **state)
{
    (void)state;
    run_sizes(a_spool_needs_its_folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_0_reaches_all),
        cmocka_unit_test(all_reach_all),
        cmocka_unit_test(channels_do_not_meet),
        cmocka_unit_test(lower_ranks_come_first),
        cmocka_unit_test(numbers_are_combined),
        cmocka_unit_test(a_failure_is_everybodys),
        cmocka_unit_test(turns_are_taken_in_order),
        cmocka_unit_test(parts_cover_everything_once),
        cmocka_unit_test(parts_weigh_about_the_same),
        cmocka_unit_test(spools_are_shared),
        cmocka_unit_test(lanes_do_not_overlap),
        cmocka_unit_test(no_folder_fails_everywhere),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
