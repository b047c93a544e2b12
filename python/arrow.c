/* Tables through Arrow's C data interface: no library of Arrow is needed. The structs are those
 * of its specification. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

enum { NULLABLE = 2, BUFFERS_MAX = 3 };

static void release_schema(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]) {
            if (schema->children[i]->release)
                schema->children[i]->release(schema->children[i]);
            free(schema->children[i]);
        }
    if (schema->dictionary) {
        if (schema->dictionary->release)
            schema->dictionary->release(schema->dictionary);
        free(schema->dictionary);
    }
    free(schema->children);
    free(schema->private_data); /* the name */
    schema->release = NULL;
}

static bool fill_schema(struct ArrowSchema *out, const char *format, const char *name)
{
    char *copy = strdup(name);

    *out = (struct ArrowSchema){
        .format = format,
        .name = copy,
        .flags = NULLABLE,
        .release = release_schema,
        .private_data = copy,
    };
    return copy != NULL;
}

static bool column_schema(struct ArrowSchema *out, const struct cairn_column *column)
{
    static const char *const formats[] = {
        [CAIRN_U16] = "S", [CAIRN_U32] = "I",  [CAIRN_U64] = "L",
        [CAIRN_F64] = "g", [CAIRN_TEXT] = "U", [CAIRN_CATEGORY] = "i",
    };

    if (!fill_schema(out, formats[column->type], column->name))
        return false;
    if (column->type != CAIRN_CATEGORY)
        return true;
    out->dictionary = calloc(1, sizeof(*out->dictionary));
    return out->dictionary && fill_schema(out->dictionary, "U", "");
}

static int table_schema(const struct cairn_table *table, struct ArrowSchema *out)
{
    size_t count = cairn_table_column_count(table);

    if (!fill_schema(out, "+s", ""))
        return ENOMEM;
    out->flags = 0;
    out->children = calloc(count + 1, sizeof(*out->children));
    for (size_t i = 0; out->children && i < count; i++) {
        struct cairn_column column;

        cairn_table_column(table, i, &column);
        out->children[i] = calloc(1, sizeof(*out->children[i]));
        out->n_children = (int64_t)i + 1;
        if (!out->children[i] || !column_schema(out->children[i], &column)) {
            release_schema(out);
            return ENOMEM;
        }
    }
    if (out->children)
        return 0;
    release_schema(out);
    return ENOMEM;
}

/* What an array has beside the struct itself. */
struct array_parts {
    struct shared_table *shared;
    const void *buffers[BUFFERS_MAX];
};

static void release_array(struct ArrowArray *array)
{
    struct array_parts *parts = array->private_data;

    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]) {
            if (array->children[i]->release)
                array->children[i]->release(array->children[i]);
            free(array->children[i]);
        }
    if (array->dictionary) {
        if (array->dictionary->release)
            array->dictionary->release(array->dictionary);
        free(array->dictionary);
    }
    free(array->children);
    if (parts)
        shared_table_drop(parts->shared);
    free(parts);
    array->release = NULL;
}

/* Each array uses the table, because a consumer may move children out of their parent. */
static struct array_parts *fill_array(struct ArrowArray *out, struct shared_table *shared,
                                      uint64_t length, int64_t buffer_count)
{
    struct array_parts *parts = calloc(1, sizeof(*parts));

    *out = (struct ArrowArray){
        .length = (int64_t)length,
        .n_buffers = buffer_count,
        .buffers = parts ? parts->buffers : NULL,
        .release = release_array,
        .private_data = parts,
    };
    if (parts)
        parts->shared = shared_table_use(shared);
    return parts;
}

static bool column_array(struct ArrowArray *out, struct shared_table *shared,
                         const struct cairn_column *column)
{
    bool is_text = column->type == CAIRN_TEXT;
    struct array_parts *parts = fill_array(out, shared, column->count, is_text ? 3 : 2);

    if (!parts)
        return false;
    out->null_count = (int64_t)column->null_count;
    parts->buffers[0] = column->valid;
    parts->buffers[1] = is_text ? (const void *)column->offsets : column->values;
    parts->buffers[2] = is_text ? column->chars : NULL;
    if (column->type != CAIRN_CATEGORY)
        return true;
    out->dictionary = calloc(1, sizeof(*out->dictionary));
    parts = out->dictionary ? fill_array(out->dictionary, shared, column->text_count, 3)
                            : NULL;
    if (!parts)
        return false;
    parts->buffers[1] = column->offsets;
    parts->buffers[2] = column->chars;
    return true;
}

static int table_array(struct shared_table *shared, struct ArrowArray *out)
{
    const struct cairn_table *table = shared_table_of(shared);
    size_t count = cairn_table_column_count(table);

    if (!fill_array(out, shared, cairn_table_row_count(table), 1))
        return ENOMEM;
    out->children = calloc(count + 1, sizeof(*out->children));
    for (size_t i = 0; out->children && i < count; i++) {
        struct cairn_column column;

        cairn_table_column(table, i, &column);
        out->children[i] = calloc(1, sizeof(*out->children[i]));
        out->n_children = (int64_t)i + 1;
        if (!out->children[i] || !column_array(out->children[i], shared, &column)) {
            release_array(out);
            return ENOMEM;
        }
    }
    if (out->children)
        return 0;
    release_array(out);
    return ENOMEM;
}

/* A stream of one array. */
struct stream {
    struct shared_table *shared;
    bool has_ended;
};

static int stream_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    const struct stream *stream = self->private_data;

    return table_schema(shared_table_of(stream->shared), out);
}

static int stream_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    struct stream *stream = self->private_data;

    if (stream->has_ended) {
        *out = (struct ArrowArray){0};
        return 0;
    }
    stream->has_ended = true;
    return table_array(stream->shared, out);
}

static const char *stream_error(struct ArrowArrayStream *self)
{
    (void)self;
    return "out of memory";
}

static void release_stream(struct ArrowArrayStream *self)
{
    struct stream *stream = self->private_data;

    shared_table_drop(stream->shared);
    free(stream);
    self->release = NULL;
}

/* A consumer that took the stream has set its release to NULL. */
static void free_stream_capsule(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");

    if (stream && stream->release)
        stream->release(stream);
    free(stream);
}

PyObject *arrow_stream(struct shared_table *shared)
{
    struct ArrowArrayStream *out = calloc(1, sizeof(*out));
    struct stream *stream = calloc(1, sizeof(*stream));
    PyObject *capsule;

    if (!out || !stream) {
        free(out);
        free(stream);
        return PyErr_NoMemory();
    }
    stream->shared = shared_table_use(shared);
    *out = (struct ArrowArrayStream){stream_schema, stream_next, stream_error,
                                     release_stream, stream};
    capsule = PyCapsule_New(out, "arrow_array_stream", free_stream_capsule);
    if (!capsule) {
        release_stream(out);
        free(out);
    }
    return capsule;
}

static void free_schema_capsule(PyObject *capsule)
{
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");

    if (schema && schema->release)
        schema->release(schema);
    free(schema);
}

PyObject *arrow_schema(struct shared_table *shared)
{
    struct ArrowSchema *out = calloc(1, sizeof(*out));
    PyObject *capsule;

    if (!out || table_schema(shared_table_of(shared), out) != 0) {
        free(out);
        return PyErr_NoMemory();
    }
    capsule = PyCapsule_New(out, "arrow_schema", free_schema_capsule);
    if (!capsule) {
        release_schema(out);
        free(out);
    }
    return capsule;
}
