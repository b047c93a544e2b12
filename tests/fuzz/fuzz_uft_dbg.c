/* Any bytes as debug information, its specifications and enums parsed. */

#include <assert.h>

#include "formats/uftrace/text/argspec.h"
#include "formats/uftrace/text/debug_reader.h"
#include "support/fuzz.h"

static void bad_line(void *arg, uint64_t off, const struct cn_error *err)
{
    const size_t *len = arg;

    assert(off < *len && err->text[0] != '\0');
}

static void parse_specs(struct cn_bytes text, struct cn_arena *arena,
                        struct cn_uft_enums *enums)
{
    struct cn_uft_spec_parser parser = {8, arena, enums};
    struct cn_uft_specs specs = {.count = 0};
    struct cn_argument_spec spec;
    struct cn_bytes token;

    (void)cn_uft_scan_literal(&text, "@");
    while (cn_uft_scan_until(&text, ',', &token))
        if (cn_uft_spec_parse(&parser, token, &spec))
            cn_uft_specs_add(&specs, &spec, true);
    assert(cn_uft_specs_copy(&specs, arena).count == specs.count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_uft_debug debug;
    struct cn_uft_enums enums = {0};
    struct cn_arena arena = {0};

    cn_uft_debug_read((struct cn_bytes){data, len}, &debug, bad_line, &len);
    for (size_t i = 0; i < debug.enum_count; i++)
        cn_uft_enums_add(&enums, debug.enums[i], &arena);
    for (size_t i = 0; i < debug.count; i++) {
        assert(cn_uft_debug_find(&debug, debug.list[i].offset));
        parse_specs(debug.list[i].arguments, &arena, &enums);
        parse_specs(debug.list[i].result, &arena, &enums);
    }
    cn_uft_debug_done(&debug);
    cn_uft_enums_done(&enums);
    cn_arena_done(&arena);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char text[] =
        "# path name: /bin/x\n# build-id: 0123\nE: enum color {RED,GREEN=5,BLUE}\n"
        "F: 934 f_int\nL: 7 args.c\nA: @arg1,arg2/x,arg3/u8\nR: @retval\n"
        "F: 9b8 f_dbl\nL: 9 args.c\nA: @fparg1/64,fparg2/32\nR: @retval/f64\n"
        "F: 9f4 f_small\nA: @arg1/t8:small%X0,arg2%X1,arg9%stack+1\nR: @retval/t8:small\n"
        "F: a94 f_enum\nA: @arg1/e:color\nR: @retval/e:color\n"
        "F: 97c f_str\nA: @arg1/s,arg2/c\nR: @retval/s\n";

    emit((const uint8_t *)text, sizeof(text) - 1);
}
