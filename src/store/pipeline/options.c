#include "store/pipeline/options.h"

#include "base/run/pool.h"
#include "store/pipeline/keeper.h"
#include "store/segment/config.h"
#include "store/write/lanes.h"

enum {
    WAITING_MAX = 4096,
    WAITING_MAX_OF_ONE = 1024,
    WAITING_LEN_MAX = 64 << 20,
    LANES_MAX = 16, /* unless more are asked for */
};

/* Half of the processors read requests; the others save them, and answer. */
static unsigned default_lanes(void)
{
    unsigned half = cn_pool_default_workers() / 2;

    return half < 1 ? 1 : half < LANES_MAX ? half : LANES_MAX;
}

void cn_collector_choose(struct cn_collector_options *options,
                         const struct cn_collector_options *given)
{
    if (given)
        *options = *given;
    if (options->waiting_max == 0)
        options->waiting_max = WAITING_MAX;
    if (options->waiting_max_of_one == 0)
        options->waiting_max_of_one = WAITING_MAX_OF_ONE;
    if (options->waiting_len_max == 0)
        options->waiting_len_max = WAITING_LEN_MAX;
    if (options->lanes == 0)
        options->lanes = default_lanes();
    if (options->lanes > CN_STORE_LANES_MAX)
        options->lanes = CN_STORE_LANES_MAX;
    if (!options->io)
        options->io = &cn_disk_files;
}

void cn_collector_choose_rotation(const struct cn_collector_options *given,
                                  const struct cn_store_config *config,
                                  struct cn_store_options *options)
{
    enum { SHARES = 8, LEN_MIN = 1 << 20 };
    const struct cn_keeper_limits *keep = &given->keep;
    uint64_t len = keep->len_max / (SHARES * given->lanes);
    uint64_t age_ns = keep->age_ns / SHARES, settle_ns = cn_keeper_settle_ns(keep);

    if (len > 0 && len < config->rotate_len)
        options->rotate_len = len > LEN_MIN                  ? len
                              : LEN_MIN < config->rotate_len ? LEN_MIN
                                                             : config->rotate_len;
    if (age_ns > 0 && (config->rotate_ns == 0 || age_ns < config->rotate_ns))
        options->rotate_ns = age_ns;
    /* Traces are decided when their segment has ended. */
    options->samples = keep->sample != NULL;
    if (keep->sample && (options->rotate_ns == 0 || settle_ns < options->rotate_ns))
        options->rotate_ns = settle_ns;
}
