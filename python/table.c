/* Table, Column and Records: memory of tables through the buffer protocol. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "module.h"

struct shared_table {
    struct cairn_table *table;
    _Atomic size_t users;
};

struct shared_table *shared_table_new(struct cairn_table *table)
{
    struct shared_table *shared = malloc(sizeof(*shared));

    if (shared) {
        shared->table = table;
        atomic_init(&shared->users, 1);
    }
    return shared;
}

struct shared_table *shared_table_use(struct shared_table *shared)
{
    atomic_fetch_add(&shared->users, 1);
    return shared;
}

void shared_table_drop(struct shared_table *shared)
{
    if (!shared || atomic_fetch_sub(&shared->users, 1) > 1)
        return;
    cairn_table_free(shared->table);
    free(shared);
}

const struct cairn_table *shared_table_of(const struct shared_table *shared)
{
    return shared->table;
}

struct table_object {
    PyObject_HEAD struct shared_table *shared;
};

struct column_object {
    PyObject_HEAD struct shared_table *shared;
    struct cairn_column column;
    Py_ssize_t shape, stride;
};

struct records_object {
    PyObject_HEAD void *bytes;
    size_t size; /* of a record */
    const char *format;
    Py_ssize_t shape, stride;
};

static PyTypeObject *table_type, *column_type, *records_type;

static void free_object(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    release(self);
    Py_DECREF(type);
}

PyObject *table_new(struct cairn_table *table, struct cairn_error *err)
{
    struct table_object *object;

    if (!table)
        return raise_error(err);
    cairn_error_free(err);
    object = (struct table_object *)PyType_GenericAlloc(table_type, 0);
    if (!object) {
        cairn_table_free(table);
        return NULL;
    }
    object->shared = shared_table_new(table);
    if (object->shared)
        return (PyObject *)object;
    cairn_table_free(table);
    Py_DECREF(object);
    return PyErr_NoMemory();
}

static void table_dealloc(PyObject *self)
{
    shared_table_drop(((struct table_object *)self)->shared);
    free_object(self);
}

static const struct cairn_table *table_of(PyObject *self)
{
    return shared_table_of(((struct table_object *)self)->shared);
}

static Py_ssize_t table_len(PyObject *self)
{
    return (Py_ssize_t)cairn_table_row_count(table_of(self));
}

static PyObject *table_columns(PyObject *self, void *unused)
{
    const struct cairn_table *table = table_of(self);
    size_t count = cairn_table_column_count(table);
    PyObject *list = PyList_New((Py_ssize_t)count);

    (void)unused;
    for (size_t i = 0; list && i < count; i++) {
        struct cairn_column column;
        PyObject *name;

        cairn_table_column(table, i, &column);
        name = PyUnicode_FromString(column.name);
        if (!name || PyList_SetItem(list, (Py_ssize_t)i, name) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *table_damage(PyObject *self, void *unused)
{
    const char *damage = cairn_table_damage(table_of(self));

    (void)unused;
    if (!damage)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(damage, (Py_ssize_t)strlen(damage), "replace");
}

static PyObject *table_get(PyObject *self, PyObject *key)
{
    struct shared_table *shared = ((struct table_object *)self)->shared;
    const struct cairn_table *table = shared_table_of(shared);
    const char *name = PyUnicode_AsUTF8AndSize(key, NULL);
    struct column_object *object;
    size_t number;

    if (!name)
        return NULL;
    number = cairn_table_find(table, name);
    if (number == cairn_table_column_count(table)) {
        PyErr_SetObject(PyExc_KeyError, key);
        return NULL;
    }
    object = (struct column_object *)PyType_GenericAlloc(column_type, 0);
    if (!object)
        return NULL;
    object->shared = shared_table_use(shared);
    cairn_table_column(table, number, &object->column);
    return (PyObject *)object;
}

static PyObject *table_stream(PyObject *self, PyObject *args, PyObject *names)
{
    static char *keywords[] = {"requested_schema", NULL};
    PyObject *requested = NULL;

    /* The schema of a table is what it is; consumers cast. */
    if (!PyArg_ParseTupleAndKeywords(args, names, "|O:__arrow_c_stream__", keywords,
                                     &requested))
        return NULL;
    return arrow_stream(((struct table_object *)self)->shared);
}

static PyObject *table_schema_capsule(PyObject *self, PyObject *unused)
{
    (void)unused;
    return arrow_schema(((struct table_object *)self)->shared);
}

static PyMethodDef table_methods[] = {
    {"__arrow_c_stream__", (PyCFunction)(void (*)(void))table_stream,
     METH_VARARGS | METH_KEYWORDS, "Export as a stream of Arrow's C data interface."},
    {"__arrow_c_schema__", table_schema_capsule, METH_NOARGS,
     "Export the schema through Arrow's C data interface."},
    {0},
};

static PyGetSetDef table_getters[] = {
    {"columns", table_columns, NULL, "Names of the columns.", NULL},
    {"damage", table_damage, NULL, "What damaged data left out, or None.", NULL},
    {0},
};

static PyType_Slot table_slots[] = {
    {Py_tp_dealloc, table_dealloc},
    {Py_tp_methods, table_methods},
    {Py_tp_getset, table_getters},
    {Py_mp_length, table_len},
    {Py_mp_subscript, table_get},
    {Py_tp_doc, "Columns of equal length; table[name] is a Column."},
    {0},
};

static PyType_Spec table_spec = {
    .name = "cairn._cairn.Table",
    .basicsize = sizeof(struct table_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = table_slots,
};

static void column_dealloc(PyObject *self)
{
    shared_table_drop(((struct column_object *)self)->shared);
    free_object(self);
}

static Py_ssize_t column_len(PyObject *self)
{
    return (Py_ssize_t)((struct column_object *)self)->column.count;
}

static size_t cell_size(enum cairn_type type)
{
    return type == CAIRN_U16 ? 2 : type == CAIRN_U32 || type == CAIRN_CATEGORY ? 4 : 8;
}

static int column_buffer(PyObject *self, Py_buffer *view, int flags)
{
    static const char *const formats[] = {
        [CAIRN_U16] = "H", [CAIRN_U32] = "I", [CAIRN_U64] = "Q",
        [CAIRN_F64] = "d", [CAIRN_TEXT] = "", [CAIRN_CATEGORY] = "i",
    };
    static double nothing; /* of a column without rows */
    struct column_object *object = (struct column_object *)self;
    const struct cairn_column *column = &object->column;
    const void *values = column->values ? column->values : &nothing;
    Py_ssize_t size = (Py_ssize_t)cell_size(column->type);

    if (column->type == CAIRN_TEXT) {
        PyErr_SetString(PyExc_BufferError, "a column of texts has no array; use texts()");
        return -1;
    }
    /* The table is this object's own memory; it may be written to, as a numpy array. */
    if (PyBuffer_FillInfo(view, self, (void *)(uintptr_t)values,
                          (Py_ssize_t)column->count * size, 0, flags) < 0)
        return -1;
    object->shape = (Py_ssize_t)column->count;
    object->stride = size;
    view->itemsize = size;
    if (flags & PyBUF_FORMAT)
        view->format = (char *)(uintptr_t)formats[column->type];
    if ((flags & PyBUF_ND) == PyBUF_ND)
        view->shape = &object->shape;
    if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES)
        view->strides = &object->stride;
    return 0;
}

static bool is_valid(const struct cairn_column *column, uint64_t row)
{
    return !column->valid || (column->valid[row / 8] >> row % 8 & 1) != 0;
}

/* The distinct texts of categories, or the texts of rows. */
static PyObject *column_texts(PyObject *self, PyObject *unused)
{
    const struct cairn_column *column = &((struct column_object *)self)->column;
    PyObject *list = PyList_New((Py_ssize_t)column->text_count);

    (void)unused;
    for (uint64_t i = 0; list && i < column->text_count; i++) {
        PyObject *text;

        if (column->type == CAIRN_TEXT && !is_valid(column, i)) {
            Py_INCREF(Py_None);
            text = Py_None;
        } else {
            text = PyUnicode_DecodeUTF8(
                column->chars + column->offsets[i],
                (Py_ssize_t)(column->offsets[i + 1] - column->offsets[i]), "replace");
        }
        if (!text || PyList_SetItem(list, (Py_ssize_t)i, text) < 0)
            Py_CLEAR(list);
    }
    return list;
}

static PyObject *column_mask(PyObject *self, PyObject *unused)
{
    const struct cairn_column *column = &((struct column_object *)self)->column;
    PyObject *mask;
    char *bytes;

    (void)unused;
    if (column->null_count == 0)
        Py_RETURN_NONE;
    mask = PyByteArray_FromStringAndSize(NULL, (Py_ssize_t)column->count);
    bytes = mask ? PyByteArray_AsString(mask) : NULL;
    for (uint64_t i = 0; bytes && i < column->count; i++)
        bytes[i] = !is_valid(column, i);
    return mask;
}

static PyObject *column_name(PyObject *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(((struct column_object *)self)->column.name);
}

static PyObject *column_kind(PyObject *self, void *unused)
{
    static const char *const names[] = {
        [CAIRN_U16] = "uint16",  [CAIRN_U32] = "uint32", [CAIRN_U64] = "uint64",
        [CAIRN_F64] = "float64", [CAIRN_TEXT] = "text",  [CAIRN_CATEGORY] = "category",
    };

    (void)unused;
    return PyUnicode_FromString(names[((struct column_object *)self)->column.type]);
}

static PyObject *column_null_count(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((struct column_object *)self)->column.null_count);
}

static PyMethodDef column_methods[] = {
    {"texts", column_texts, METH_NOARGS,
     "The texts of the rows (None: unknown); of a category, its distinct texts."},
    {"mask", column_mask, METH_NOARGS,
     "One byte per row, 1 where the value is unknown; None if all are known."},
    {0},
};

static PyGetSetDef column_getters[] = {
    {"name", column_name, NULL, "Name of the column.", NULL},
    {"type", column_kind, NULL, "uint16, uint32, uint64, float64, text or category.",
     NULL},
    {"null_count", column_null_count, NULL, "Number of rows that are unknown.", NULL},
    {0},
};

static PyType_Slot column_slots[] = {
    {Py_tp_dealloc, column_dealloc},
    {Py_tp_methods, column_methods},
    {Py_tp_getset, column_getters},
    {Py_sq_length, column_len},
    {Py_bf_getbuffer, column_buffer},
    {Py_tp_doc, "A column; numpy.asarray(column) is its memory, codes of a category."},
    {0},
};

static PyType_Spec column_spec = {
    .name = "cairn._cairn.Column",
    .basicsize = sizeof(struct column_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = column_slots,
};

PyObject *records_new(void *bytes, size_t len, size_t size, const char *format)
{
    struct records_object *object =
        (struct records_object *)PyType_GenericAlloc(records_type, 0);

    if (!object) {
        PyMem_Free(bytes);
        return NULL;
    }
    object->bytes = bytes;
    object->size = size;
    object->format = format;
    object->shape = (Py_ssize_t)(len / size);
    object->stride = (Py_ssize_t)size;
    return (PyObject *)object;
}

static void records_dealloc(PyObject *self)
{
    PyMem_Free(((struct records_object *)self)->bytes);
    free_object(self);
}

static Py_ssize_t records_len(PyObject *self)
{
    return ((struct records_object *)self)->shape;
}

static int records_buffer(PyObject *self, Py_buffer *view, int flags)
{
    struct records_object *object = (struct records_object *)self;

    if (PyBuffer_FillInfo(view, self, object->bytes, object->shape * object->stride, 0,
                          flags) < 0)
        return -1;
    view->itemsize = object->stride;
    if (flags & PyBUF_FORMAT)
        view->format = (char *)(uintptr_t)object->format;
    if ((flags & PyBUF_ND) == PyBUF_ND)
        view->shape = &object->shape;
    if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES)
        view->strides = &object->stride;
    return 0;
}

static PyType_Slot records_slots[] = {
    {Py_tp_dealloc, records_dealloc},
    {Py_sq_length, records_len},
    {Py_bf_getbuffer, records_buffer},
    {Py_tp_doc, "Records in memory; numpy.asarray(records) is a structured array."},
    {0},
};

static PyType_Spec records_spec = {
    .name = "cairn._cairn.Records",
    .basicsize = sizeof(struct records_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = records_slots,
};

int add_table_types(PyObject *module)
{
    table_type = (PyTypeObject *)PyType_FromSpec(&table_spec);
    column_type = (PyTypeObject *)PyType_FromSpec(&column_spec);
    records_type = (PyTypeObject *)PyType_FromSpec(&records_spec);
    return table_type && column_type && records_type &&
                   PyModule_AddType(module, table_type) == 0 &&
                   PyModule_AddType(module, column_type) == 0 &&
                   PyModule_AddType(module, records_type) == 0
               ? 0
               : -1;
}
