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

bool cn_metrics_know_waiting_calls(const struct cn_metrics *metrics)
{
    static const char *const clocks[] = {"cpu-clock (sec)", "task-clock (sec)",
                                         CN_CPU_TIME_NAME};
    bool is_sampled = false;

    for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
        is_sampled = is_sampled || cn_metrics_find(metrics, clocks[i]) != CN_NO_ID;
    return !is_sampled || cn_metrics_find(metrics, "calls") != CN_NO_ID ||
           cn_metrics_find(metrics, "context-switches") != CN_NO_ID;
}

bool cn_metrics_have_waits(const struct cn_metrics *metrics)
{
    return cn_metrics_find(metrics, CN_TIME_NAME) != CN_NO_ID &&
           cn_metrics_find(metrics, CN_CPU_TIME_NAME) != CN_NO_ID;
}
