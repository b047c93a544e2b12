/* Any bytes as the .hpctrace file of a good profile: what is read is in the order
 * of time. */
#include <assert.h>

#include "base/bytes/record.h"
#include "formats/hpctoolkit/meas/meas.h"
#include "formats/hpctoolkit/meas/profile/profile.h"
#include "formats/hpctoolkit/meas/verify/verify.h"
#include "support/fuzz.h"
#include "support/tiny_meas.h"

static void on_finding(void *arg, const struct cn_finding *finding)
{
    (void)arg;
    assert(finding->text[0] != '\0');
}

static bool on_item(void *arg, const struct cn_dump_item *item)
{
    (void)arg;
    assert(item->bytes.len >= item->layout->size);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes trace = {data, len}, run;
    struct cn_sampled_profile profile = {0};
    struct cn_error err = {0};
    struct cn_tiny_meas tiny;
    bool ok;

    cn_tiny_meas_init(&tiny, &(struct cn_tiny_meas_options){0});
    run = (struct cn_bytes){(const uint8_t *)tiny.run.chars, tiny.run.len};
    ok = cn_hpc_profile_decode(run, trace, &profile, &err);
    assert(ok);
    for (size_t i = 0; i < profile.sample_count; i++) {
        assert(i == 0 || profile.samples[i - 1].time_ns <= profile.samples[i].time_ns);
        assert(profile.samples[i].node == CN_NONE ||
               profile.samples[i].node < profile.node_count);
    }
    cn_hpc_meas_verify_bytes("run", run, "trace", trace, on_finding, NULL);
    if (len > 0)
        (void)!cn_hpc_dump_bytes("trace", cn_hpc_meas_dump_contents, trace, on_item, NULL,
                                 &err);
    cn_hpc_profile_done(&profile);
    cn_tiny_meas_done(&tiny);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_tiny_meas tiny;

    cn_tiny_meas_init(&tiny, &(struct cn_tiny_meas_options){0});
    emit((const uint8_t *)tiny.trace.chars, tiny.trace.len);
    cn_tiny_meas_done(&tiny);
}
