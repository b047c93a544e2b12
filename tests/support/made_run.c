#include "support/made_run.h"

#include <string.h>

enum { ALIGN = 64 };

static void put(struct cn_text *to, const uint8_t *bytes, size_t len)
{
    cn_text_add(to, (const char *)bytes, len);
}

static void put_u16(struct cn_text *to, uint16_t value)
{
    uint8_t bytes[sizeof(value)];

    cn_u16_be_put(bytes, value);
    put(to, bytes, sizeof(bytes));
}

void cn_put_u32_be(struct cn_text *to, uint32_t value)
{
    uint8_t bytes[sizeof(value)];

    cn_u32_be_put(bytes, value);
    put(to, bytes, sizeof(bytes));
}

void cn_put_u64_be(struct cn_text *to, uint64_t value)
{
    uint8_t bytes[sizeof(value)];

    cn_u64_be_put(bytes, value);
    put(to, bytes, sizeof(bytes));
}

static void put_string(struct cn_text *to, const char *text)
{
    cn_put_u32_be(to, (uint32_t)strlen(text));
    cn_text_str_add(to, text);
}

static uint64_t pad(struct cn_text *to)
{
    while (to->len % ALIGN != 0)
        cn_text_char(to, '\0');
    return to->len;
}

static void put_header(struct cn_text *run, const char *program)
{
    const char *pairs[][2] = {
        {"program-name", program}, {"program-path", ""}, {"trace-disorder", "5"}};
    struct cn_text path = {0};

    cn_text_printf(&path, "/opt/bin/%s", program);
    pairs[1][1] = cn_text_str(&path);
    cn_text_str_add(run, CN_HPC_RUN_MAGIC CN_HPC_RUN_VERSION "b");
    cn_put_u32_be(run, 3);
    for (size_t i = 0; i < 3; i++) {
        put_string(run, pairs[i][0]);
        put_string(run, pairs[i][1]);
    }
    cn_text_done(&path);
}

static void put_modules(struct cn_text *to, const struct cn_made_run *run)
{
    cn_put_u32_be(to, (uint32_t)run->module_count);
    for (size_t i = 0; i < run->module_count; i++) {
        put_u16(to, (uint16_t)(i + 1));
        put_string(to, run->modules[i]);
        cn_put_u64_be(to, 1);
    }
}

static void put_nodes(struct cn_text *to, const struct cn_made_run *run)
{
    cn_put_u64_be(to, run->node_count);
    for (size_t i = 0; i < run->node_count; i++) {
        uint8_t bytes[cn_hpc_run_node_size];

        cn_hpc_run_node_encode(&run->nodes[i], bytes);
        put(to, bytes, sizeof(bytes));
    }
}

static void put_metric(struct cn_text *to, const struct cn_made_metric *made)
{
    struct cn_hpc_run_metric metric = {
        .type = CN_HPC_METRIC_RAW,
        .value_format = made->format,
        .is_moved = made->is_moved,
        .show = 1,
        .shows_percent = 1,
        .period = made->period,
    };
    uint8_t bytes[cn_hpc_run_metric_size];
    static const uint8_t tail[CN_HPC_RUN_METRIC_TAIL_LEN];

    put_string(to, made->name);
    put_string(to, "what it is");
    cn_hpc_run_metric_encode(&metric, bytes);
    put(to, bytes, sizeof(bytes));
    put_string(to, made->formula ? made->formula : "");
    put_string(to, made->formula ? "%6.2f" : "");
    put(to, tail, sizeof(tail));
}

static void put_metrics(struct cn_text *to, const struct cn_made_run *run)
{
    cn_put_u32_be(to, (uint32_t)run->metric_count);
    for (size_t i = 0; i < run->metric_count; i++)
        put_metric(to, &run->metrics[i]);
}

static void put_kinds(struct cn_text *to, const struct cn_made_run *run)
{
    put_u16(to, (uint16_t)run->kind_count);
    for (size_t i = 0; i < run->kind_count; i++) {
        put_u16(to, (uint16_t)i);
        put_string(to, run->kinds[i]);
    }
}

static void put_ids(struct cn_text *to, const struct cn_made_run *run)
{
    put_u16(to, (uint16_t)run->id_count);
    for (size_t i = 0; i < run->id_count; i++) {
        const struct cn_made_id *id = &run->ids[i];

        put_u16(to, (uint16_t)(id->numbering << CN_HPC_KIND_BITS | id->kind));
        cn_put_u64_be(to, id->physical);
        cn_put_u64_be(to, id->logical);
    }
}

static bool begins_node(const struct cn_made_run *run, size_t i)
{
    return i == 0 || run->values[i].node != run->values[i - 1].node;
}

static void put_values(struct cn_text *to, const struct cn_made_run *run)
{
    uint32_t node_count = 0;

    for (size_t i = 0; i < run->value_count; i++)
        node_count += begins_node(run, i);
    cn_put_u64_be(to, run->value_count);
    cn_put_u32_be(to, node_count);
    for (size_t i = 0; i < run->value_count; i++) {
        const struct cn_made_value *value = &run->values[i];
        uint64_t bits = (uint64_t)value->value;

        if (run->metrics[value->metric].format == CN_HPC_VALUES_DOUBLE)
            memcpy(&bits, &value->value, sizeof(bits));
        cn_put_u64_be(to, bits);
        put_u16(to, value->metric);
    }
    for (size_t i = 0; i < run->value_count; i++) {
        if (!begins_node(run, i))
            continue;
        cn_put_u32_be(to, run->values[i].node);
        cn_put_u64_be(to, i);
    }
    cn_put_u32_be(to, CN_HPC_VALUES_END);
    cn_put_u64_be(to, run->value_count);
}

void cn_made_run_add(const struct cn_made_run *run, struct cn_text *to)
{
    struct cn_hpc_run_footer f = {.magic = CN_HPC_RUN_FOOTER_MAGIC};
    uint8_t bytes[cn_hpc_run_footer_size];

    put_header(to, run->program);
    f.header_end_off = to->len;
    f.modules_off = pad(to);
    put_modules(to, run);
    f.modules_end_off = to->len;
    f.nodes_off = pad(to);
    put_nodes(to, run);
    f.nodes_end_off = to->len;
    f.metrics_off = pad(to);
    put_metrics(to, run);
    f.metrics_end_off = to->len;
    f.kinds_off = pad(to);
    put_kinds(to, run);
    f.kinds_end_off = to->len;
    f.values_off = pad(to);
    put_ids(to, run);
    put_values(to, run);
    f.values_end_off = to->len;
    f.footer_off = pad(to);
    cn_hpc_run_footer_encode(&f, bytes);
    put(to, bytes, sizeof(bytes));
}
