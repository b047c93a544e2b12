#include "analyze/waits.h"

#include "model/contexts/database.h"

const char *const cn_wait_names[CN_WAIT_KINDS] = {
    [CN_WAIT_BLOCKED] = CN_BLOCKED_TIME_NAME,
    [CN_WAIT_PREEMPTED] = CN_PREEMPTED_TIME_NAME,
};

const char *const cn_wait_states[CN_WAIT_KINDS] = {
    [CN_WAIT_BLOCKED] = "blocked",
    [CN_WAIT_PREEMPTED] = "pre-empted",
};

bool cn_metrics_have_waits(const struct cn_metrics *metrics)
{
    return cn_metrics_find(metrics, CN_TIME_NAME) != CN_NO_ID &&
           cn_metrics_find(metrics, CN_CPU_TIME_NAME) != CN_NO_ID;
}
