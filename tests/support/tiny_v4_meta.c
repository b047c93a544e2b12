
#include "base/bytes/bytes.h"
#include "model/contexts/context.h"
#include "support/tiny_v4_parts.h"

enum { KIND_COUNT = 4, SCOPE_COUNT = 4, PROPAGATES = 1 };

static const char *const kind_names[KIND_COUNT] = {"SUMMARY", "NODE", "RANK", "THREAD"};
static const char *const scope_names[SCOPE_COUNT] = {"point", "function", "lex_aware",
                                                     "execution"};
static const uint8_t scope_types[SCOPE_COUNT] = {1, 3, 0, 2};
static void put_general(const struct cn_tiny_builder *b)
{
    struct cn_text *meta = &b->tiny->meta;
    uint64_t off = cn_tiny_reserve(b, meta, cn_hpc_general_header_size);
    struct cn_hpc_general_header head;
    uint8_t bytes[cn_hpc_general_header_size];

    head.title_off = b->tiny->title_off = cn_tiny_put_string(meta, "tiny");
    head.description_off = cn_tiny_put_string(meta, "one of everything");
    cn_hpc_general_header_encode(&head, bytes);
    cn_tiny_put_at(b, meta, &cn_hpc_general_header_layout, bytes, off);
    cn_tiny_end_section(meta, CN_HPC_GENERAL, off);
}

static void put_id_names(const struct cn_tiny_builder *b)
{
    struct cn_text *meta = &b->tiny->meta;
    uint64_t off = cn_tiny_reserve(b, meta, cn_hpc_id_names_header_size);
    uint64_t names[KIND_COUNT], names_off;
    uint8_t bytes[cn_hpc_id_names_header_size], name[cn_hpc_name_pointer_size];

    for (size_t i = 0; i < KIND_COUNT; i++)
        names[i] = cn_tiny_put_string(meta, kind_names[i]);
    cn_tiny_pad(meta, 8);
    names_off = meta->len;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        cn_hpc_name_pointer_encode(&(struct cn_hpc_name_pointer){names[i]}, name);
        (void)cn_tiny_put(b, meta, &cn_hpc_name_pointer_layout, name, 0);
    }
    cn_hpc_id_names_header_encode(&(struct cn_hpc_id_names_header){names_off, KIND_COUNT},
                                  bytes);
    cn_tiny_put_at(b, meta, &cn_hpc_id_names_header_layout, bytes, off);
    cn_tiny_end_section(meta, CN_HPC_ID_NAMES, off);
}

static void put_scopes(const struct cn_tiny_builder *b)
{
    struct cn_text *meta = &b->tiny->meta;
    uint8_t bytes[cn_hpc_scope_size];
    uint64_t names[SCOPE_COUNT];

    for (size_t i = 0; i < SCOPE_COUNT; i++)
        names[i] = cn_tiny_put_string(meta, scope_names[i]);
    cn_tiny_pad(meta, 8);
    b->tiny->scopes_off = meta->len;
    for (size_t i = 0; i < SCOPE_COUNT; i++) {
        cn_hpc_scope_encode(&(struct cn_hpc_scope){names[i], scope_types[i],
                                                   scope_types[i] == 3 ? 0 : UINT8_MAX},
                            bytes);
        (void)cn_tiny_put(b, meta, &cn_hpc_scope_layout, bytes, b->options.grow);
    }
}

static void put_instances(const struct cn_tiny_builder *b, uint64_t formula_off)
{
    struct cn_text *meta = &b->tiny->meta;
    uint64_t stride = cn_hpc_scope_size + b->options.grow;
    uint8_t instance[cn_hpc_scope_instance_size], statistic[cn_hpc_statistic_size];

    b->tiny->instances_off = meta->len;
    for (size_t i = 0; i < CN_TINY_IDS; i++) {
        cn_hpc_scope_instance_encode(
            &(struct cn_hpc_scope_instance){b->tiny->scopes_off +
                                                cn_tiny_metric_ids[i] * stride,
                                            cn_tiny_metric_ids[i]},
            instance);
        (void)cn_tiny_put(b, meta, &cn_hpc_scope_instance_layout, instance,
                          b->options.grow);
    }
    b->tiny->statistics_off = meta->len;
    for (size_t i = 0; i < CN_TINY_IDS; i++) {
        cn_hpc_statistic_encode(
            &(struct cn_hpc_statistic){.scope_off = b->tiny->scopes_off +
                                                    cn_tiny_metric_ids[i] * stride,
                                       .formula_off = formula_off,
                                       .stat_id = cn_tiny_metric_ids[i]},
            statistic);
        (void)cn_tiny_put(b, meta, &cn_hpc_statistic_layout, statistic, b->options.grow);
    }
}

static void put_metrics(const struct cn_tiny_builder *b)
{
    struct cn_text *meta = &b->tiny->meta;
    uint64_t off = cn_tiny_reserve(b, meta, cn_hpc_metrics_header_size);
    uint64_t name_off = cn_tiny_put_string(meta, "CPUTIME (sec)");
    uint64_t formula_off = cn_tiny_put_string(meta, "$$");
    uint8_t head[cn_hpc_metrics_header_size], metric[cn_hpc_metric_size];
    uint8_t grow = (uint8_t)b->options.grow;

    put_scopes(b);
    put_instances(b, formula_off);
    cn_hpc_metric_encode(&(struct cn_hpc_metric){name_off, b->tiny->instances_off,
                                                 b->tiny->statistics_off, CN_TINY_IDS,
                                                 CN_TINY_IDS},
                         metric);
    b->tiny->metric_off = cn_tiny_put(b, meta, &cn_hpc_metric_layout, metric, grow);
    cn_hpc_metrics_header_encode(
        &(struct cn_hpc_metrics_header){
            .metrics_off = b->tiny->metric_off,
            .metric_count = 1,
            .metric_len = (uint8_t)(cn_hpc_metric_size + grow),
            .instance_len = (uint8_t)(cn_hpc_scope_instance_size + grow),
            .statistic_len = (uint8_t)(cn_hpc_statistic_size + grow),
            .scopes_off = b->tiny->scopes_off,
            .scope_count = SCOPE_COUNT,
            .scope_len = (uint8_t)(cn_hpc_scope_size + grow)},
        head);
    cn_tiny_put_at(b, meta, &cn_hpc_metrics_header_layout, head, off);
    cn_tiny_end_section(meta, CN_HPC_METRICS, off);
}

/* Draft A: the metric points at its scopes, each scope at its statistics. */
static void put_draft_metrics(const struct cn_tiny_builder *b)
{
    struct cn_text *meta = &b->tiny->meta;
    uint64_t off = cn_tiny_reserve(b, meta, cn_hpc_metrics_header_size);
    uint64_t name_off = cn_tiny_put_string(meta, "CPUTIME (sec)");
    uint64_t formula_off = cn_tiny_put_string(meta, "$$");
    uint64_t scope_name[CN_TINY_IDS], statistic_off[CN_TINY_IDS];
    uint8_t head[cn_hpc_metrics_header_size], metric[cn_hpc_draft_metric_size],
        scope[cn_hpc_draft_scope_size], statistic[cn_hpc_draft_statistic_size];

    for (size_t i = 0; i < CN_TINY_IDS; i++)
        scope_name[i] = cn_tiny_put_string(meta, scope_names[cn_tiny_metric_ids[i]]);
    cn_tiny_pad(meta, 8);
    for (size_t i = 0; i < CN_TINY_IDS; i++) {
        cn_hpc_draft_statistic_encode(
            &(struct cn_hpc_draft_statistic){formula_off, 0, cn_tiny_metric_ids[i]},
            statistic);
        statistic_off[i] =
            cn_tiny_put(b, meta, &cn_hpc_draft_statistic_layout, statistic, 0);
    }
    b->tiny->scopes_off = meta->len;
    for (size_t i = 0; i < CN_TINY_IDS; i++) {
        cn_hpc_draft_scope_encode(&(struct cn_hpc_draft_scope){scope_name[i], 1,
                                                               cn_tiny_metric_ids[i],
                                                               statistic_off[i]},
                                  scope);
        (void)cn_tiny_put(b, meta, &cn_hpc_draft_scope_layout, scope, 0);
    }
    cn_hpc_draft_metric_encode(
        &(struct cn_hpc_draft_metric){name_off, CN_TINY_IDS, b->tiny->scopes_off},
        metric);
    b->tiny->metric_off = cn_tiny_put(b, meta, &cn_hpc_draft_metric_layout, metric, 0);
    cn_hpc_metrics_header_encode(
        &(struct cn_hpc_metrics_header){.metrics_off = b->tiny->metric_off,
                                        .metric_count = 1,
                                        .metric_len = cn_hpc_draft_metric_size,
                                        .instance_len = cn_hpc_draft_scope_size,
                                        .statistic_len = cn_hpc_draft_statistic_size},
        head);
    cn_tiny_put_at(b, meta, &cn_hpc_metrics_header_layout, head, off);
    cn_tiny_end_section(meta, CN_HPC_METRICS, off);
}

static void end_table(const struct cn_tiny_builder *b, size_t section, uint64_t off,
                      struct cn_hpc_table_header head)
{
    uint8_t bytes[cn_hpc_table_header_size];

    head.record_len = (uint16_t)(head.record_len + b->options.grow);
    cn_hpc_table_header_encode(&head, bytes);
    cn_tiny_put_at(b, &b->tiny->meta, &cn_hpc_table_header_layout, bytes, off);
    cn_tiny_end_section(&b->tiny->meta, section, off);
}

static void put_tables(const struct cn_tiny_builder *b, const uint64_t paths[3])
{
    struct cn_tiny_v4 *tiny = b->tiny;
    struct cn_text *meta = &tiny->meta;
    uint32_t noise = b->options.has_garbage ? UINT32_MAX : 0;
    uint64_t off = cn_tiny_reserve(b, meta, cn_hpc_table_header_size);
    uint8_t module[cn_hpc_module_size], file[cn_hpc_source_file_size];

    for (size_t i = 0; i < CN_TINY_MODULES; i++) {
        cn_hpc_module_encode(&(struct cn_hpc_module){noise, paths[i]}, module);
        tiny->module_off[i] =
            cn_tiny_put(b, meta, &cn_hpc_module_layout, module, b->options.grow);
    }
    end_table(b, CN_HPC_MODULES, off,
              (struct cn_hpc_table_header){tiny->module_off[0], CN_TINY_MODULES,
                                           cn_hpc_module_size});
    off = cn_tiny_reserve(b, meta, cn_hpc_table_header_size);
    cn_hpc_source_file_encode(
        &(struct cn_hpc_source_file){noise | CN_HPC_FILE_COPIED, paths[2]}, file);
    tiny->file_off =
        cn_tiny_put(b, meta, &cn_hpc_source_file_layout, file, b->options.grow);
    end_table(b, CN_HPC_FILES, off,
              (struct cn_hpc_table_header){tiny->file_off, 1, cn_hpc_source_file_size});
}

static void put_functions(const struct cn_tiny_builder *b, uint64_t name_off)
{
    struct cn_tiny_v4 *tiny = b->tiny;
    uint32_t noise = b->options.has_garbage ? UINT32_MAX : 0;
    uint64_t off = cn_tiny_reserve(b, &tiny->meta, cn_hpc_table_header_size);
    const struct cn_hpc_function functions[CN_TINY_FUNCTIONS] = {
        {name_off, tiny->module_off[0], 0x1100, tiny->file_off, 10, noise},
        {0, tiny->module_off[1], 0x2200, 0, 0, noise},
    };
    uint8_t bytes[cn_hpc_function_size];

    for (size_t i = 0; i < CN_TINY_FUNCTIONS; i++) {
        cn_hpc_function_encode(&functions[i], bytes);
        tiny->function_off[i] =
            cn_tiny_put(b, &tiny->meta, &cn_hpc_function_layout, bytes, b->options.grow);
    }
    end_table(b, CN_HPC_FUNCTIONS, off,
              (struct cn_hpc_table_header){tiny->function_off[0], CN_TINY_FUNCTIONS,
                                           cn_hpc_function_size});
}

static uint64_t put_word(struct cn_text *to, uint64_t value)
{
    uint64_t off = to->len;
    uint8_t bytes[CN_HPC_FLEX_WORD];

    cn_u64_put(bytes, value);
    cn_text_add(to, (const char *)bytes, sizeof(bytes));
    return off;
}

/* Append a context with its flex words; those of a later version follow ours. */
static void put_context(const struct cn_tiny_builder *b, struct cn_hpc_context context,
                        const uint64_t words[CN_HPC_FLEX_MAX])
{
    struct cn_text *meta = &b->tiny->meta;
    uint8_t more = b->options.grow > 0, count = context.flex_count;
    uint8_t final[cn_hpc_context_size], draft[cn_hpc_draft_context_size];

    context.propagation = context.relation == CN_LEXICAL ? PROPAGATES : 0;
    context.flex_count = (uint8_t)(count + more);
    if (b->options.has_garbage)
        context.flags = (uint8_t)(context.flags | 0xf8);
    cn_hpc_context_encode(&context, final);
    cn_hpc_draft_context_encode(
        &(struct cn_hpc_draft_context){context.children_len, context.children_off,
                                       context.context, context.flags, context.relation,
                                       context.kind, context.flex_count},
        draft);
    b->tiny->context_off[context.context] =
        b->options.layout == CN_TINY_DRAFT_A
            ? cn_tiny_put(b, meta, &cn_hpc_draft_context_layout, draft, 0)
            : cn_tiny_put(b, meta, &cn_hpc_context_layout, final, 0);
    for (size_t i = 0; i < (size_t)count + more; i++)
        (void)put_word(meta, i < count ? words[i] : UINT64_MAX);
}

/* The context tree, children before their parents; returns the list below the
 * entry. */
static uint64_t put_tree(const struct cn_tiny_builder *b)
{
    struct cn_tiny_v4 *tiny = b->tiny;
    const uint64_t *at = tiny->context_off;
    uint64_t app = tiny->module_off[0], file = tiny->file_off;
    uint64_t end;

    put_context(b,
                (struct cn_hpc_context){.context = 7,
                                        .flags = CN_HPC_HAS_FUNCTION,
                                        .relation = CN_CALL,
                                        .kind = CN_CONTEXT_FUNCTION,
                                        .flex_count = 1},
                (const uint64_t[CN_HPC_FLEX_MAX]){tiny->function_off[1]});
    end = tiny->meta.len;
    put_context(b,
                (struct cn_hpc_context){.children_len = end - at[7],
                                        .children_off = at[7],
                                        .context = 6,
                                        .flags = CN_HPC_HAS_POINT,
                                        .kind = CN_CONTEXT_INSTRUCTION,
                                        .flex_count = 2},
                (const uint64_t[CN_HPC_FLEX_MAX]){app, 0x1144});
    /* A leaf whose children were left out keeps its pointer. */
    put_context(b,
                (struct cn_hpc_context){.children_off = at[6],
                                        .context = 5,
                                        .flags = CN_HPC_HAS_SOURCE,
                                        .kind = CN_CONTEXT_LINE,
                                        .flex_count = 2},
                (const uint64_t[CN_HPC_FLEX_MAX]){file, 13});
    end = tiny->meta.len;
    put_context(b,
                (struct cn_hpc_context){.children_len = end - at[5],
                                        .children_off = at[5],
                                        .context = 3,
                                        .flags = CN_HPC_HAS_SOURCE | CN_HPC_HAS_POINT,
                                        .kind = CN_CONTEXT_LOOP,
                                        .flex_count = 4},
                (const uint64_t[CN_HPC_FLEX_MAX]){file, 11, app, 0x1120});
    put_context(b,
                (struct cn_hpc_context){.children_len = at[5] - at[6],
                                        .children_off = at[6],
                                        .context = 4,
                                        .flags = CN_HPC_HAS_SOURCE,
                                        .kind = CN_CONTEXT_LINE,
                                        .flex_count = 2},
                (const uint64_t[CN_HPC_FLEX_MAX]){file, 12});
    end = tiny->meta.len;
    put_context(b,
                (struct cn_hpc_context){.children_len = end - at[3],
                                        .children_off = at[3],
                                        .context = 2,
                                        .flags = CN_HPC_HAS_FUNCTION,
                                        .relation = CN_CALL,
                                        .kind = CN_CONTEXT_FUNCTION,
                                        .flex_count = 1},
                (const uint64_t[CN_HPC_FLEX_MAX]){tiny->function_off[0]});
    return at[2];
}

static void put_contexts(const struct cn_tiny_builder *b, uint64_t entry_name_off)
{
    struct cn_text *meta = &b->tiny->meta;
    uint64_t off = cn_tiny_reserve(b, meta, cn_hpc_draft_contexts_header_size);
    uint64_t list_off = put_tree(b), list_len = meta->len - list_off;
    uint8_t entry[cn_hpc_entry_size], final[cn_hpc_contexts_header_size],
        draft[cn_hpc_draft_contexts_header_size];

    if (b->options.layout == CN_TINY_DRAFT_A) {
        cn_hpc_draft_contexts_header_encode(
            &(struct cn_hpc_draft_contexts_header){list_len, list_off}, draft);
        cn_tiny_put_at(b, meta, &cn_hpc_draft_contexts_header_layout, draft, off);
        cn_tiny_end_section(meta, CN_HPC_CONTEXTS, off);
        return;
    }
    cn_hpc_entry_encode(&(struct cn_hpc_entry){list_len, list_off, 1,
                                               CN_ENTRY_MAIN_THREAD, entry_name_off},
                        entry);
    b->tiny->entry_off = b->tiny->context_off[1] =
        cn_tiny_put(b, meta, &cn_hpc_entry_layout, entry, b->options.grow);
    cn_hpc_contexts_header_encode(
        &(struct cn_hpc_contexts_header){b->tiny->entry_off, 1,
                                         (uint8_t)(cn_hpc_entry_size + b->options.grow)},
        final);
    cn_tiny_put_at(b, meta, &cn_hpc_contexts_header_layout, final, off);
    cn_tiny_end_section(meta, CN_HPC_CONTEXTS, off);
}

void cn_tiny_put_meta(const struct cn_tiny_builder *b)
{
    struct cn_text *meta = &b->tiny->meta;
    uint64_t strings_off, name_off, entry_name_off, paths[3];

    cn_tiny_put_head(b, meta, CN_HPC_META_FORMAT, CN_HPC_META_SECTION_COUNT);
    put_general(b);
    put_id_names(b);
    if (b->options.layout == CN_TINY_DRAFT_A)
        put_draft_metrics(b);
    else
        put_metrics(b);
    strings_off = meta->len;
    paths[0] = cn_tiny_put_string(meta, "/bin/app");
    paths[1] = cn_tiny_put_string(meta, "/lib/libc.so.6");
    paths[2] = cn_tiny_put_string(meta, "src/app.c");
    name_off =
        cn_tiny_put_string(meta, b->options.function ? b->options.function : "main");
    entry_name_off = cn_tiny_put_string(meta, "main thread");
    cn_tiny_end_section(meta, CN_HPC_STRINGS, strings_off);
    put_tables(b, paths);
    put_functions(b, name_off);
    put_contexts(b, entry_name_off);
    cn_text_add(meta, CN_HPC_META_FOOTER, CN_HPC_FOOTER_LEN);
}
