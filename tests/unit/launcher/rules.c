/* Filters and triggers of `cairn record`, as the recorded program gets them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "launcher/agent_rules.h"
#include "launcher/elf_file.h"
#include "launcher/rules.h"
#include "launcher/shared_memory.h"

static struct cn_elf_symbol symbols[] = {
    {0x10, 0x10, 'T', (char *)(uintptr_t) "main"},
    {0x20, 0x04, 't', (char *)(uintptr_t) "tiny"},
    {0x30, 0x10, 'T', (char *)(uintptr_t) "_ZN3net7receiveEi"},
    {0x40, 0x10, 'T', (char *)(uintptr_t) "_ZN3net4sendEv"},
    {0x50, 0x08, 'D', (char *)(uintptr_t) "main_data"},
    {0x60, 0x08, 'P', (char *)(uintptr_t) "malloc"},
};
static const struct cn_elf_file elf = {
    .symbols = symbols,
    .symbol_count = sizeof(symbols) / sizeof(symbols[0]),
};

static struct cn_rec_shared head;
static struct cn_rec_rule stored[16];

static void store(const struct cn_rules *rules)
{
    struct cn_shared_memory memory = {
        .fd = memfd_create("rules", MFD_CLOEXEC), .head = &head, .rules = stored};
    struct cn_error err = {0};
    uint32_t count = 0;

    assert_true(memory.fd >= 0);
    memset(&head, 0, sizeof(head));
    assert_true(cn_rules_store(rules, &elf, NULL, &memory, &count, &err));
    assert_int_equal(count, head.rule_count);
    (void)close(memory.fd);
}

static void a_name_without_special_characters_matches_itself_only(void **state)
{
    struct cn_rules rules = {0};
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_rules_add(&rules, "main", CN_REC_RULE_ONLY, &err));
    store(&rules);
    assert_int_equal(head.rule_count, 1);
    assert_int_equal(cn_rules_actions(&rules), CN_REC_RULE_ONLY);
    assert_int_equal(stored[0].low, 0x10);
    assert_int_equal(stored[0].high, 0x20);
    assert_int_equal(stored[0].actions, CN_REC_RULE_ONLY);
    cn_rules_done(&rules);
}

static void patterns_match_demangled_names(void **state)
{
    struct cn_rules rules = {0};
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_rules_add(&rules, "^net::", CN_REC_RULE_NOT, &err));
    store(&rules);
    assert_int_equal(head.rule_count, 2);
    assert_int_equal(stored[0].low, 0x30);
    assert_int_equal(stored[1].low, 0x40);
    cn_rules_done(&rules);
}

static void globs_match_as_in_the_shell(void **state)
{
    struct cn_rules rules = {.is_glob = true};
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_rules_add(&rules, "m*", CN_REC_RULE_NOT, &err));
    store(&rules);
    assert_int_equal(head.rule_count, 2);
    assert_int_equal(stored[0].low, 0x10);
    assert_int_equal(stored[1].low, 0x60); /* library calls, but no data */
    cn_rules_done(&rules);
}

static void actions_of_one_function_are_combined(void **state)
{
    struct cn_rules rules = {.size_min = 8};
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_rules_add_trigger(&rules, "tiny@depth=3,time=5us", &err));
    assert_true(cn_rules_add_trigger(&rules, "tiny@trace_on,read=page-fault", &err));
    assert_true(cn_rules_add_trigger(&rules, "tiny@read=proc/statm", &err));
    store(&rules);
    assert_int_equal(head.rule_count, 1);
    assert_int_equal(stored[0].actions, CN_REC_RULE_DEPTH | CN_REC_RULE_TIME |
                                            CN_REC_RULE_ON | CN_REC_RULE_HIDE |
                                            CN_REC_RULE_READ_FAULTS |
                                            CN_REC_RULE_READ_STATM);
    assert_int_equal(stored[0].depth, 3);
    assert_int_equal(stored[0].time_ns, 5000);
    cn_rules_done(&rules);
}

static void clears_actions_of_earlier_rules(void **state)
{
    struct cn_rules rules = {0};
    struct cn_error err = {0};

    (void)state;
    assert_true(cn_rules_add(&rules, "main", CN_REC_RULE_ONLY, &err));
    assert_true(cn_agent_rules_add(&rules, "!tiny;net::.*", false, &err));
    assert_true(cn_agent_rules_add(&rules, "main@depth=2,hide", true, &err));
    store(&rules);
    assert_int_equal(head.rule_count, 4);
    assert_int_equal(stored[1].actions, CN_REC_RULE_NOT);
    assert_false(cn_rules_clear_some(&rules));
    assert_true(cn_agent_rules_add(&rules, "tiny@clear;!net::send@clear", false, &err));
    assert_true(cn_agent_rules_add(&rules, "main@clear=depth+hide,time=1ms", true, &err));
    store(&rules);
    assert_true(cn_rules_clear_some(&rules));
    assert_int_equal(head.rule_count, 2);
    assert_int_equal(stored[0].actions, CN_REC_RULE_ONLY | CN_REC_RULE_TIME);
    assert_int_equal(stored[0].time_ns, 1000000);
    assert_int_equal(stored[1].low, 0x30);
    assert_true(cn_agent_rules_add(&rules, ".@clear", true, &err));
    store(&rules);
    assert_int_equal(head.rule_count, 0);
    cn_rules_cut(&rules, 1);
    store(&rules);
    assert_int_equal(head.rule_count, 1);
    cn_rules_done(&rules);
}

static void rejects_what_is_no_trigger(void **state)
{
    static const char *const bad[] = {
        "main",           "@trace_on",    "main@",           "main@foo",
        "main@depth=",    "main@depth=x", "main@time=5days", "main@time=",
        "main@trace_on,", "(@trace_on",   "main@read=",      "main@read=pmu-cycle",
    };
    struct cn_rules rules = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct cn_error err = {0};

        assert_false(cn_rules_add_trigger(&rules, bad[i], &err));
        assert_int_equal(err.kind, CN_ERR_USAGE);
    }
    assert_int_equal(rules.count, 0);
    cn_rules_done(&rules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_without_special_characters_matches_itself_only),
        cmocka_unit_test(patterns_match_demangled_names),
        cmocka_unit_test(globs_match_as_in_the_shell),
        cmocka_unit_test(actions_of_one_function_are_combined),
        cmocka_unit_test(clears_actions_of_earlier_rules),
        cmocka_unit_test(rejects_what_is_no_trigger),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
