/* Any bytes as metrics/default.yaml: what is read can be written and read again. */

#include <assert.h>
#include <string.h>

#include "base/text.h"
#include "formats/hpctoolkit/metrics_yaml.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_arena arena = {0};
    struct cn_error err = {0};
    struct cn_text written = {0};
    struct cn_taxonomy taxonomy, again;

    if (cn_hpc_metrics_yaml_read((struct cn_bytes){data, len}, &taxonomy, &arena, &err)) {
        cn_hpc_metrics_yaml_write(&taxonomy, &written);
        if (cn_hpc_metrics_yaml_read(
                (struct cn_bytes){(const uint8_t *)written.chars, written.len}, &again,
                &arena, &err)) {
            assert(again.input_count == taxonomy.input_count);
            assert(again.root_count == taxonomy.root_count);
        } else {
            assert(err.kind == CN_ERR_LIMIT);
        }
        (void)!cn_hpc_metrics_yaml_append((struct cn_bytes){data, len}, &taxonomy, &arena,
                                          &err);
    }
    cn_text_done(&written);
    cn_arena_done(&arena);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char *const seeds[] = {
        "version: 0\n"
        "inputs:\n"
        "  - &cycles-sum-x5b_0x0x5d_-execution\n"
        "    metric: cycles\n"
        "    scope: execution\n"
        "    formula: $$\n"
        "    combine: sum\n"
        "  - &count {<<: *cycles-sum-x5b_0x0x5d_-execution, formula: 1}\n"
        "roots:\n"
        "  - name: \"GINS: SIMD_TOT\"\n"
        "    description: GPU total SIMD lanes\n"
        "    visible by default: false\n"
        "    format: \"%6.2f %%\"\n"
        "    variants:\n"
        "      Sum:\n"
        "        render: [number, percent]\n"
        "        formula:\n"
        "          inclusive:\n"
        "            standard: *cycles-sum-x5b_0x0x5d_-execution\n"
        "          exclusive:\n"
        "            custom: {sqrt: [{\"-\": [*count, {^: [*count, 2]}]}]}\n",
        "inputs: [&a {metric: A, scope: s, combine: min}]\n"
        "roots:\n"
        "  - name: P\n"
        "    variants: {V: {render: hidden, formula: sum}, W: {formula: first, "
        "child variant: V}}\n"
        "    children:\n"
        "      - {name: C, variants: {V: {formula: {inclusive: [2 *, [*a, -, 3]], "
        "exclusive: *a}}}}\n",
    };

    for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++)
        emit((const uint8_t *)seeds[i], strlen(seeds[i]));
}
