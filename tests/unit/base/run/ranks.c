/* Ranks that talk: what one has reaches the others, in order, and failures too.
 * Label: threads. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/wire.h"
#include "base/files/ranks.h"
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

/* What a rank has taken. */
struct taken {
    unsigned count, wrong;
};

/* Empty messages are messages too. */
static bool take(void *arg, unsigned from, struct cn_bytes message, struct cn_error *err)
{
    struct taken *taken = arg;
    uint32_t value = 0;

    taken->wrong += from != taken->count++;
    if (from % 3 == 2)
        taken->wrong += message.len != 0;
    else
        taken->wrong += !cn_wire_u32_take(&message, &value) || value != from * 7;
    return from != 5 || cn_fail(err, CN_ERR_FORMAT, "not this one");
}

/* Rank 5 sends something that no rank takes. */
static void share(struct cn_ranks *ranks, void *arg)
{
    struct cn_text own = {0};
    struct taken all = {0}, first = {0};
    struct cn_error err = {0};
    unsigned expected = ranks->size < 6 ? ranks->size : 6;

    if (ranks->rank % 3 != 2)
        cn_wire_u32(&own, ranks->rank * 7);
    expect(ranks, arg,
           cn_ranks_share(ranks, &own, take, &all, &err) == (ranks->size < 6));
    expect(ranks, arg, all.count == expected && all.wrong == 0);
    expect(ranks, arg,
           cn_ranks_collect(ranks, &own, take, &first, &err) == (ranks->size < 6));
    expect(ranks, arg,
           first.count == (ranks->rank == 0 ? expected : 0) && first.wrong == 0);
    if (ranks->size >= 6)
        expect(ranks, arg, strcmp(err.text, "rank 5: not this one") == 0);
    cn_text_done(&own);
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
    struct cn_error err = {0};

    cn_text_printf(&own, "%u.", ranks->rank);
    expect(ranks, arg, cn_ranks_reduce(ranks, add_name, append, &own, &err));
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

static void add_counts(struct cn_ranks *ranks, void *arg)
{
    enum { COUNT = 20000 };
    static uint32_t counts[SIZE_MAX_TRIED][COUNT];
    uint32_t *own = counts[ranks->rank], much = UINT32_MAX;
    struct cn_error err = {0};

    for (uint32_t i = 0; i < COUNT; i++)
        own[i] = i + ranks->rank;
    expect(ranks, arg, cn_ranks_add_counts(ranks, true, own, COUNT, &err));
    for (uint32_t i = 0; i < COUNT; i++)
        expect(ranks, arg,
               own[i] == ranks->size * i + ranks->size * (ranks->size - 1) / 2);
    expect(ranks, arg,
           cn_ranks_add_counts(ranks, true, &much, 1, &err) == (ranks->size == 1));
}

static void numbers_are_combined(void **state)
{
    (void)state;
    run_sizes(combine);
    run_sizes(add_counts);
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

/* Job 11 fails: those before it have their numbers, those after it stop, without a message. */
static void take_turns(struct cn_ranks *ranks, void *arg)
{
    enum { COUNT = 23, FAILS = 11 };
    struct cn_ranks_turns turns = {.ranks = ranks, .end = 100};

    for (size_t job = ranks->rank; job < COUNT; job += ranks->size) {
        struct cn_error err = {0};
        uint64_t first = 0;
        bool ok = cn_ranks_turns_reserve(&turns, job + 1 == COUNT, job != FAILS, job,
                                         &first, &err);

        expect(ranks, arg, ok == (job < FAILS || (ranks->size == 1 && job > FAILS)));
        expect(ranks, arg, !ok || first == 100 + job * (job - 1) / 2);
        expect(ranks, arg, err.kind == CN_ERR_NONE);
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
            size_t first, end;

            cn_ranks_split(&ranks, weights, 40, &first, &end);
            assert_int_equal(first, next);
            assert_true(end >= first);
            next = end;
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
        uint64_t sum = 0;
        size_t first, end;

        cn_ranks_split(&ranks, weights, 1000, &first, &end);
        for (size_t i = first; i < end; i++)
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

    expect(ranks, arg, cn_ranks_spool_open(ranks, &spool, ".", 1, &err));
    (void)cn_spool_reserve(&spool, 100);
    off = cn_spool_reserve(&spool, sizeof(value));
    expect(ranks, arg, off >> CN_SPOOL_FILE_SHIFT == ranks->rank);
    expect(ranks, arg, cn_spool_write(&spool, off, &value, sizeof(value), &err));
    expect(ranks, arg, cn_ranks_agree(ranks, true, &err));
    for (uint64_t i = 0; i < ranks->size; i++) {
        off = (i << CN_SPOOL_FILE_SHIFT) + 100;
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

    expect(ranks, arg, cn_ranks_spool_open(ranks, &spool, ".", 3, &err));
    for (unsigned i = 0; i < 3; i++) {
        offs[i] = cn_spool_reserve_in(&spool, i, sizeof(i));
        expect(ranks, arg,
               offs[i] >> CN_SPOOL_FILE_SHIFT == (ranks->size == 1 ? i : ranks->rank));
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

    expect(ranks, arg, !cn_ranks_spool_open(ranks, &spool, "/no/such", 1, &err));
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
