#include "analyze/samples/pass.h"

#include "analyze/samples/nodes.h"
#include "base/bytes/wire.h"

/* Add the contexts and metrics of a profile like the analysis does. A profile that fails adds
 * the same contexts and metrics there. */
static void add_profile(struct cn_sampled_scout *s, struct cn_sampled_slot *slot)
{
    const struct cn_sampled_profile *profile = &slot->profile;
    struct cn_identity ids[CN_IDENTITY_MAX] = {0};
    size_t id_count, known = s->metrics.names.count;
    struct cn_error ignored;

    if (!cn_sampled_metrics_add(&s->metrics, profile, &ignored))
        return;
    if (s->metrics.names.count > known)
        cn_wire_u64(&s->tables, slot->index);
    if (!cn_sampled_nodes_check(&slot->nodes, s->self->measurements, slot->index, profile,
                                &ignored) ||
        !cn_sampled_identities_add(&s->identities, profile, ids, &id_count, &ignored))
        return;
    for (size_t i = slot->nodes.placed_count; i < profile->node_count; i++) {
        uint16_t module = profile->nodes[i].module;

        if (profile->nodes[i].kind == CN_NODE_POINT)
            cn_sampled_log_name(&s->log, slot->nodes.modules[module], slot->index,
                                profile->modules[module]);
    }
    (void)!cn_sampled_nodes_place(&slot->nodes, &s->self->contexts, profile, &ignored);
}

void cn_sampled_scout_add(struct cn_sampled_scout *s, struct cn_sampled_slot *slot)
{
    if (slot->has_ranges)
        s->has_ranges = 1;
    if (slot->is_wanted && s->has_ranges == 0)
        add_profile(s, slot);
}

void cn_sampled_scout_init(struct cn_sampled_scout *s, struct cn_sampled_database *self)
{
    *s = (struct cn_sampled_scout){
        .self = self,
        .metrics = {.wanted = self->metrics.wanted,
                    .is_hpcprof_compatible = self->metrics.is_hpcprof_compatible},
    };
    self->contexts.log = &s->log;
}

void cn_sampled_scout_done(struct cn_sampled_scout *s)
{
    s->self->contexts.log = NULL;
    cn_sampled_log_done(&s->log);
    cn_sampled_metrics_done(&s->metrics);
    cn_sampled_identities_done(&s->identities);
    cn_text_done(&s->tables);
}

bool cn_sampled_scout_add_metrics(void *scout, unsigned from, struct cn_bytes tables,
                                  struct cn_error *err)
{
    struct cn_sampled_scout *s = scout;
    struct cn_measurements *measurements = s->self->measurements;
    struct cn_sampled_profile profile = {0};
    bool ok = true;

    (void)from;
    while (ok && tables.len > 0) {
        uint64_t index;

        ok = (cn_wire_u64_take(&tables, &index) && index < measurements->profile_count) ||
             cn_fail(err, CN_ERR_FORMAT, "metrics of an unknown profile");
        ok = ok && cn_measurements_read(measurements, (size_t)index, &profile, err) &&
             cn_sampled_metrics_add(&s->self->metrics, &profile, err);
    }
    cn_sampled_profile_done(measurements, &profile);
    return ok;
}
