/* The system calls of states.db: written, read back, and damaged with sound checksums. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/files/blocks.h"
#include "base/files/file.h"
#include "formats/exchange/perf/perf.h"
#include "formats/hpctoolkit/v4/read/states_reader.h"
#include "formats/hpctoolkit/v4/states_format.h"
#include "formats/hpctoolkit/v4/verify/verify.h"
#include "model/contexts/database.h"
#include "model/io/calls.h"
#include "support/imported.h"
#include "support/perf_inputs.h"
#include "support/scratch.h"
#include "support/v4_writing.h"

static void count_finding(void *arg, const struct cn_finding *finding)
{
    (void)finding;
    ++*(unsigned *)arg;
}

static void a_database_has_the_system_calls_of_its_source(void **state)
{
    size_t len;
    uint8_t *bytes = cn_test_perf_io(&len);
    struct cn_database *from = cn_imported(cn_perf_read, (struct cn_bytes){bytes, len}),
                       *to;
    struct cn_error err;
    unsigned findings = 0;

    (void)state;
    cn_v4_must_write(from, "db", (struct cn_write_options){.workers = 1});
    assert_true(cn_hpc_v4_verify("db", NULL, count_finding, &findings, &err));
    assert_int_equal(findings, 0);
    to = cn_v4_must_open("db");
    assert_non_null(to->io);
    assert_int_equal(to->io->count, from->io->count);
    for (size_t i = 0; i < to->io->count; i++) {
        const struct cn_io_call *a = &from->io->list[i], *b = &to->io->list[i];

        assert_true(a->begin_ns == b->begin_ns && a->end_ns == b->end_ns &&
                    a->result == b->result && a->profile == b->profile &&
                    a->caller == b->caller && a->context == b->context &&
                    a->descriptor == b->descriptor && a->call == b->call);
        assert_true(a->target < from->io->target_count &&
                    b->target < to->io->target_count);
        assert_string_equal(to->io->targets[b->target], from->io->targets[a->target]);
    }
    cn_database_close(to);
    cn_database_close(from);
    free(bytes);
}

static void add_section(struct cn_block_writer *out, unsigned section, const void *bytes,
                        size_t len)
{
    struct cn_error err;

    assert_true(cn_block_writer_section(out, section, &err));
    assert_true(len == 0 || cn_block_writer_add(out, bytes, len, &err));
}

/* Two profiles, these calls and these names. */
static bool is_read(const struct cn_hpc_states_io_call *calls, size_t count,
                    size_t cut_len, const char *names, size_t names_len)
{
    uint8_t profiles[2 * cn_hpc_states_profile_size] = {0};
    uint8_t bytes[4 * cn_hpc_states_io_call_size];
    struct cn_block_writer out;
    struct cn_hpc_states states;
    struct cn_arena arena = {0};
    struct cn_file file = {0};
    struct cn_error err = {0};

    for (size_t i = 0; i < count; i++)
        cn_hpc_states_io_call_encode(&calls[i], bytes + i * cn_hpc_states_io_call_size);
    assert_true(cn_block_writer_open(&out, &cn_disk_files, ".", CN_HPC_STATES_NAME,
                                     CN_HPC_STATES_MAGIC, CN_HPC_STATES_VERSION, &err));
    add_section(&out, CN_HPC_STATES_PROFILES, profiles, sizeof(profiles));
    add_section(&out, CN_HPC_STATES_CHANGES, NULL, 0);
    add_section(&out, CN_HPC_STATES_IO_CALLS, bytes,
                count * cn_hpc_states_io_call_size - cut_len);
    add_section(&out, CN_HPC_STATES_IO_NAMES, names, names_len);
    assert_true(cn_block_writer_commit(&out, &err));
    assert_true(cn_file_open_at(&file, ".", CN_HPC_STATES_NAME, &err));
    bool ok = cn_hpc_states_read(file.bytes, 2, false, &arena, &states, &err);
    assert_true(ok || err.text[0] != '\0');
    assert_true(!ok || (states.io && states.io->count == count));
    cn_arena_done(&arena);
    cn_file_close(&file);
    return ok;
}

static const char names[] = "read\0/home/notes";

static bool is_call_read(struct cn_hpc_states_io_call call)
{
    struct cn_hpc_states_io_call calls[] = {
        {.begin_ns = 10, .end_ns = 12, .profile = 1, .target = 1}, call};

    return is_read(calls, 2, 0, names, sizeof(names));
}

static void wrong_system_calls_are_refused(void **state)
{
    const struct cn_hpc_states_io_call good = {
        .begin_ns = 10, .end_ns = 11, .profile = 1, .target = 1};
    struct cn_hpc_states_io_call back = good, before = good, endless = good,
                                 summary = good, profile = good, no_target = good,
                                 target = good, name = good, no_call = good;

    (void)state;
    back.begin_ns = 9;
    before.end_ns = 9;
    endless.end_ns = 0;
    summary.profile = 0;
    profile.profile = 2;
    no_target.target = CN_NONE;
    target.target = 2;
    name.name = 2;
    no_call.name = 1;
    assert_true(is_call_read(good));
    assert_true(is_call_read(endless));
    assert_true(is_call_read(no_target));
    assert_false(is_call_read(back));
    assert_false(is_call_read(before));
    assert_false(is_call_read(summary));
    assert_false(is_call_read(profile));
    assert_false(is_call_read(target));
    assert_false(is_call_read(name));
    assert_false(is_call_read(no_call));
}

static void sections_that_are_cut_off_are_refused(void **state)
{
    const struct cn_hpc_states_io_call good = {
        .begin_ns = 10, .end_ns = 11, .profile = 1, .target = 1};

    (void)state;
    assert_true(is_read(&good, 1, 0, names, sizeof(names)));
    assert_false(is_read(&good, 1, 1, names, sizeof(names)));
    assert_false(is_read(&good, 1, cn_hpc_states_io_call_size - 1, names, sizeof(names)));
    assert_false(is_read(&good, 1, 0, names, sizeof(names) - 1));
    assert_false(is_read(&good, 1, 0, names, 5));
    assert_false(is_read(&good, 1, 0, NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(a_database_has_the_system_calls_of_its_source),
        CN_SCRATCH_TEST(wrong_system_calls_are_refused),
        CN_SCRATCH_TEST(sections_that_are_cut_off_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
