/* Names that libiberty does not read are shown by their scope; others as it reads them. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "symbols/demangle.h"
#include "symbols/mangled_scope.h"

/* Of the library of PyTorch: a generic lambda as an argument of a template. */
static const char lambda[] =
    "_ZN3c1012function_refIFvPPcPKlllEE11callback_fnIZN2at18TensorIteratorBase15loop_2d_"
    "from_1dIZNS8_6native4AVX217cpu_serial_kernelIZZZNSB_9templates3cpu12_GLOBAL__N_"
    "114uniform_kernelIPNS8_16CPUGeneratorImplEEEvRS9_ddT_ENKUlvE_clEvENKUlvE0_clEvEUlvE_"
    "EEvSK_OSL_RKNS8_5RangeEEUlS2_S4_lE_EEDaRKSL_EUlS2_S4_llE_EEvlS2_S4_ll";

static void expect_demangled(const char *raw, enum cn_demangle how, const char *name)
{
    struct cn_text text = {0};

    assert_true(cn_demangle(raw, how, &text));
    assert_string_equal(cn_text_str(&text), name);
    cn_text_done(&text);
}

static void names_that_libiberty_does_not_read_have_their_scope(void **state)
{
    (void)state;
    expect_demangled(lambda, CN_DEMANGLE_FULL,
                     "c10::function_ref<...>::callback_fn<...>");
    expect_demangled(lambda, CN_DEMANGLE_SIMPLE, "c10::function_ref::callback_fn");
}

static void expect_scope(const char *raw, const char *name)
{
    struct cn_text text = {0};

    assert_true(cn_mangled_scope(raw, &text));
    assert_string_equal(cn_text_str(&text), name);
    cn_text_done(&text);
}

static void scopes_are_those_of_the_demangler(void **state)
{
    (void)state;
    expect_scope("_Z3addii", "add");
    expect_scope("_ZSt4sortIPiEvT_S1_", "std::sort<...>");
    expect_scope("_ZN4shop5StoreC2Ev", "shop::Store::Store");
    expect_scope("_ZN4shop5StoreD1Ev", "shop::Store::~Store");
    expect_scope("_ZNSs6appendEPKc", "std::string::append");
    expect_scope("_ZNK4shop3MapIiEixERKi", "shop::Map<...>::operator[]");
    expect_scope("_ZN4shoplsIiEERSoS1_T_", "shop::operator<< <...>");
    expect_scope("_ZN12_GLOBAL__N_13addEii", "(anonymous namespace)::add");
    expect_scope("_ZZN4shop4sellIiEEvT_ENKUlvE0_clEv",
                 "shop::sell<...>::{lambda#2}::operator()");
    expect_scope("_ZN1aILi4ELNS_1eE5EXadL_Z1fvEEE1gEv", "a<...>::g");
}

/* Cut at each place: nothing is read behind the end, and what has no end is refused. */
static void damaged_names_are_refused(void **state)
{
    static const char *const damaged[] = {
        "",         "_Z",     "_ZN",      "_ZN3fo",   "_ZN3foo",
        "_ZNS_1aE", "_ZN1aI", "_ZN1aE b", "_ZZN1aEv", "_ZN99999999999999999999aE"};
    char cut[sizeof(lambda)];

    (void)state;
    for (size_t i = 0; i < sizeof(damaged) / sizeof(*damaged); i++) {
        struct cn_text text = {0};

        assert_false(cn_mangled_scope(damaged[i], &text));
        cn_text_clear(&text);
        assert_false(cn_demangle(damaged[i], CN_DEMANGLE_FULL, &text));
        assert_int_equal(text.len, 0);
        cn_text_done(&text);
    }
    for (size_t len = 0; len < sizeof(lambda) - 1; len++) {
        struct cn_text text = {0};
        char *exact = strndup(lambda, len);

        (void)cn_mangled_scope(exact, &text);
        cn_text_done(&text);
        free(exact);
        memcpy(cut, lambda, sizeof(lambda));
        cut[len] = 'E';
        (void)cn_mangled_scope(cut, &text);
        cn_text_done(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_that_libiberty_does_not_read_have_their_scope),
        cmocka_unit_test(scopes_are_those_of_the_demangler),
        cmocka_unit_test(damaged_names_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
