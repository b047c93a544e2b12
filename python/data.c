/* Data: what cairn.open() returns. */
#include <stdlib.h>
#include <string.h>

#include "module.h"

struct data_object {
    PyObject_HEAD struct cairn_data *data; /* NULL: closed */
    Py_ssize_t uses; /* calls and iterators that run; changed with the GIL held */
};

static PyTypeObject *data_type;

static const char value_format[] = "T{=d:value:=I:thread:=H:metric:2x}";

PyObject *data_new(struct cairn_data *data, struct cairn_error *err)
{
    struct data_object *object;

    if (!data)
        return raise_error(err);
    cairn_error_free(err);
    object = (struct data_object *)PyType_GenericAlloc(data_type, 0);
    if (object)
        object->data = data;
    else
        cairn_close(data);
    return (PyObject *)object;
}

struct cairn_data *data_begin(PyObject *self)
{
    struct data_object *object = (struct data_object *)self;

    if (!PyObject_TypeCheck(self, data_type)) {
        PyErr_SetString(PyExc_TypeError, "expected data of cairn.open()");
        return NULL;
    }
    if (!object->data) {
        PyErr_SetString(PyExc_ValueError, "the data is closed");
        return NULL;
    }
    object->uses++;
    return object->data;
}

void data_end(PyObject *self)
{
    ((struct data_object *)self)->uses--;
}

static void data_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

    cairn_close(((struct data_object *)self)->data);
    release(self);
    Py_DECREF(type);
}

static PyObject *data_close(PyObject *self, PyObject *unused)
{
    struct data_object *object = (struct data_object *)self;

    (void)unused;
    if (object->uses > 0) {
        PyErr_SetString(PyExc_ValueError, "the data is in use");
        return NULL;
    }
    cairn_close(object->data);
    object->data = NULL;
    Py_RETURN_NONE;
}

static PyObject *text_of(const char *text)
{
    if (!text)
        Py_RETURN_NONE;
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

static PyObject *open_path(PyObject *module, PyObject *args)
{
    struct cairn_error *err;
    struct cairn_data *data;
    PyObject *path;

    (void)module;
    if (!PyArg_ParseTuple(args, "O&:open", PyUnicode_FSConverter, &path))
        return NULL;
    err = cairn_error_new();
    WITHOUT_GIL(data = cairn_open(PyBytes_AsString(path), err));
    Py_DECREF(path);
    return data_new(data, err);
}

static PyObject *data_info(PyObject *self, PyObject *unused)
{
    static const char *const shapes[] = {"database", "recording", "store"};
    struct cairn_data *data = data_begin(self);
    PyObject *result;
    uint64_t begin_ns, end_ns;

    (void)unused;
    if (!data)
        return NULL;
    cairn_database_time(data, &begin_ns, &end_ns);
    result = Py_BuildValue(
        "{s:s,s:s,s:N,s:N,s:K,s:K}", "shape", shapes[cairn_data_shape(data)], "format",
        cairn_data_format(data), "path", PyUnicode_DecodeFSDefault(cairn_data_path(data)),
        "title", text_of(cairn_database_title(data)), "begin_ns",
        (unsigned long long)begin_ns, "end_ns", (unsigned long long)end_ns);
    data_end(self);
    return result;
}

/* Append an object to a list; false with an exception. */
static bool append(PyObject *list, PyObject *item)
{
    bool ok = item && PyList_Append(list, item) == 0;

    Py_XDECREF(item);
    return ok;
}

static PyObject *data_warnings(PyObject *self, PyObject *unused)
{
    struct cairn_data *data = data_begin(self);
    PyObject *list = data ? PyList_New(0) : NULL;
    const char *text;

    (void)unused;
    for (size_t i = 0; list && (text = cairn_data_warning(data, i)); i++)
        if (!append(list, text_of(text)))
            Py_CLEAR(list);
    if (data)
        data_end(self);
    return list;
}

/* "NODE 0x7f0101 RANK 3 THREAD 0", or NULL with an exception. */
static PyObject *identity_of(struct cairn_data *data, uint32_t thread,
                             struct cairn_error *err)
{
    char buffer[512];
    size_t needed;

    if (!cairn_database_identity(data, thread, buffer, sizeof(buffer), &needed, err))
        return NULL;
    return text_of(buffer);
}

static PyObject *data_threads(PyObject *self, PyObject *unused)
{
    struct cairn_error *err = cairn_error_new();
    struct cairn_data *data = data_begin(self);
    PyObject *list = data ? PyList_New(0) : NULL;
    bool ok = true;

    (void)unused;
    for (uint32_t i = 0; list && ok && i < cairn_database_thread_count(data); i++) {
        struct cairn_thread thread;
        PyObject *identity = NULL;

        ok = cairn_database_thread(data, i, &thread, err) &&
             (identity = identity_of(data, i, err));
        if (ok)
            ok = append(list, Py_BuildValue("(NNKIi)", identity, text_of(thread.name),
                                            (unsigned long long)thread.value_count,
                                            (unsigned)thread.context_count,
                                            (int)thread.is_summary));
    }
    if (data)
        data_end(self);
    if (!ok)
        Py_CLEAR(list);
    if (!ok && !PyErr_Occurred())
        return raise_error(err);
    cairn_error_free(err);
    return list;
}

static PyObject *data_metrics(PyObject *self, PyObject *unused)
{
    struct cairn_data *data = data_begin(self);
    PyObject *list = data ? PyList_New(0) : NULL;
    struct cairn_metric metric;

    (void)unused;
    for (size_t i = 0; list && cairn_database_metric(data, i, &metric); i++)
        if (!append(list, Py_BuildValue("(NNI)", text_of(metric.name),
                                        text_of(metric.scope), (unsigned)metric.id)))
            Py_CLEAR(list);
    if (data)
        data_end(self);
    return list;
}

static PyObject *data_statistics(PyObject *self, PyObject *unused)
{
    struct cairn_data *data = data_begin(self);
    PyObject *list = data ? PyList_New(0) : NULL;
    struct cairn_statistic statistic;

    (void)unused;
    for (size_t i = 0; list && cairn_database_statistic(data, i, &statistic); i++)
        if (!append(list,
                    Py_BuildValue("(NNNNI)", text_of(statistic.metric),
                                  text_of(statistic.scope), text_of(statistic.formula),
                                  text_of(statistic.combine), (unsigned)statistic.id)))
            Py_CLEAR(list);
    if (data)
        data_end(self);
    return list;
}

static PyObject *data_tasks(PyObject *self, PyObject *unused)
{
    struct cairn_data *data = data_begin(self);
    PyObject *list = data ? PyList_New(0) : NULL;

    (void)unused;
    for (uint32_t i = 0; list && i < cairn_recording_task_count(data); i++) {
        struct cairn_task task;

        if (!cairn_recording_task(data, i, &task, NULL) ||
            !append(list, Py_BuildValue(
                              "(IINLK)", (unsigned)task.tid, (unsigned)task.pid,
                              text_of(task.name),
                              task.parent == CAIRN_NONE ? -1LL : (long long)task.parent,
                              (unsigned long long)task.start_ns)))
            Py_CLEAR(list);
    }
    if (data)
        data_end(self);
    return list;
}

static PyObject *data_analyze(PyObject *self, PyObject *unused)
{
    struct cairn_data *data = data_begin(self), *out;
    struct cairn_error *err;

    (void)unused;
    if (!data)
        return NULL;
    err = cairn_error_new();
    WITHOUT_GIL(out = cairn_analyze(data, err));
    data_end(self);
    return data_new(out, err);
}

struct losses {
    struct loss {
        char *what;
        uint64_t count;
    } * list;
    size_t count;
};

/* Called without the GIL. */
static void note_loss(void *arg, const char *what, uint64_t count)
{
    struct losses *losses = arg;
    struct loss *list = realloc(losses->list, (losses->count + 1) * sizeof(*list));

    if (!list)
        return;
    losses->list = list;
    list[losses->count++] = (struct loss){strdup(what), count};
}

static PyObject *take_losses(struct losses *losses)
{
    PyObject *list = PyList_New(0);

    for (size_t i = 0; i < losses->count; i++) {
        if (list &&
            !append(list, Py_BuildValue("(NK)", text_of(losses->list[i].what),
                                        (unsigned long long)losses->list[i].count)))
            Py_CLEAR(list);
        free(losses->list[i].what);
    }
    free(losses->list);
    return list;
}

static PyObject *data_write(PyObject *self, PyObject *args)
{
    const char *format;
    int replace;
    struct cairn_error *err;
    struct cairn_data *data;
    struct losses losses = {0};
    PyObject *path, *list;
    bool ok;

    if (!PyArg_ParseTuple(args, "O&sp:write", PyUnicode_FSConverter, &path, &format,
                          &replace))
        return NULL;
    data = data_begin(self);
    if (!data) {
        Py_DECREF(path);
        return NULL;
    }
    err = cairn_error_new();
    WITHOUT_GIL(ok = cairn_write(data, PyBytes_AsString(path), format, replace != 0,
                                 note_loss, &losses, err));
    data_end(self);
    Py_DECREF(path);
    list = take_losses(&losses);
    if (!ok) {
        Py_XDECREF(list);
        return raise_error(err);
    }
    cairn_error_free(err);
    return list;
}

/* The strings of a sequence, borrowed from it; NULL with an exception. */
static const char **strings_of(PyObject *list, size_t *count)
{
    Py_ssize_t len = PyList_Size(list);
    const char **strings =
        len < 0 ? NULL : PyMem_Calloc((size_t)len + 1, sizeof(*strings));

    for (Py_ssize_t i = 0; strings && i < len; i++) {
        strings[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i), NULL);
        if (!strings[i]) {
            PyMem_Free(strings);
            return NULL;
        }
    }
    if (strings)
        *count = (size_t)len;
    else if (!PyErr_Occurred())
        (void)PyErr_NoMemory();
    return strings;
}

/* costs(view, metrics, all_metrics, threads, statistic, waits, depth, percent): view -1 is
 * the table of contexts. */
static PyObject *data_costs(PyObject *self, PyObject *args)
{
    struct cairn_cost_options options = {.size = sizeof(options)};
    int view, has_all, waits;
    unsigned depth;
    PyObject *metrics;
    const char **names;
    struct cairn_error *err;
    struct cairn_table *table;
    struct cairn_data *data;

    if (!PyArg_ParseTuple(args, "iO!pzzpId:costs", &view, &PyList_Type, &metrics,
                          &has_all, &options.threads, &options.statistic, &waits, &depth,
                          &options.percent_min))
        return NULL;
    names = strings_of(metrics, &options.metric_count);
    data = names ? data_begin(self) : NULL;
    if (!data) {
        PyMem_Free(names);
        return NULL;
    }
    options.metrics = names;
    options.has_all_metrics = has_all != 0;
    options.counts_waits = waits != 0;
    options.depth_max = depth;
    err = cairn_error_new();
    WITHOUT_GIL(table = view < 0 ? cairn_database_contexts(data, &options, err)
                                 : cairn_database_view(data, (enum cairn_view)view,
                                                       &options, err));
    data_end(self);
    PyMem_Free(names);
    return table_new(table, err);
}

/* Values, samples or states of a thread, -1: of all. */
static PyObject *plane(PyObject *self, PyObject *args,
                       struct cairn_table *(*make)(struct cairn_data *, uint32_t,
                                                   struct cairn_error *))
{
    long long thread;
    struct cairn_error *err;
    struct cairn_table *table;
    struct cairn_data *data;

    if (!PyArg_ParseTuple(args, "L", &thread) || !(data = data_begin(self)))
        return NULL;
    err = cairn_error_new();
    /* A number that is too large is one that does not exist. */
    if (thread >= CAIRN_NONE)
        thread = CAIRN_NONE - 1;
    WITHOUT_GIL(table = make(data, thread < 0 ? CAIRN_NONE : (uint32_t)thread, err));
    data_end(self);
    return table_new(table, err);
}

static PyObject *data_values(PyObject *self, PyObject *args)
{
    return plane(self, args, cairn_database_values);
}

static PyObject *data_samples(PyObject *self, PyObject *args)
{
    return plane(self, args, cairn_database_samples);
}

static PyObject *data_states(PyObject *self, PyObject *args)
{
    return plane(self, args, cairn_database_states);
}

/* A table of all the data has. */
static PyObject *whole_table(PyObject *self,
                             struct cairn_table *(*read)(struct cairn_data *,
                                                         struct cairn_error *))
{
    struct cairn_error *err;
    struct cairn_table *table;
    struct cairn_data *data = data_begin(self);

    if (!data)
        return NULL;
    err = cairn_error_new();
    WITHOUT_GIL(table = read(data, err));
    data_end(self);
    return table_new(table, err);
}

static struct cairn_table *read_launches(struct cairn_data *data, struct cairn_error *err)
{
    return cairn_data_shape(data) == CAIRN_DATABASE ? cairn_database_launches(data, err)
                                                    : cairn_recording_launches(data, err);
}

static PyObject *data_launches(PyObject *self, PyObject *unused)
{
    (void)unused;
    return whole_table(self, read_launches);
}

static PyObject *data_waits(PyObject *self, PyObject *unused)
{
    (void)unused;
    return whole_table(self, cairn_database_waits);
}

static PyObject *data_locks(PyObject *self, PyObject *unused)
{
    (void)unused;
    return whole_table(self, cairn_database_locks);
}

static PyObject *data_mpi_waits(PyObject *self, PyObject *unused)
{
    (void)unused;
    return whole_table(self, cairn_database_mpi_waits);
}

/* All values of a context, to be released with PyMem_Free(); called with the GIL held. */
static enum cairn_step read_values(struct cairn_values *values, struct cairn_value **out,
                                   size_t *count, struct cairn_error *err)
{
    const struct cairn_value *list;
    struct cairn_value *all = NULL;
    enum cairn_step step;
    size_t batch;

    *count = 0;
    while ((step = cairn_values_next(values, &list, &batch, err)) == CAIRN_ITEM) {
        struct cairn_value *grown = PyMem_Realloc(all, (*count + batch) * sizeof(*all));

        if (!grown)
            break;
        all = grown;
        memcpy(all + *count, list, batch * sizeof(*all));
        *count += batch;
    }
    *out = all;
    return step;
}

static PyObject *data_context_values(PyObject *self, PyObject *args)
{
    struct cairn_value *list = NULL;
    struct cairn_values *values;
    struct cairn_error *err;
    struct cairn_data *data;
    enum cairn_step step = CAIRN_FAIL;
    unsigned context;
    size_t count = 0;

    if (!PyArg_ParseTuple(args, "I:context_values", &context) ||
        !(data = data_begin(self)))
        return NULL;
    err = cairn_error_new();
    values = cairn_values_of_context(data, context, err);
    if (values)
        step = read_values(values, &list, &count, err);
    cairn_values_free(values);
    data_end(self);
    if (step == CAIRN_END) {
        cairn_error_free(err);
        return records_new(list, count * sizeof(*list), sizeof(*list), value_format);
    }
    PyMem_Free(list);
    if (step == CAIRN_FAIL)
        return raise_error(err);
    cairn_error_free(err);
    return PyErr_NoMemory();
}

/* The numbers of a list; false with an exception. */
static bool numbers_of(PyObject *list, uint32_t **out, size_t *count)
{
    Py_ssize_t len = PyList_Size(list);
    uint32_t *numbers = PyMem_Calloc((size_t)len + 1, sizeof(*numbers));

    for (Py_ssize_t i = 0; numbers && i < len; i++) {
        unsigned long number = PyLong_AsUnsignedLong(PyList_GetItem(list, i));

        if (PyErr_Occurred()) {
            PyMem_Free(numbers);
            return false;
        }
        numbers[i] = number < CAIRN_NONE ? (uint32_t)number : CAIRN_NONE;
    }
    if (!numbers)
        return PyErr_NoMemory() != NULL;
    *out = numbers;
    *count = (size_t)len;
    return true;
}

/* What data.calls() returns. */
enum { CALLS, REPORT, STATES };

/* calls(what, from_ns, to_ns, tasks, raw, values) */
static PyObject *data_calls(PyObject *self, PyObject *args)
{
    struct cairn_call_options options = {.size = sizeof(options)};
    unsigned long long from_ns, to_ns;
    int what, is_raw, has_values;
    PyObject *tasks;
    uint32_t *numbers = NULL;
    struct cairn_error *err;
    struct cairn_table *table;
    struct cairn_data *data;

    if (!PyArg_ParseTuple(args, "iKKO!pp:calls", &what, &from_ns, &to_ns, &PyList_Type,
                          &tasks, &is_raw, &has_values) ||
        !numbers_of(tasks, &numbers, &options.task_count))
        return NULL;
    data = data_begin(self);
    if (!data) {
        PyMem_Free(numbers);
        return NULL;
    }
    options.from_ns = from_ns;
    options.to_ns = to_ns;
    options.tasks = numbers;
    options.is_raw = is_raw != 0;
    options.has_values = has_values != 0;
    err = cairn_error_new();
    WITHOUT_GIL(table = what == REPORT   ? cairn_recording_report(data, &options, err)
                        : what == STATES ? cairn_recording_states(data, &options, err)
                                         : cairn_recording_calls(data, &options, err));
    data_end(self);
    PyMem_Free(numbers);
    return table_new(table, err);
}

static PyObject *data_flows(PyObject *self, PyObject *unused)
{
    (void)unused;
    return whole_table(self, cairn_recording_flows);
}

static PyMethodDef data_methods[] = {
    {"close", data_close, METH_NOARGS, "Release the data."},
    {"info", data_info, METH_NOARGS, "Shape, format, path, title and times."},
    {"warnings", data_warnings, METH_NOARGS, "What could not be read."},
    {"threads", data_threads, METH_NOARGS, "Threads of a database."},
    {"metrics", data_metrics, METH_NOARGS, "Metrics of a database."},
    {"statistics", data_statistics, METH_NOARGS, "Statistics of summaries."},
    {"tasks", data_tasks, METH_NOARGS, "Tasks of a recording."},
    {"analyze", data_analyze, METH_NOARGS, "The database of a recording or store."},
    {"write", data_write, METH_VARARGS, "Write in another format."},
    {"costs", data_costs, METH_VARARGS, "Contexts or a view with costs."},
    {"values", data_values, METH_VARARGS, "Values of a thread."},
    {"context_values", data_context_values, METH_VARARGS, "Values of a context."},
    {"samples", data_samples, METH_VARARGS, "Samples of a thread."},
    {"states", data_states, METH_VARARGS, "States of a thread over time."},
    {"waits", data_waits, METH_NOARGS, "For whom threads wait."},
    {"locks", data_locks, METH_NOARGS, "The locks that threads wait for."},
    {"mpi_waits", data_mpi_waits, METH_NOARGS, "What ranks of MPI wait for."},
    {"launches", data_launches, METH_NOARGS, "Operations of GPUs and their launches."},
    {"calls", data_calls, METH_VARARGS, "Calls, functions or states of a recording."},
    {"flows", data_flows, METH_NOARGS, "Flows of a recording."},
    {"events", data_events, METH_VARARGS, "Records of a task."},
    {"search", data_search, METH_VARARGS, "Traces that match a query."},
    {"groups", data_groups, METH_VARARGS, "Groups of traces."},
    {"count", data_count, METH_VARARGS, "Number of traces that match a query."},
    {"store_calls", data_store_calls, METH_VARARGS, "Calls of traces."},
    {0},
};

static PyType_Slot data_slots[] = {
    {Py_tp_dealloc, data_dealloc},
    {Py_tp_methods, data_methods},
    {Py_tp_doc, "Opened data; cairn.Database, Recording and Store wrap it."},
    {0},
};

static PyType_Spec data_spec = {
    .name = "cairn._cairn.Data",
    .basicsize = sizeof(struct data_object),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = data_slots,
};

static PyMethodDef functions[] = {
    {"open", open_path, METH_VARARGS, "Open a file or directory of any format."},
    {0},
};

int add_data_type(PyObject *module)
{
    data_type = (PyTypeObject *)PyType_FromSpec(&data_spec);
    return data_type && PyModule_AddType(module, data_type) == 0 &&
                   PyModule_AddFunctions(module, functions) == 0
               ? 0
               : -1;
}
