/* Sums over parts of time, and looking for times, against the slow and obvious way.
 * Label: threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/timeline/range_sums.h"
#include "analyze/timeline/spans.h"
#include "base/alloc.h"
#include "model/contexts/memory.h"
#include "support/effort.h"

enum { CONTEXTS = 5, THREADS = 3, SAMPLES = 3000, ROUNDS = 200, TIME_MAX = 9000 };

static struct cn_sample samples[THREADS][SAMPLES];

/* Times that stand still now and then, and leap. */
static struct cn_database *make_database(void)
{
    struct cn_memory_database *m = cn_memory_database_new("ranges", "");

    (void)cn_memory_database_add_kind(m, "THREAD");
    srand((unsigned)cn_test_seed(7));
    for (uint32_t t = 0; t < THREADS; t++) {
        uint32_t profile =
            cn_memory_database_add_profile(m, (struct cn_identity_tuple){.count = 1});
        uint64_t time_ns = 100;

        for (size_t i = 0; i < SAMPLES; i++) {
            time_ns += (uint64_t)(rand() % 3) * (rand() % 50 == 0 ? 20 : 1);
            samples[t][i] = (struct cn_sample){time_ns, (uint32_t)(rand() % CONTEXTS)};
            cn_memory_database_add_sample(m, profile, samples[t][i]);
        }
    }
    return cn_memory_database_finish(m);
}

static uint64_t overlap(uint64_t begin, uint64_t end, uint64_t from, uint64_t to)
{
    begin = begin > from ? begin : from;
    end = end < to ? end : to;
    return begin < end ? end - begin : 0;
}

/* Of contexts 1 up to `limit`. */
static void expect_sums(const struct cn_range_sums *sums,
                        const struct cn_range_request *request)
{
    uint64_t ns[CONTEXTS] = {0}, count = 0;

    for (size_t p = 0; p < request->profile_count; p++)
        for (size_t i = 0; i + 1 < SAMPLES; i++) {
            const struct cn_sample *at = &samples[request->profiles[p] - 1][i];
            uint64_t time =
                overlap(at[0].time_ns, at[1].time_ns, request->begin_ns, request->end_ns);

            if (at->context >= request->id_limit || time == 0)
                continue;
            ns[at->context] += time;
            count += at->context != 0; /* a waiting thread */
        }
    for (size_t i = 0; i < request->id_limit; i++)
        assert_int_equal(sums->ns[i], ns[i]);
    assert_int_equal(sums->sample_count, count);
}

static void sums_are_those_of_all_samples(void **state)
{
    static const uint32_t profiles[] = {1, 3, 2};
    struct cn_database *db = make_database();

    (void)state;
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t begin = (uint64_t)(rand() % TIME_MAX);
        struct cn_range_request request = {
            .profiles = profiles,
            .profile_count = (size_t)(i % (THREADS + 1)),
            .begin_ns = begin,
            .end_ns = begin + 1 + (uint64_t)(rand() % TIME_MAX),
            .id_limit = i % 2 == 0 ? CONTEXTS : CONTEXTS - 1,
        };
        struct cn_range_sums sums;
        struct cn_error err = {0};

        assert_true(cn_range_sums_build(&sums, db, &request, NULL, &err));
        expect_sums(&sums, &request);
        cn_range_sums_done(&sums);
    }
    cn_database_close(db);
}

static uint64_t sum_of(struct cn_database *db, struct cn_range_request request,
                       uint64_t sample_max, bool *is_estimate)
{
    struct cn_range_sums sums;
    struct cn_error err = {0};
    uint64_t ns = 0;

    request.sample_max = sample_max;
    assert_true(cn_range_sums_build(&sums, db, &request, NULL, &err));
    for (size_t i = 0; i < request.id_limit; i++)
        ns += sums.ns[i];
    *is_estimate = sums.is_estimate;
    cn_range_sums_done(&sums);
    return ns;
}

/* An estimate of many samples or threads is near the sum; that of few is exact. */
static void estimates_stand_for_what_is_not_read(void **state)
{
    enum { MANY = 700 };
    uint32_t profiles[MANY];
    struct cn_range_request request = {
        .profiles = profiles, .end_ns = TIME_MAX, .id_limit = CONTEXTS};
    struct cn_database *db = make_database();
    bool is_estimate;

    (void)state;
    for (size_t i = 0; i < MANY; i++)
        profiles[i] = (uint32_t)(i * 7 % THREADS) + 1;
    for (size_t count = THREADS; count <= MANY; count += MANY - THREADS) {
        double exact, estimate;

        request.profile_count = count;
        exact = (double)sum_of(db, request, 0, &is_estimate);
        assert_false(is_estimate);
        estimate = (double)sum_of(db, request, SAMPLES, &is_estimate);
        assert_true(is_estimate);
        assert_true(estimate > exact * 0.5 && estimate < exact * 2);
        estimate = (double)sum_of(db, request, (uint64_t)SAMPLES * MANY, &is_estimate);
        assert_int_equal(is_estimate, count == MANY);
        assert_true(is_estimate || estimate == exact);
    }
    cn_database_close(db);
}

static void times_are_found(void **state)
{
    struct cn_database *db = make_database();
    struct cn_timeline timeline;
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_timeline_open(db, 1, &timeline, &err));
    for (uint64_t time_ns = 0; time_ns < TIME_MAX; time_ns++) {
        uint64_t expected = 0, found;

        while (expected + 1 < SAMPLES && samples[0][expected + 1].time_ns <= time_ns)
            expected++;
        assert_true(cn_timeline_find(db, &timeline, time_ns, &found, &err));
        assert_int_equal(found, expected);
    }
    cn_database_close(db);
}

static bool stop(void *arg, const char *what, uint64_t done, uint64_t total,
                 const char *unit)
{
    (void)arg;
    (void)what;
    (void)done;
    (void)total;
    (void)unit;
    return false;
}

static void can_be_stopped(void **state)
{
    static const uint32_t profiles[] = {1};
    struct cn_database *db = make_database();
    struct cn_progress progress = {.report = stop};
    struct cn_range_request request = {profiles, 1, 0, TIME_MAX, CONTEXTS, 0};
    struct cn_range_sums sums;
    struct cn_error err = {0};

    (void)state;
    assert_false(cn_range_sums_build(&sums, db, &request, &progress, &err));
    assert_int_equal(err.kind, CN_ERR_INTERRUPTED);
    cn_database_close(db);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_all_samples),
        cmocka_unit_test(estimates_stand_for_what_is_not_read),
        cmocka_unit_test(times_are_found),
        cmocka_unit_test(can_be_stopped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
