/* The text files of uftrace directories, line by line: old and new forms,
 * specifications, names. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "formats/uftrace/text/argspec.h"
#include "formats/uftrace/text/symbol_reader.h"
#include "formats/uftrace/text/task_reader.h"
#include "model/calls/values.h"
#include "symbols/demangle.h"

static struct cn_bytes bytes_of(const char *text)
{
    return (struct cn_bytes){(const uint8_t *)text, strlen(text)};
}

static void reads_sessions_of_all_ages(void **state)
{
    static const char *const texts[] = {
        "SESS timestamp=42.893819172 pid=24290 sid=5951ceee0be7fb17 exename=\"/t/abc\"\n",
        "SESS timestamp=42.893819172 tid=24290 sid=5951ceee0be7fb17 exename=\"/t/abc\"",
    };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct cn_uft_lines lines;
        struct cn_uft_task_line line;
        struct cn_error err = {0};

        cn_uft_lines_begin(&lines, bytes_of(texts[i]));
        assert_int_equal(cn_uft_task_next(&lines, &line, &err), CN_ITEM);
        assert_int_equal(line.kind, CN_UFT_SESS);
        assert_int_equal(line.time_ns, 42893819172);
        assert_int_equal(line.pid, 24290);
        assert_true(cn_uft_text_equals(line.sid, "5951ceee0be7fb17"));
        assert_true(cn_uft_text_equals(line.path, "/t/abc"));
        assert_int_equal(cn_uft_task_next(&lines, &line, &err), CN_END);
    }
}

static void reads_maps_with_and_without_a_build_id(void **state)
{
    struct cn_uft_lines lines;
    struct cn_uft_map_line line;
    struct cn_error err = {0};

    (void)state;
    cn_uft_lines_begin(&lines, bytes_of("1000-2000 r-xp 00000000 08:01 117   /a b/c\n"
                                        "1000-2000 r-xp 0 00:00 0 /a b build-id:01ab\n"
                                        "2000-3000 rw-p 0 00:00 0\n"));
    assert_int_equal(cn_uft_map_next(&lines, &line, &err), CN_ITEM);
    assert_true(cn_uft_text_equals(line.path, "/a b/c") && line.build_id.len == 0);
    assert_int_equal(cn_uft_map_next(&lines, &line, &err), CN_ITEM);
    assert_true(cn_uft_text_equals(line.path, "/a b"));
    assert_true(cn_uft_text_equals(line.build_id, "01ab"));
    assert_int_equal(cn_uft_map_next(&lines, &line, &err), CN_ITEM);
    assert_int_equal(line.path.len, 0);
    assert_int_equal(cn_uft_map_next(&lines, &line, &err), CN_END);
}

static void no_bad_line(void *arg, uint64_t off, const struct cn_error *err)
{
    (void)arg;
    (void)off;
    fail_msg("%s", err->text);
}

static void symbols_without_sizes_reach_to_the_next(void **state)
{
    struct cn_uft_symbols symbols;

    (void)state;
    cn_uft_symbols_read(bytes_of("# path name: /x\n"
                                 "0540 T _start\n0570 t a\n04e0 P getpid\n"
                                 "0540 P __dynsym_end\n0600 d data\n07b9 T __sym_end\n"),
                        &symbols, no_bad_line, NULL);
    assert_int_equal(symbols.count, 4);
    assert_true(cn_uft_text_equals(symbols.list[0].name, "getpid"));
    assert_int_equal(symbols.list[0].size, 0x60);
    assert_int_equal(symbols.list[1].size, 0x30);
    assert_int_equal(symbols.list[3].type, 'd');
    assert_int_equal(symbols.list[3].size, 0x1b9);
    assert_true(cn_uft_text_equals(symbols.head.path, "/x"));
    cn_uft_symbols_done(&symbols);
}

static void reads_specs_of_every_form(void **state)
{
    static const struct {
        const char *text;
        char format;
        unsigned index, size;
        bool is_float;
        const char *type_name;
    } cases[] = {
        {"arg1", 'd', 1, 8, false, ""},
        {"arg2/x", 'x', 2, 8, false, ""},
        {"arg3/u8", 'u', 3, 1, false, ""},
        {"arg1/i32%rsi", 'i', 1, 4, false, ""},
        {"arg9%stack+1", 'd', 9, 8, false, ""},
        {"arg1/s", 's', 1, 0, false, ""},
        {"arg2/c", 'c', 2, 1, false, ""},
        {"fparg1", 'f', 1, 8, true, ""},
        {"fparg2/32", 'f', 2, 4, true, ""},
        {"fparg1/80", 'f', 1, 10, true, ""},
        {"arg1/t8:small%X0", 't', 1, 8, false, "small"},
        {"arg1/e:color", 'e', 1, 8, false, "color"},
        {"retval", 'd', 0, 8, false, ""},
        {"retval/f64", 'f', 0, 8, true, ""},
        {"arg2/f32", 'f', 2, 4, true, ""},
        {"retval/t32:big", 't', 0, 32, false, "big"},
    };
    static const char *const wrong[] = {"",        "arg",     "arg0",    "arg300",
                                        "arg1/q",  "arg1/x7", "arg1x",   "arg1/t9999",
                                        "depth=3", "fp1",     "arg1/x 8"};
    struct cn_arena arena = {0};
    struct cn_uft_enums enums = {0};
    struct cn_uft_spec_parser parser = {8, &arena, &enums};
    struct cn_argument_spec spec;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        assert_true(cn_uft_spec_parse(&parser, bytes_of(cases[i].text), &spec));
        assert_int_equal(spec.format, cases[i].format);
        assert_int_equal(spec.index, cases[i].index);
        assert_int_equal(spec.size, cases[i].size);
        assert_int_equal(spec.is_float, cases[i].is_float);
        assert_string_equal(spec.type_name, cases[i].type_name);
        assert_string_equal(spec.text, cases[i].text);
    }
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
        assert_false(cn_uft_spec_parse(&parser, bytes_of(wrong[i]), &spec));
    parser.word_len = 4;
    assert_true(cn_uft_spec_parse(&parser, bytes_of("arg1/p"), &spec));
    assert_int_equal(spec.size, 4);
    cn_uft_enums_done(&enums);
    cn_arena_done(&arena);
}

static void prints_enums_as_sums_of_their_members(void **state)
{
    static const struct {
        const char *name;
        int64_t value;
        const char *text;
    } cases[] = {
        {"color", 0, "RED"},
        {"color", 5, "GREEN"},
        {"color", 7, "BLUE|RED+0x1"},
        {"color", 16, "BLUE|GREEN|RED+0x5"},
        {"color", -1, "-1"},
        {"prot", 3, "W|R"},
        {"prot", 8, "X|W|R|NONE+0x1"},
        {"far", 0x20, "FAR"},
        {"mask", 3, "LOW"},
        {"mask", 0xffff, "ALL"},
    };
    struct cn_arena arena = {0};
    struct cn_uft_enums enums = {0};

    (void)state;
    cn_uft_enums_add(&enums,
                     bytes_of("enum color {RED,GREEN=5,BLUE};"
                              "enum prot { NONE, R, W, X = 4, };enum far {FAR = 0x20};"
                              "enum mask {A=1,B=2,LOW=3,ALL=65535}"),
                     &arena);
    assert_null(cn_uft_enums_find(&enums, "colour"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cn_text text = {0};

        cn_enum_print(cn_uft_enums_find(&enums, cases[i].name), cases[i].value, &text);
        assert_string_equal(cn_text_str(&text), cases[i].text);
        cn_text_done(&text);
    }
    cn_uft_enums_done(&enums);
    cn_arena_done(&arena);
}

static void demangles_as_people_know_it(void **state)
{
    static const struct {
        const char *raw, *simple, *full;
    } cases[] = {
        {"_ZZN5outer5inner7Derived3runEiENKUliE_clEi",
         "outer::inner::Derived::run::$_0::operator()",
         "outer::inner::Derived::run(int)::{lambda(int)#1}::operator()(int) const"},
        {"_ZN5outer5inner3BoxIiEplERKS2_", "outer::inner::Box::operator+",
         "outer::inner::Box<int>::operator+(outer::inner::Box<int> const&)"},
        {"_ZStrsIcSt11char_traitsIcEERSt13basic_istreamIT_T0_ES6_RS3_", "std::operator>>",
         NULL},
        {"_ZN12_GLOBAL__N_13fooEv", "_GLOBAL__N_1::foo", "(anonymous namespace)::foo()"},
        {"_ZN1AcviEv", "A::operator(cast)", "A::operator int()"},
        {"_Znwm", "operator new", "operator new(unsigned long)"},
        {"_ZN4aaaa4bbbbEv.cold", "aaaa::bbbb", "aaaa::bbbb() [clone .cold]"},
        {"_ZSt4moveIRiEONSt16remove_referenceIT_E4typeEOS2_", "std::move", NULL},
        {"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad",
         "core::fmt::Formatter::pad"},
        {"_RNvCs1234_7mycrate3foo", "mycrate::foo", NULL},
        {"main", NULL, NULL},
        {"_Znonsense", NULL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct cn_text text = {0};

        assert_int_equal(cn_demangle(cases[i].raw, CN_DEMANGLE_SIMPLE, &text),
                         cases[i].simple != NULL);
        assert_string_equal(cn_text_str(&text), cases[i].simple ? cases[i].simple : "");
        cn_text_clear(&text);
        assert_false(cn_demangle(cases[i].raw, CN_DEMANGLE_NO, &text));
        if (cases[i].full) {
            assert_true(cn_demangle(cases[i].raw, CN_DEMANGLE_FULL, &text));
            assert_string_equal(cn_text_str(&text), cases[i].full);
        }
        cn_text_done(&text);
    }
}

/* Each substitution doubles what was printed before: 2^60 characters without a
 * limit. */
static void gives_up_on_names_that_explode(void **state)
{
    struct cn_text raw = {0}, out = {0};

    (void)state;
    cn_text_str_add(&raw, "_Z1fSt4pairIiiES_IS0_S0_E");
    for (int i = 1; i < 34; i++)
        cn_text_printf(&raw, "S_IS%cS%cE", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i],
                       "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i]);
    (void)cn_demangle(cn_text_str(&raw), CN_DEMANGLE_FULL, &out);
    assert_true(out.len <= 1 << 16);
    cn_text_done(&raw);
    cn_text_done(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_sessions_of_all_ages),
        cmocka_unit_test(reads_maps_with_and_without_a_build_id),
        cmocka_unit_test(symbols_without_sizes_reach_to_the_next),
        cmocka_unit_test(reads_specs_of_every_form),
        cmocka_unit_test(prints_enums_as_sums_of_their_members),
        cmocka_unit_test(demangles_as_people_know_it),
        cmocka_unit_test(gives_up_on_names_that_explode),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
