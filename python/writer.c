/* Builder and Recorder: databases and recordings from a program's own data. */
#include "module.h"

struct builder_object {
    PyObject_HEAD struct cairn_builder *builder; /* NULL: finished */
};

struct recorder_object {
    PyObject_HEAD struct cairn_recorder *recorder; /* NULL: finished */
};

static bool fail_finished(void)
{
    PyErr_SetString(PyExc_ValueError, "finish() was called already");
    return false;
}

/* A number that a function returned, or the exception of a failure. */
static PyObject *number_or_error(uint32_t number, struct cairn_error *err)
{
    if (number == CAIRN_NONE)
        return raise_error(err);
    cairn_error_free(err);
    return PyLong_FromUnsignedLong(number);
}

static PyObject *none_or_error(bool ok, struct cairn_error *err)
{
    if (!ok)
        return raise_error(err);
    cairn_error_free(err);
    Py_RETURN_NONE;
}

static PyObject *object_new(PyTypeObject *type)
{
    return PyType_GenericAlloc(type, 0);
}

static void object_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    release(self);
    Py_DECREF(type);
}

static PyObject *builder_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    static char *keywords[] = {"title", NULL};
    const char *title;
    PyObject *self;

    if (!PyArg_ParseTupleAndKeywords(args, names, "s:Builder", keywords, &title))
        return NULL;
    self = object_new(type);
    if (self)
        ((struct builder_object *)self)->builder = cairn_builder_new(title);
    return self;
}

static void builder_dealloc(PyObject *self)
{
    cairn_builder_free(((struct builder_object *)self)->builder);
    object_free(self);
}

static struct cairn_builder *builder_of(PyObject *self)
{
    struct cairn_builder *builder = ((struct builder_object *)self)->builder;

    if (!builder)
        (void)fail_finished();
    return builder;
}

static PyObject *builder_metric(PyObject *self, PyObject *args)
{
    struct cairn_builder *builder = builder_of(self);
    struct cairn_error *err;
    const char *name;

    if (!builder || !PyArg_ParseTuple(args, "s:metric", &name))
        return NULL;
    err = cairn_error_new();
    return number_or_error(cairn_builder_metric(builder, name, err), err);
}

static PyObject *builder_thread(PyObject *self, PyObject *args, PyObject *names)
{
    static char *keywords[] = {"rank", "thread", "name", NULL};
    struct cairn_builder *builder = builder_of(self);
    unsigned rank = 0, thread = 0;
    const char *name = NULL;
    struct cairn_error *err;

    if (!builder || !PyArg_ParseTupleAndKeywords(args, names, "|IIz:thread", keywords,
                                                 &rank, &thread, &name))
        return NULL;
    err = cairn_error_new();
    return number_or_error(cairn_builder_thread(builder, rank, thread, name, err), err);
}

static PyObject *builder_function(PyObject *self, PyObject *args, PyObject *names)
{
    static char *keywords[] = {"name", "module", "file", "line", NULL};
    struct cairn_builder *builder = builder_of(self);
    const char *name, *module = NULL, *file = NULL;
    unsigned line = 0;
    struct cairn_error *err;

    if (!builder || !PyArg_ParseTupleAndKeywords(args, names, "s|zzI:function", keywords,
                                                 &name, &module, &file, &line))
        return NULL;
    err = cairn_error_new();
    return number_or_error(cairn_builder_function(builder, name, module, file, line, err),
                           err);
}

static PyObject *builder_call(PyObject *self, PyObject *args)
{
    struct cairn_builder *builder = builder_of(self);
    unsigned parent, function;
    struct cairn_error *err;

    if (!builder || !PyArg_ParseTuple(args, "II:call", &parent, &function))
        return NULL;
    err = cairn_error_new();
    return number_or_error(cairn_builder_call(builder, parent, function, err), err);
}

static PyObject *builder_line(PyObject *self, PyObject *args)
{
    struct cairn_builder *builder = builder_of(self);
    unsigned parent, line;
    const char *file;
    struct cairn_error *err;

    if (!builder || !PyArg_ParseTuple(args, "IsI:line", &parent, &file, &line))
        return NULL;
    err = cairn_error_new();
    return number_or_error(cairn_builder_line(builder, parent, file, line, err), err);
}

static PyObject *builder_value(PyObject *self, PyObject *args)
{
    struct cairn_builder *builder = builder_of(self);
    unsigned thread, context, metric;
    double value;
    struct cairn_error *err;

    if (!builder ||
        !PyArg_ParseTuple(args, "IIId:value", &thread, &context, &metric, &value))
        return NULL;
    err = cairn_error_new();
    return none_or_error(
        cairn_builder_value(builder, thread, context, metric, value, err), err);
}

static PyObject *builder_sample(PyObject *self, PyObject *args)
{
    struct cairn_builder *builder = builder_of(self);
    unsigned thread, context;
    unsigned long long time_ns;
    struct cairn_error *err;

    if (!builder || !PyArg_ParseTuple(args, "IKI:sample", &thread, &time_ns, &context))
        return NULL;
    err = cairn_error_new();
    return none_or_error(cairn_builder_sample(builder, thread, time_ns, context, err),
                         err);
}

static PyObject *builder_finish(PyObject *self, PyObject *unused)
{
    struct cairn_builder *builder = builder_of(self);
    struct cairn_error *err;
    struct cairn_data *data;

    (void)unused;
    if (!builder)
        return NULL;
    ((struct builder_object *)self)->builder = NULL;
    err = cairn_error_new();
    Py_BEGIN_ALLOW_THREADS data = cairn_builder_finish(builder, err);
    Py_END_ALLOW_THREADS return data_new(data, err);
}

#define WITH_NAMES(function) (PyCFunction)(void (*)(void))(function)

static PyMethodDef builder_methods[] = {
    {"metric", builder_metric, METH_VARARGS, "metric(name): add a metric."},
    {"thread", WITH_NAMES(builder_thread), METH_VARARGS | METH_KEYWORDS,
     "thread(rank=0, thread=0, name=None): add a thread."},
    {"function", WITH_NAMES(builder_function), METH_VARARGS | METH_KEYWORDS,
     "function(name, module=None, file=None, line=0): add a function."},
    {"call", builder_call, METH_VARARGS,
     "call(parent, function): a call by the context parent, 0: by none."},
    {"line", builder_line, METH_VARARGS,
     "line(parent, file, line): a line of the function of a context."},
    {"value", builder_value, METH_VARARGS,
     "value(thread, context, metric, value): add to a value."},
    {"sample", builder_sample, METH_VARARGS,
     "sample(thread, time_ns, context): add a sample; context 0: it does not run."},
    {"finish", builder_finish, METH_NOARGS, "The data."},
    {0},
};

static PyType_Slot builder_slots[] = {
    {Py_tp_new, builder_new},
    {Py_tp_dealloc, builder_dealloc},
    {Py_tp_methods, builder_methods},
    {Py_tp_doc, "A database from a program's own data."},
    {0},
};

static PyType_Spec builder_spec = {
    .name = "cairn._cairn.Builder",
    .basicsize = sizeof(struct builder_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = builder_slots,
};

static PyObject *recorder_new(PyTypeObject *type, PyObject *args, PyObject *names)
{
    static char *keywords[] = {"program", NULL};
    const char *program;
    PyObject *self;

    if (!PyArg_ParseTupleAndKeywords(args, names, "s:Recorder", keywords, &program))
        return NULL;
    self = object_new(type);
    if (self)
        ((struct recorder_object *)self)->recorder = cairn_recorder_new(program);
    return self;
}

static void recorder_dealloc(PyObject *self)
{
    cairn_recorder_free(((struct recorder_object *)self)->recorder);
    object_free(self);
}

static struct cairn_recorder *recorder_of(PyObject *self)
{
    struct cairn_recorder *recorder = ((struct recorder_object *)self)->recorder;

    if (!recorder)
        (void)fail_finished();
    return recorder;
}

static PyObject *recorder_task(PyObject *self, PyObject *args, PyObject *names)
{
    static char *keywords[] = {"pid", "tid", "name", NULL};
    struct cairn_recorder *recorder = recorder_of(self);
    unsigned long long pid, tid;
    const char *name = NULL;
    struct cairn_error *err;

    if (!recorder || !PyArg_ParseTupleAndKeywords(args, names, "KK|z:task", keywords,
                                                  &pid, &tid, &name))
        return NULL;
    err = cairn_error_new();
    return number_or_error(cairn_recorder_task(recorder, pid, tid, name, err), err);
}

static PyObject *recorder_call(PyObject *self, PyObject *args)
{
    struct cairn_recorder *recorder = recorder_of(self);
    unsigned long long begin_ns, duration_ns;
    unsigned task;
    const char *function;
    struct cairn_error *err;

    if (!recorder ||
        !PyArg_ParseTuple(args, "IsKK:call", &task, &function, &begin_ns, &duration_ns))
        return NULL;
    err = cairn_error_new();
    return none_or_error(
        cairn_recorder_call(recorder, task, function, begin_ns, duration_ns, err), err);
}

static PyObject *recorder_enter(PyObject *self, PyObject *args)
{
    struct cairn_recorder *recorder = recorder_of(self);
    unsigned long long time_ns;
    unsigned task;
    const char *function;
    struct cairn_error *err;

    if (!recorder || !PyArg_ParseTuple(args, "IsK:enter", &task, &function, &time_ns))
        return NULL;
    err = cairn_error_new();
    return none_or_error(cairn_recorder_enter(recorder, task, function, time_ns, err),
                         err);
}

static PyObject *recorder_exit(PyObject *self, PyObject *args)
{
    struct cairn_recorder *recorder = recorder_of(self);
    unsigned long long time_ns;
    unsigned task;
    struct cairn_error *err;

    if (!recorder || !PyArg_ParseTuple(args, "IK:exit", &task, &time_ns))
        return NULL;
    err = cairn_error_new();
    return none_or_error(cairn_recorder_exit(recorder, task, time_ns, err), err);
}

static PyObject *recorder_finish(PyObject *self, PyObject *unused)
{
    struct cairn_recorder *recorder = recorder_of(self);
    struct cairn_error *err;
    struct cairn_data *data;

    (void)unused;
    if (!recorder)
        return NULL;
    ((struct recorder_object *)self)->recorder = NULL;
    err = cairn_error_new();
    Py_BEGIN_ALLOW_THREADS data = cairn_recorder_finish(recorder, err);
    Py_END_ALLOW_THREADS return data_new(data, err);
}

static PyMethodDef recorder_methods[] = {
    {"task", WITH_NAMES(recorder_task), METH_VARARGS | METH_KEYWORDS,
     "task(pid, tid, name=None): add a task."},
    {"call", recorder_call, METH_VARARGS,
     "call(task, function, begin_ns, duration_ns): add a call."},
    {"enter", recorder_enter, METH_VARARGS,
     "enter(task, function, time_ns): begin a call."},
    {"exit", recorder_exit, METH_VARARGS, "exit(task, time_ns): end the innermost call."},
    {"finish", recorder_finish, METH_NOARGS, "The data."},
    {0},
};

static PyType_Slot recorder_slots[] = {
    {Py_tp_new, recorder_new},
    {Py_tp_dealloc, recorder_dealloc},
    {Py_tp_methods, recorder_methods},
    {Py_tp_doc, "A recording from a program's own data."},
    {0},
};

static PyType_Spec recorder_spec = {
    .name = "cairn._cairn.Recorder",
    .basicsize = sizeof(struct recorder_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = recorder_slots,
};

int add_writer_types(PyObject *module)
{
    PyObject *builder = PyType_FromSpec(&builder_spec);
    PyObject *recorder = PyType_FromSpec(&recorder_spec);
    int result = builder && recorder &&
                         PyModule_AddType(module, (PyTypeObject *)builder) == 0 &&
                         PyModule_AddType(module, (PyTypeObject *)recorder) == 0
                     ? 0
                     : -1;

    Py_XDECREF(builder);
    Py_XDECREF(recorder);
    return result;
}
