/* What the files of the extension cairn._cairn share. It is written for the limited API of
 * CPython 3.11, so that one build serves all later versions.
 *
 * Memory of tables is shared: a Table, its Columns and exported Arrow arrays each count as one
 * user, and the last one frees it, on any thread.
 */
#ifndef CAIRN_PYTHON_MODULE_H
#define CAIRN_PYTHON_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <cairn.h>

/* A table and its number of users. */
struct shared_table;

struct shared_table *shared_table_new(struct cairn_table *table); /* takes it over */
struct shared_table *shared_table_use(struct shared_table *shared);
void shared_table_drop(struct shared_table *shared);
const struct cairn_table *shared_table_of(const struct shared_table *shared);

/* A new Table that takes the table over; NULL with an exception if `table` is NULL. `err` is
 * released either way. */
PyObject *table_new(struct cairn_table *table, struct cairn_error *err);

/* A new Data that takes the data over; likewise. */
PyObject *data_new(struct cairn_data *data, struct cairn_error *err);

/* The data of a Data that is open, or NULL with an exception. Between begin and end, it
 * cannot be closed. */
struct cairn_data *data_begin(PyObject *object);
void data_end(PyObject *object);

/* Set the exception cairn.Error and release the error; returns NULL. */
PyObject *raise_error(struct cairn_error *err);

/* Arrow's C data interface: a capsule with a stream, or with a schema. */
PyObject *arrow_stream(struct shared_table *shared);
PyObject *arrow_schema(struct shared_table *shared);

/* A structured array of records, which takes `bytes` over (released with PyMem_Free()). */
PyObject *records_new(void *bytes, size_t len, size_t size, const char *format);

/* Run a statement without the GIL. */
#define WITHOUT_GIL(call)            \
    do {                             \
        Py_BEGIN_ALLOW_THREADS call; \
        Py_END_ALLOW_THREADS         \
    } while (0)

/* Methods of Data in files of their own. */
PyObject *data_events(PyObject *self, PyObject *args);
PyObject *data_search(PyObject *self, PyObject *args);
PyObject *data_groups(PyObject *self, PyObject *args);
PyObject *data_count(PyObject *self, PyObject *args);
PyObject *data_store_calls(PyObject *self, PyObject *args);

/* Add the types and functions of each file to the module; -1 on failure. */
int add_table_types(PyObject *module);
int add_data_type(PyObject *module);
int add_events_type(PyObject *module);
int add_writer_types(PyObject *module);

#endif
