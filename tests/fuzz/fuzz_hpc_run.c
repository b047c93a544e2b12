/* Any bytes as a .hpcrun file: read, verified and dumped. */
#include <assert.h>

#include "base/bytes/record.h"
#include "formats/hpctoolkit/meas/meas.h"
#include "formats/hpctoolkit/meas/profile/profile.h"
#include "formats/hpctoolkit/meas/verify/verify.h"
#include "support/fuzz.h"
#include "support/gpu_run.h"
#include "support/tiny_meas.h"

static void on_finding(void *arg, const struct cn_finding *finding)
{
    size_t *count = arg;

    assert(finding->text[0] != '\0');
    *count += finding->is_error;
}

static bool on_item(void *arg, const struct cn_dump_item *item)
{
    (void)arg;
    assert(item->bytes.len >= item->layout->size);
    return true;
}

/* What is handed out can be used without further checks. */
static void check_profile(const struct cn_sampled_profile *p)
{
    for (size_t i = 0; i < p->node_count; i++) {
        assert(p->nodes[i].parent == CN_NONE || p->nodes[i].parent < i);
        assert(p->nodes[i].kind != CN_NODE_POINT || p->nodes[i].module < p->module_count);
    }
    for (size_t i = 0; i < p->value_count; i++)
        assert(p->values[i].node < p->node_count &&
               p->values[i].metric < p->metric_count);
    for (size_t i = 0; i < p->identity_count; i++)
        assert(p->identity[i].kind < p->kind_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes bytes = {data, len};
    struct cn_sampled_profile profile = {0};
    struct cn_error err = {0};
    size_t error_count = 0;
    bool ok = cn_hpc_profile_decode(bytes, (struct cn_bytes){0}, &profile, &err);

    if (ok)
        check_profile(&profile);
    cn_hpc_meas_verify_bytes("run", bytes, "trace", (struct cn_bytes){0}, on_finding,
                             &error_count);
    assert(ok || error_count > 0);
    (void)!cn_hpc_dump_bytes("run", cn_hpc_meas_dump_contents, bytes, on_item, NULL,
                             &err);
    cn_hpc_profile_done(&profile);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_made_run ranges = cn_gpu_range_run();
    struct cn_text text = {0};

    cn_made_run_add(&ranges, &text);
    emit((const uint8_t *)text.chars, text.len);
    cn_text_done(&text);
    for (uint32_t thread = 0; thread < 2; thread++) {
        struct cn_tiny_meas tiny;

        cn_tiny_meas_init(&tiny, &(struct cn_tiny_meas_options){.thread = thread});
        emit((const uint8_t *)tiny.run.chars, tiny.run.len);
        cn_tiny_meas_done(&tiny);
    }
}
