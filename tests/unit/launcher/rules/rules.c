/* Filters and triggers of `cairn record`, as the recorded program gets them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "launcher/agent/agent.h"
#include "launcher/agent/format.h"
#include "launcher/elf/file.h"
#include "launcher/files/shared_memory.h"
#include "launcher/rules/rules.h"
#include "model/calls/trigger.h"

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
    assert_true(cn_rules_store(rules, "/bin/program", &elf, NULL, &memory, &count, &err));
    assert_int_equal(count, head.rule_count);
    (void)close(memory.fd);
}

static bool add(struct cn_rules *rules, const char *text, uint32_t actions,
                struct cn_error *err)
{
    struct cn_call_trigger trigger;
    bool ok = cn_call_trigger_parse(&trigger, text, err) &&
              cn_rules_add(rules, "filter", &trigger, text, actions, err);

    cn_call_trigger_done(&trigger);
    return ok;
}

static void a_name_without_special_characters_matches_itself_only(void **state)
{
    struct cn_rules rules = {0};
    struct cn_error err = {0};

    (void)state;
    assert_true(add(&rules, "main", CN_REC_RULE_ONLY, &err));
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
    assert_true(add(&rules, "^net::", CN_REC_RULE_NOT, &err));
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
    assert_true(add(&rules, "m*", CN_REC_RULE_NOT, &err));
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
    assert_true(add(&rules, "tiny@depth=3,time=5us", 0, &err));
    assert_true(add(&rules, "tiny@trace-on,read=page-fault", 0, &err));
    assert_true(add(&rules, "tiny@read=proc/statm", 0, &err));
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
    assert_true(add(&rules, "main", CN_REC_RULE_ONLY, &err));
    assert_true(cn_agent_rules_add(&rules, "!tiny;net::.*", CN_AGENT_FILTER, &err));
    assert_true(cn_agent_rules_add(&rules, "main@depth=2,hide", CN_AGENT_TRIGGER, &err));
    assert_true(cn_agent_rules_add(&rules, "malloc", CN_AGENT_CALLER, &err));
    store(&rules);
    assert_int_equal(head.rule_count, 5);
    assert_int_equal(stored[1].actions, CN_REC_RULE_NOT);
    assert_int_equal(stored[4].actions, CN_REC_RULE_CALLER);
    assert_false(cn_rules_clear_some(&rules));
    assert_true(
        cn_agent_rules_add(&rules, "tiny@clear;!net::send@clear", CN_AGENT_FILTER, &err));
    assert_true(cn_agent_rules_add(&rules, "main@clear=depth+hide,time=1ms",
                                   CN_AGENT_TRIGGER, &err));
    assert_true(cn_agent_rules_add(&rules, "malloc@clear", CN_AGENT_CALLER, &err));
    store(&rules);
    assert_true(cn_rules_clear_some(&rules));
    assert_int_equal(head.rule_count, 2);
    assert_int_equal(stored[0].actions, CN_REC_RULE_ONLY | CN_REC_RULE_TIME);
    assert_int_equal(stored[0].time_ns, 1000000);
    assert_int_equal(stored[1].low, 0x30);
    assert_true(cn_agent_rules_add(&rules, ".@clear", CN_AGENT_TRIGGER, &err));
    store(&rules);
    assert_int_equal(head.rule_count, 0);
    cn_rules_cut(&rules, 1);
    store(&rules);
    assert_int_equal(head.rule_count, 1);
    assert_false(cn_agent_rules_add(&rules, "main@nosuch", CN_AGENT_TRIGGER, &err));
    assert_false(cn_agent_rules_add(&rules, "main@clear=nosuch", CN_AGENT_TRIGGER, &err));
    assert_false(cn_agent_rules_add(&rules, "main@arg1", CN_AGENT_TRIGGER, &err));
    cn_rules_done(&rules);
}

static void of_filter_and_notrace_the_last_one_counts(void **state)
{
    struct cn_rules rules = {0};
    struct cn_error err = {0};

    (void)state;
    assert_true(add(&rules, "^net::", CN_REC_RULE_ONLY, &err));
    assert_true(add(&rules, "send", CN_REC_RULE_NOT, &err)); /* a name: matches nothing */
    assert_true(add(&rules, "send$", CN_REC_RULE_NOT, &err));
    store(&rules);
    assert_int_equal(head.rule_count, 2);
    assert_int_equal(stored[0].actions, CN_REC_RULE_ONLY);
    assert_int_equal(stored[1].actions, CN_REC_RULE_NOT);
    cn_rules_done(&rules);
}

static void a_module_is_the_begin_of_the_name_of_a_file(void **state)
{
    static const struct {
        const char *text;
        uint64_t low; /* of the only function; 0: none */
    } cases[] = {
        {"m.*@plt", 0x60},   {"m.*@PLT", 0x60},     {"main@program", 0x10},
        {"main@prog", 0x10}, {"main@libc.so.6", 0}, {"main@plt", 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct cn_rules rules = {0};
        struct cn_error err = {0};

        assert_true(add(&rules, cases[i].text, CN_REC_RULE_ONLY, &err));
        assert_true(cn_rules_check(&rules, "/bin/program", &err));
        store(&rules);
        assert_int_equal(head.rule_count, cases[i].low > 0);
        if (cases[i].low > 0)
            assert_int_equal(stored[0].low, cases[i].low);
        cn_rules_done(&rules);
    }
}

static void refuses_a_module_that_cannot_exist(void **state)
{
    struct cn_rules rules = {0};
    struct cn_error err = {0};

    (void)state;
    assert_true(add(&rules, "main@no-such-module,depth=1", CN_REC_RULE_ONLY, &err));
    assert_false(cn_rules_check(&rules, "/bin/program", &err));
    assert_int_equal(err.kind, CN_ERR_USAGE);
    assert_non_null(strstr(err.text, "'no-such-module'"));
    cn_rules_done(&rules);
}

static void take_pattern(void *arg, const char *option, const char *text,
                         const char *what)
{
    const char **seen = arg;

    assert_string_equal(option, "filter");
    assert_non_null(strstr(what, "no function"));
    *seen = text;
}

static void reports_a_pattern_without_a_function(void **state)
{
    struct cn_rules rules = {0};
    struct cn_error err = {0};
    const char *seen = NULL;

    (void)state;
    assert_true(add(&rules, "main", CN_REC_RULE_ONLY, &err));
    assert_true(add(&rules, "nothing@depth=1", CN_REC_RULE_ONLY, &err));
    store(&rules);
    cn_rules_report(&rules, take_pattern, &seen);
    assert_string_equal(seen, "nothing@depth=1");
    cn_rules_done(&rules);
}

static void sizes_of_library_calls_are_those_of_plt_entries(void **state)
{
    struct cn_rules rules = {.size_min = 17};

    (void)state;
    store(&rules);
    assert_int_equal(head.rule_count, 5);
    assert_int_equal(stored[4].low, 0x60);
    assert_int_equal(stored[4].actions, CN_REC_RULE_HIDE);
    cn_rules_done(&rules);
}

static void rejects_bad_words(void **state)
{
    static const char *const bad[] = {
        "@trace_on",    "main@depth=",  "main@depth=x", "main@time=5days",
        "main@time=",   "(@trace_on",   "main@read=",   "main@size=-1",
        "main@foo=1",   "main@if:arg1", "main@if:x==1", "main@if:arg0==1",
        "main@foo,bar",
    };
    struct cn_rules rules = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct cn_error err = {0};

        assert_false(add(&rules, bad[i], 0, &err));
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
        cmocka_unit_test(of_filter_and_notrace_the_last_one_counts),
        cmocka_unit_test(a_module_is_the_begin_of_the_name_of_a_file),
        cmocka_unit_test(refuses_a_module_that_cannot_exist),
        cmocka_unit_test(reports_a_pattern_without_a_function),
        cmocka_unit_test(sizes_of_library_calls_are_those_of_plt_entries),
        cmocka_unit_test(rejects_bad_words),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
