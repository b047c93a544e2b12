/* Any text as a formula: what parses prints, and prints the same when parsed again. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/contexts/formula.h"
#include "support/fuzz.h"

static void check(const char *text)
{
    struct cn_arena arena = {0};
    struct cn_error err = {0};
    struct cn_text printed = {0};
    const struct cn_formula *formula, *again;
    const double input = 3;

    if (cn_formula_parse(&formula, text, &arena, &err)) {
        (void)cn_formula_eval(formula, &input);
        cn_formula_print(formula, &printed);
        if (cn_formula_parse(&again, cn_text_str(&printed), &arena, &err))
            assert(cn_formula_equals(formula, again));
        else
            assert(err.kind == CN_ERR_LIMIT);
    }
    cn_text_done(&printed);
    cn_arena_done(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    char *text = cn_alloc(len + 1, 1);

    if (len > 0)
        memcpy(text, data, len);
    check(text);
    free(text);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char *const seeds[] = {
        "$$",
        "1",
        "($$^2)",
        "-2^-3^$$ * (4 - 5) / 6.5e-3 + -1",
        "min(1, max($$, 3), sqrt(4))",
        "strict floor($$) - strict_ceil(log(8, 2))",
        "sum(1,2,3) + prod($$) - pow(2, 0.5)",
    };

    for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++)
        emit((const uint8_t *)seeds[i], strlen(seeds[i]));
}
