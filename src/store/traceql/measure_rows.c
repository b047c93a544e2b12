#include "store/traceql/measure_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/run/pool.h"
#include "formats/zorka/packed.h"
#include "model/contexts/context.h"
#include "store/search/state.h"
#include "store/segment/index.h"
#include "store/traceql/data.h"
#include "store/traceql/view.h"

enum {
    FIELDS_MAX = CN_TQL_BY_MAX + 1,
    JOB_ROWS = 1 << 15,
    EXACT_BITS = 53, /* of a whole number that a double has */
    RECENT_BITS = 13,
};

/* Where the value of a field is. */
enum source {
    OF_SPAN,      /* the span is asked */
    OF_WORDS,     /* a column of words */
    OF_DURATION,  /* that column */
    OF_ATTRIBUTE, /* the columns of packed records */
};

struct row_field {
    const struct cn_tql_field *field;
    enum source source;
    enum cn_store_field column;
    uint32_t
        *words; /* of an attribute: of its own name, then of those it may be inside of */
    size_t word_count, word_capacity, own_count;
};

/* A row that counts. */
struct measured_row {
    uint64_t time_ns;
    double number, weight;
    uint32_t row, label, interval;
};

/* Labels by the numbers that their values have in columns, for a first look. */
struct recent_label {
    uint64_t parts[FIELDS_MAX];
    uint64_t kinds; /* of values: a byte each */
    uint32_t label; /* + 1; 0: none */
};

struct rows_worker {
    struct cn_tql_view *view;
    struct cn_tql_segment *segment;
    struct cn_zorka_values values[FIELDS_MAX]; /* of the chunk at data_off */
    uint64_t data_off;
    bool has_values;
    struct recent_label *recent;
    struct cn_arena arena; /* of the labels */
    struct cn_tql_labels labels;
    uint32_t *groups; /* by label: its group + 1; 0: there are too many */
    size_t group_count, group_capacity;
    struct measured_row *list; /* of the job */
    size_t count;
    bool has_failed;
    struct cn_error err; /* of the last row that failed */
};

struct measured_rows {
    struct cn_tql_measure *measure;
    const struct cn_tql_rest *rest;
    uint32_t segment;
    const struct cn_rows *rows;
    const struct cn_store_index *index;
    struct row_field fields[FIELDS_MAX]; /* of the labels, then what is measured */
    size_t label_count, field_count;
    bool has_spans, has_attributes, has_times, has_durations;
    uint64_t columns; /* that are read */
    struct rows_worker *workers;
    bool ok;
    struct cn_error *err;
};

/* What columns have of the rows of a group of CN_COLUMN_GROUP_ROWS. */
struct row_values {
    uint64_t times[CN_COLUMN_GROUP_ROWS], durations[CN_COLUMN_GROUP_ROWS];
    uint64_t data_offs[CN_COLUMN_GROUP_ROWS], offs[CN_COLUMN_GROUP_ROWS];
    uint64_t lens[CN_COLUMN_GROUP_ROWS];
    uint64_t words[FIELDS_MAX][CN_COLUMN_GROUP_ROWS];
};

static void add_word(void *arg, uint32_t word)
{
    struct row_field *field = arg;

    CN_PUSH(field->words, field->word_count, field->word_capacity, word);
}

/* The words of the name of an attribute, and of what is before each of its dots. */
static bool find_names(struct row_field *field, const struct cn_store_index *index,
                       struct cn_error *err)
{
    const char *name = field->field->name;
    size_t len = strlen(name);

    if (!cn_store_index_find(index, cn_bytes_of(name), add_word, field, err))
        return false;
    field->own_count = field->word_count;
    for (size_t i = 1; i < len; i++)
        if (name[i] == '.' &&
            !cn_store_index_find(index, (struct cn_bytes){(const uint8_t *)name, i},
                                 add_word, field, err))
            return false;
    return true;
}

static enum source source_of(const struct cn_tql_field *field,
                             enum cn_store_field *column)
{
    *column = field->intrinsic == CN_TQL_I_NAME   ? CN_STORE_FIELD_method
              : field->intrinsic == CN_TQL_I_KIND ? CN_STORE_FIELD_type
                                                  : CN_STORE_FIELD_service;
    if (field->is_parent)
        return OF_SPAN;
    if (field->intrinsic == CN_TQL_I_DURATION)
        return OF_DURATION;
    if (field->intrinsic == CN_TQL_I_NAME || field->intrinsic == CN_TQL_I_KIND)
        return OF_WORDS;
    if (field->intrinsic != CN_TQL_NO_INTRINSIC)
        return OF_SPAN;
    if (field->scope == CN_TQL_OF_RESOURCE && strcmp(field->name, "service.name") == 0)
        return OF_WORDS;
    return field->scope == CN_TQL_OF_SPAN ? OF_ATTRIBUTE : OF_SPAN;
}

static bool find_field(struct measured_rows *all, uint32_t number, struct cn_error *err)
{
    struct row_field *field = &all->fields[all->field_count++];

    field->field = &all->measure->program->fields[number];
    field->source = source_of(field->field, &field->column);
    all->has_spans |= field->source == OF_SPAN;
    all->has_durations |= field->source == OF_DURATION;
    all->has_attributes |= field->source == OF_ATTRIBUTE;
    if (field->source == OF_WORDS)
        all->columns |= UINT64_C(1) << field->column;
    if (field->source == OF_DURATION)
        all->columns |= CN_TQL_COLUMN(duration_ns);
    if (field->source == OF_ATTRIBUTE)
        all->columns |= CN_TQL_COLUMN(data_off) | CN_TQL_COLUMN(in_chunk_off) |
                        CN_TQL_COLUMN(in_chunk_len);
    return field->source != OF_ATTRIBUTE || find_names(field, all->index, err);
}

static bool find_fields(struct measured_rows *all, struct cn_error *err)
{
    const struct cn_tql_node *node = all->measure->node;

    all->has_spans = all->rest->count > 0;
    all->has_times = all->measure->metrics->count > 1 || all->measure->exemplar_max > 0;
    all->columns = all->has_times ? CN_TQL_COLUMN(time_ns) : 0;
    all->label_count = node->field_count;
    for (size_t i = 0; i < node->field_count; i++)
        if (!find_field(all, node->fields[i], err))
            return false;
    return node->field == CN_NONE || find_field(all, node->field, err);
}

static void read_columns(const struct measured_rows *all,
                         const struct rows_worker *worker, uint32_t first, uint64_t bits,
                         struct row_values *out)
{
    const struct cn_store_column *columns = worker->segment->columns;

    if (all->has_times)
        cn_store_column_read_bits(&columns[CN_STORE_FIELD_time_ns], first, bits,
                                  out->times);
    if (all->has_durations)
        cn_store_column_read_bits(&columns[CN_STORE_FIELD_duration_ns], first, bits,
                                  out->durations);
    if (all->has_attributes) {
        cn_store_column_read_bits(&columns[CN_STORE_FIELD_data_off], first, bits,
                                  out->data_offs);
        cn_store_column_read_bits(&columns[CN_STORE_FIELD_in_chunk_off], first, bits,
                                  out->offs);
        cn_store_column_read_bits(&columns[CN_STORE_FIELD_in_chunk_len], first, bits,
                                  out->lens);
    }
    for (size_t i = 0; i < all->field_count; i++)
        if (all->fields[i].source == OF_WORDS)
            cn_store_column_read_bits(&columns[all->fields[i].column], first, bits,
                                      out->words[i]);
}

/* Read the attributes of a chunk. What cannot be read so has none: the spans are asked. */
static void read_chunk(const struct measured_rows *all, struct rows_worker *worker,
                       uint64_t data_off)
{
    struct cn_error ignored;

    if (worker->has_values && worker->data_off == data_off)
        return;
    worker->has_values = true;
    worker->data_off = data_off;
    for (size_t i = 0; i < all->field_count; i++) {
        const struct row_field *field = &all->fields[i];
        struct cn_zorka_names names = {
            .own = field->words,
            .own_count = field->own_count,
            .outer = field->words ? field->words + field->own_count : NULL,
            .outer_count = field->word_count - field->own_count,
        };

        if (field->source == OF_ATTRIBUTE &&
            !cn_segment_load_attribute(worker->view->loader, all->index->segment,
                                       data_off, &names, &worker->values[i], &ignored))
            worker->values[i].count = 0;
    }
}

/* The number of a value in its column. */
static uint64_t part_of(const struct cn_trace_value *value)
{
    uint64_t bits = 0;

    switch (value->kind) {
    case CN_VALUE_BOOL:
        return value->boolean;
    case CN_VALUE_INT:
        return (uint64_t)value->integer;
    case CN_VALUE_FLOAT:
        memcpy(&bits, &value->real, sizeof(bits));
        return bits;
    case CN_VALUE_WORD:
        return value->word;
    case CN_VALUE_NULL:
    case CN_VALUE_LIST:
    case CN_VALUE_MAP:
        break;
    }
    return 0;
}

/* A row as it is looked up. */
struct row_key {
    struct recent_label key;
    const struct cn_trace_value *attributes[FIELDS_MAX];
    uint64_t duration_ns;
};

/* Find the values of a row in columns. False if they are not all there. */
static bool find_key(const struct measured_rows *all, struct rows_worker *worker,
                     const struct row_values *values, unsigned i, uint32_t row,
                     struct row_key *out)
{
    if (all->has_spans)
        return false;
    out->key.kinds = 0;
    if (all->has_durations)
        out->duration_ns = cn_joined_number(
            &all->index->joined, CN_STORE_FIELD_duration_ns, row, values->durations[i]);
    if (all->has_attributes && values->lens[i] != CN_ROW_NUMBERED)
        return false;
    if (all->has_attributes)
        read_chunk(all, worker, values->data_offs[i]);
    for (size_t k = 0; k < all->field_count; k++) {
        const struct cn_zorka_values *list = &worker->values[k];

        switch (all->fields[k].source) {
        case OF_SPAN:
            return false;
        case OF_WORDS:
            out->key.parts[k] = values->words[k][i];
            break;
        case OF_DURATION:
            out->key.parts[k] = out->duration_ns;
            break;
        case OF_ATTRIBUTE:
            if (values->offs[i] >= list->count ||
                list->list[values->offs[i]].kind == CN_VALUE_LIST)
                return false;
            out->attributes[k] = &list->list[values->offs[i]];
            out->key.parts[k] = part_of(out->attributes[k]);
            out->key.kinds |= (uint64_t)out->attributes[k]->kind << 8 * k;
        }
    }
    return true;
}

/* The value of a field of a row whose key was found. */
static bool value_of(const struct measured_rows *all, struct rows_worker *worker,
                     const struct row_key *key, size_t i, const struct cn_tql_span *span,
                     struct cn_tql_value *out, struct cn_error *err)
{
    const struct cn_segment *segment = all->index->segment;
    const struct cn_trace_value *attribute = key->attributes[i];

    if (all->fields[i].source == OF_DURATION) {
        *out = cn_tql_duration((int64_t)span->duration_ns);
        return true;
    }
    if (all->fields[i].source != OF_ATTRIBUTE)
        return cn_tql_span_field(worker->view, span, all->fields[i].field, out, err);
    if (attribute->kind == CN_VALUE_WORD &&
        !cn_segment_need_word(segment, attribute->word, err))
        return false;
    *out = cn_tql_data_value(cn_segment_words(segment), attribute, &worker->view->arena);
    return true;
}

static struct recent_label *recent_of(struct rows_worker *worker,
                                      const struct recent_label *key, size_t count)
{
    uint64_t hash = key->kinds;

    for (size_t i = 0; i < count; i++)
        hash = (hash ^ key->parts[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return &worker->recent[(hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15) >>
                           (64 - RECENT_BITS)];
}

/* What is measured of a duration, and the part of its bucket; without them if it does not count. */
static bool measure_duration(const struct measured_rows *all, struct row_key *key,
                             double *number)
{
    uint64_t ns = key->duration_ns, *bucket = &key->key.parts[all->label_count];

    *number = (double)ns / 1e9;
    *bucket = 0;
    if (!cn_tql_measure_has_bucket(all->measure))
        return true;
    if (ns >= 2)
        *bucket = 64 - (unsigned)__builtin_clzll(ns - 1);
    return ns >= 2;
}

/* The same of any value. */
static bool measure_value(const struct measured_rows *all, struct rows_worker *worker,
                          struct row_key *key, const struct cn_tql_span *span,
                          bool *is_counted, double *number, struct cn_error *err)
{
    struct cn_tql_value value, bucket = {0};

    if (!value_of(all, worker, key, all->label_count, span, &value, err))
        return false;
    *is_counted = cn_tql_measure_value(all->measure, &value, number, &bucket);
    memcpy(&key->key.parts[all->label_count], &bucket.real, sizeof(bucket.real));
    key->key.kinds &= ~(UINT64_MAX << 8 * all->label_count);
    return true;
}

static bool is_recent(const struct recent_label *recent, const struct recent_label *key,
                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (recent->parts[i] != key->parts[i])
            return false;
    return recent->label > 0 && recent->kinds == key->kinds;
}

/* Find the values of a key, and their label; CN_NONE if there are too many. */
static bool add_label(const struct measured_rows *all, struct rows_worker *worker,
                      const struct row_key *key, const struct cn_tql_span *span,
                      uint32_t *label, struct cn_error *err)
{
    struct cn_tql_value by[FIELDS_MAX], value;
    double ignored;

    for (size_t i = 0; i < all->label_count; i++)
        if (!value_of(all, worker, key, i, span, &by[i], err))
            return false;
    if (cn_tql_measure_has_bucket(all->measure)) {
        if (!value_of(all, worker, key, all->label_count, span, &value, err))
            return false;
        (void)cn_tql_measure_value(all->measure, &value, &ignored, &by[all->label_count]);
    }
    *label = cn_tql_labels_find(&worker->labels, by);
    return true;
}

static bool find_label(const struct measured_rows *all, struct rows_worker *worker,
                       struct row_key *key, const struct cn_tql_span *span,
                       uint32_t *label, struct cn_error *err)
{
    struct recent_label *recent = recent_of(worker, &key->key, all->field_count);

    if (is_recent(recent, &key->key, all->field_count)) {
        *label = recent->label - 1;
        return true;
    }
    if (!add_label(all, worker, key, span, label, err))
        return false;
    key->key.label = *label == CN_NONE ? 0 : *label + 1;
    *recent = key->key;
    return true;
}

/* Find out how a row counts by its key. */
static bool measure_key(const struct measured_rows *all, struct rows_worker *worker,
                        struct row_key *key, const struct cn_tql_span *span,
                        struct measured_row *out, bool *is_counted, struct cn_error *err)
{
    size_t interval = cn_tql_interval_of(all->measure->metrics, span->time_ns);

    out->interval = (uint32_t)interval;
    out->number = (double)NAN;
    out->weight = worker->segment->weights.count == 0
                      ? 1
                      : cn_row_weight(&worker->segment->weights, span->row);
    *is_counted = interval != SIZE_MAX;
    if (!*is_counted)
        return true;
    if (all->field_count > all->label_count) {
        if (all->fields[all->label_count].source == OF_DURATION &&
            key->duration_ns >> EXACT_BITS == 0)
            *is_counted = measure_duration(all, key, &out->number);
        else if (!measure_value(all, worker, key, span, is_counted, &out->number, err))
            return false;
    }
    return !*is_counted || find_label(all, worker, key, span, &out->label, err);
}

/* The same of a row that is not in columns, or may not match. */
static bool measure_span(const struct measured_rows *all, struct rows_worker *worker,
                         struct cn_tql_span *span, struct measured_row *out,
                         bool *is_counted, struct cn_error *err)
{
    struct cn_tql_measured measured;

    if (!cn_tql_view_row_alone(worker->view, all->segment, span->row, span, err) ||
        !cn_tql_rest_match(all->rest, worker->view, span, is_counted, err))
        return false;
    if (!*is_counted)
        return true;
    if (!cn_tql_measure_span(all->measure, worker->view, span, &measured, err))
        return false;
    *is_counted = measured.interval != SIZE_MAX;
    if (!*is_counted)
        return true;
    out->interval = (uint32_t)measured.interval;
    out->number = measured.number;
    out->weight = measured.weight;
    out->label = cn_tql_labels_find(&worker->labels, measured.by);
    return true;
}

static bool measure_row(const struct measured_rows *all, struct rows_worker *worker,
                        const struct row_values *values, unsigned i, uint32_t row,
                        struct cn_error *err)
{
    struct cn_tql_span span = {.segment = all->segment, .row = row, .parent = CN_NONE};
    struct measured_row *out = &worker->list[worker->count];
    struct row_key key;
    bool is_counted;

    if (find_key(all, worker, values, i, row, &key)) {
        span.time_ns = all->has_times ? values->times[i] : 0;
        span.duration_ns = all->has_durations ? key.duration_ns : 0;
        if (!measure_key(all, worker, &key, &span, out, &is_counted, err))
            return false;
    } else if (!measure_span(all, worker, &span, out, &is_counted, err)) {
        return false;
    }
    out->row = row;
    out->time_ns = span.time_ns;
    worker->count += is_counted && out->label != CN_NONE;
    return true;
}

static void run_job(void *arg, size_t job, unsigned number)
{
    const struct measured_rows *all = arg;
    struct rows_worker *worker = &all->workers[number];
    size_t word = job * (JOB_ROWS / CN_COLUMN_GROUP_ROWS);
    size_t end = word + JOB_ROWS / CN_COLUMN_GROUP_ROWS;
    struct row_values values;

    worker->count = 0;
    worker->has_failed = !cn_tql_view_segment(worker->view, all->segment, all->columns,
                                              &worker->segment, &worker->err);
    for (; !worker->has_failed && word < end && word < cn_rows_word_count(all->rows);
         word++) {
        uint32_t first = (uint32_t)word * CN_COLUMN_GROUP_ROWS;
        uint64_t bits = all->rows->words[word];

        if (!bits)
            continue;
        read_columns(all, worker, first, bits, &values);
        for (unsigned i = 0; bits; bits &= bits - 1, i++)
            if (!measure_row(all, worker, &values, i,
                             first + (uint32_t)__builtin_ctzll(bits), &worker->err))
                worker->has_failed = true;
        cn_tql_view_clear(worker->view);
    }
}

/* The group + 1 of each label of a worker; 0 if there are too many. */
static void find_groups(struct measured_rows *all, struct rows_worker *worker)
{
    size_t count = worker->labels.list_count;

    CN_GROW_TO(worker->groups, count + 1, worker->group_capacity);
    for (; worker->group_count < count; worker->group_count++) {
        uint32_t group =
            cn_tql_measure_group(all->measure, worker->labels.list[worker->group_count]);

        worker->groups[worker->group_count] = group == CN_NONE ? 0 : group + 1;
    }
}

/* Rows are counted in their order, whichever worker measured them: the sums are the same. */
static void take_job(void *arg, size_t job, unsigned number)
{
    struct measured_rows *all = arg;
    struct rows_worker *worker = &all->workers[number];

    (void)job;
    if (worker->has_failed && worker->err.kind == CN_ERR_USAGE) {
        all->ok = false;
        *all->err = worker->err;
    } else if (worker->has_failed) {
        all->rest->run->search->failures[all->segment] = worker->err;
    }
    all->measure->labels.is_full |= worker->labels.is_full;
    find_groups(all, worker);
    for (size_t i = 0; all->ok && i < worker->count; i++) {
        const struct measured_row *row = &worker->list[i];
        struct cn_tql_span span = {.segment = all->segment,
                                   .row = row->row,
                                   .time_ns = row->time_ns,
                                   .parent = CN_NONE};
        uint32_t group = worker->groups[row->label];

        if (group > 0)
            cn_tql_measure_count(all->measure, all->rest->run->view, &span, group - 1,
                                 row->interval, row->number, row->weight);
    }
}

static void open_worker(const struct measured_rows *all, struct rows_worker *worker)
{
    const struct cn_tql_view *view = all->rest->run->view;

    worker->view = cn_tql_view_new(view->search, view->program);
    worker->recent = cn_alloc((size_t)1 << RECENT_BITS, sizeof(*worker->recent));
    worker->list = cn_alloc(JOB_ROWS, sizeof(*worker->list));
    worker->labels = (struct cn_tql_labels){.arena = &worker->arena,
                                            .count = all->measure->by_count,
                                            .max = CN_TQL_SERIES_MAX};
}

static void close_worker(struct rows_worker *worker)
{
    for (size_t i = 0; i < FIELDS_MAX; i++)
        free(worker->values[i].list);
    cn_tql_labels_done(&worker->labels);
    cn_arena_done(&worker->arena);
    cn_tql_view_free(worker->view);
    free(worker->recent);
    free(worker->groups);
    free(worker->list);
}

static void run_jobs(struct measured_rows *all)
{
    struct cn_jobs jobs = {.count = ((size_t)all->rows->count + JOB_ROWS - 1) / JOB_ROWS,
                           .arg = all,
                           .run = run_job,
                           .take = take_job};
    unsigned workers =
        cn_tql_rest_has_patterns(all->rest) ? 1 : cn_pool_default_workers();

    all->workers = cn_alloc(workers, sizeof(*all->workers));
    for (unsigned i = 0; i < workers; i++)
        open_worker(all, &all->workers[i]);
    cn_pool_run(&jobs, workers);
    for (unsigned i = 0; i < workers; i++)
        close_worker(&all->workers[i]);
    free(all->workers);
}

bool cn_tql_measure_rows(struct cn_tql_measure *measure, const struct cn_tql_rest *rest,
                         uint32_t segment, const struct cn_rows *rows,
                         struct cn_error *err)
{
    struct measured_rows all = {.measure = measure,
                                .rest = rest,
                                .segment = segment,
                                .rows = rows,
                                .ok = true,
                                .err = err};
    struct cn_tql_segment *opened;

    if (cn_rows_is_empty(rows))
        return true;
    if (!cn_tql_view_segment(rest->run->view, segment, 0, &opened, err))
        return false;
    all.index = opened->index;
    all.ok = find_fields(&all, err);
    if (all.ok)
        run_jobs(&all);
    for (size_t i = 0; i < all.field_count; i++)
        free(all.fields[i].words);
    return all.ok;
}
