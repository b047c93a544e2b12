/* The iterator over the records of a task. */
#include <string.h>

#include "module.h"

struct events_object {
    PyObject_HEAD PyObject *data;
    struct cairn_calls *calls;
    bool is_running; /* another thread is in next */
};

static PyTypeObject *events_type;

/* A record without padding at the end, as numpy names its fields. */
static const char call_format[] = "T{=Q:time_ns:=Q:address:=I:function:=H:depth:"
                                  "B:kind:B:flags:8x}";

/* events(task, from_ns, to_ns): an iterator of Records. It uses the data until it ends. */
PyObject *data_events(PyObject *self, PyObject *args)
{
    unsigned long long from_ns, to_ns;
    unsigned task;
    struct cairn_error *err;
    struct cairn_calls *calls;
    struct cairn_data *data;
    struct events_object *object;

    if (!PyArg_ParseTuple(args, "IKK:events", &task, &from_ns, &to_ns) ||
        !(data = data_begin(self)))
        return NULL;
    err = cairn_error_new();
    WITHOUT_GIL(calls = cairn_calls_new(data, task, from_ns, to_ns, err));
    if (!calls) {
        data_end(self);
        return raise_error(err);
    }
    cairn_error_free(err);
    object = (struct events_object *)PyType_GenericAlloc(events_type, 0);
    if (!object) {
        cairn_calls_free(calls);
        data_end(self);
        return NULL;
    }
    Py_INCREF(self);
    object->data = self;
    object->calls = calls;
    return (PyObject *)object;
}

static void events_end(struct events_object *object)
{
    if (!object->calls)
        return;
    cairn_calls_free(object->calls);
    object->calls = NULL;
    data_end(object->data);
}

static void events_dealloc(PyObject *self)
{
    struct events_object *object = (struct events_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    events_end(object);
    Py_XDECREF(object->data);
    release(self);
    Py_DECREF(type);
}

static PyObject *events_next(PyObject *self)
{
    struct events_object *object = (struct events_object *)self;
    struct cairn_error *err;
    const struct cairn_call *list;
    enum cairn_step step;
    size_t count;
    void *bytes;

    if (!object->calls)
        return NULL;
    if (object->is_running) {
        PyErr_SetString(PyExc_ValueError, "another thread uses this iterator");
        return NULL;
    }
    err = cairn_error_new();
    object->is_running = true;
    WITHOUT_GIL(step = cairn_calls_next(object->calls, &list, &count, err));
    object->is_running = false;
    if (step != CAIRN_ITEM) {
        events_end(object);
        if (step == CAIRN_FAIL)
            return raise_error(err);
        cairn_error_free(err);
        return NULL;
    }
    cairn_error_free(err);
    bytes = PyMem_Malloc(count * sizeof(*list));
    if (!bytes)
        return PyErr_NoMemory();
    memcpy(bytes, list, count * sizeof(*list));
    return records_new(bytes, count * sizeof(*list), sizeof(*list), call_format);
}

static PyObject *events_iter(PyObject *self)
{
    Py_INCREF(self);
    return self;
}

static PyType_Slot events_slots[] = {
    {Py_tp_dealloc, events_dealloc},
    {Py_tp_iter, events_iter},
    {Py_tp_iternext, events_next},
    {Py_tp_doc, "Iterator over the records of a task, in batches."},
    {0},
};

static PyType_Spec events_spec = {
    .name = "cairn._cairn.Events",
    .basicsize = sizeof(struct events_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = events_slots,
};

int add_events_type(PyObject *module)
{
    events_type = (PyTypeObject *)PyType_FromSpec(&events_spec);
    return events_type && PyModule_AddType(module, events_type) == 0 ? 0 : -1;
}
