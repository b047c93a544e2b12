/* The extension cairn._cairn: cairn.h for Python. python/cairn makes it pleasant. */
#include "module.h"

#include <string.h>

static PyObject *error_type, *busy_type;

PyObject *raise_error(struct cairn_error *err)
{
    static const char *const kinds[] = {"none",     "usage", "io",        "format",
                                        "version",  "limit", "not_found", "interrupted",
                                        "rejected", "busy",  "no_memory"};
    PyObject *causes = PyList_New(0), *args;

    for (size_t i = 0; causes && i < cairn_error_cause_count(err); i++) {
        const char *text = cairn_error_cause(err, i);
        PyObject *cause = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");

        if (!cause || PyList_Append(causes, cause) < 0)
            Py_CLEAR(causes);
        Py_XDECREF(cause);
    }
    args = causes ? Py_BuildValue("(sO)", kinds[cairn_error_kind(err)], causes) : NULL;
    if (args && cairn_error_kind(err) == CAIRN_ERR_NO_MEMORY)
        (void)PyErr_NoMemory();
    else if (args)
        PyErr_SetObject(cairn_error_kind(err) == CAIRN_ERR_BUSY ? busy_type : error_type,
                        args);
    Py_XDECREF(args);
    Py_XDECREF(causes);
    cairn_error_free(err);
    return NULL;
}

/* diff(a, b, metric, threads_a, threads_b, view): view -1 is what explains the difference. */
static PyObject *diff(PyObject *module, PyObject *args)
{
    PyObject *runs[2];
    const char *metric, *threads[2];
    struct cairn_error *err = cairn_error_new();
    struct cairn_diff *made;
    struct cairn_table *table = NULL;
    bool ok = true;
    int view;

    (void)module;
    if (!PyArg_ParseTuple(args, "O!O!zzzi:diff", &PyList_Type, &runs[0], &PyList_Type,
                          &runs[1], &metric, &threads[0], &threads[1], &view)) {
        cairn_error_free(err);
        return NULL;
    }
    made = cairn_diff_new();
    for (int side = 0; side < 2; side++)
        for (Py_ssize_t i = 0; ok && i < PyList_Size(runs[side]); i++) {
            PyObject *object = PyList_GetItem(runs[side], i);
            struct cairn_data *data = data_begin(object);

            ok = data != NULL;
            if (!ok)
                break;
            Py_INCREF(object);
            Py_BEGIN_ALLOW_THREADS ok =
                cairn_diff_add(made, side, data, metric, threads[side], err);
            Py_END_ALLOW_THREADS data_end(object);
            Py_DECREF(object);
        }
    if (ok) {
        Py_BEGIN_ALLOW_THREADS table =
            view < 0 ? cairn_diff_changes(made, err)
                     : cairn_diff_rows(made, (enum cairn_view)view, err);
        Py_END_ALLOW_THREADS
    }
    cairn_diff_free(made);
    if (PyErr_Occurred()) {
        cairn_error_free(err);
        return NULL;
    }
    return table_new(table, err);
}

static PyObject *formats(PyObject *module, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    const char *name;

    (void)module;
    (void)unused;
    for (size_t i = 0; list && (name = cairn_format_name(i)); i++) {
        PyObject *item = Py_BuildValue("(si)", name, (int)cairn_format_is_writable(name));

        if (!item || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyMethodDef functions[] = {
    {"diff", diff, METH_VARARGS, "Compare two lists of databases."},
    {"formats", formats, METH_NOARGS, "Names of formats, and whether they are written."},
    {0},
};

/* Exceptions are classes in Python: cairn._error.Error(kind, causes), and BusyError. */
static int fill(PyObject *module)
{
    PyObject *errors = PyImport_ImportModule("cairn._error");

    error_type = errors ? PyObject_GetAttrString(errors, "Error") : NULL;
    busy_type = errors ? PyObject_GetAttrString(errors, "BusyError") : NULL;
    Py_XDECREF(errors);
    if (!error_type || !busy_type || add_table_types(module) < 0 ||
        add_data_type(module) < 0 || add_events_type(module) < 0 ||
        add_writer_types(module) < 0)
        return -1;
    return PyModule_AddStringConstant(module, "version", cairn_version());
}

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "cairn._cairn", .m_doc = "libcairn for Python.",
    .m_size = -1,          .m_methods = functions,
};

PyMODINIT_FUNC PyInit__cairn(void)
{
    PyObject *module = PyModule_Create(&definition);

    if (module && fill(module) < 0)
        Py_CLEAR(module);
    return module;
}
