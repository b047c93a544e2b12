/* Methods of Data: searches of a store. */
#include "module.h"

/* search(query, sort, reverse, spans, offset, limit) */
PyObject *data_search(PyObject *self, PyObject *args)
{
    struct cairn_search_options options = {.size = sizeof(options)};
    unsigned long long offset, limit;
    const char *query;
    int is_reversed, has_spans;
    struct cairn_error *err;
    struct cairn_table *table;
    struct cairn_data *data;

    if (!PyArg_ParseTuple(args, "szppKK:search", &query, &options.sort, &is_reversed,
                          &has_spans, &offset, &limit) ||
        !(data = data_begin(self)))
        return NULL;
    options.is_reversed = is_reversed != 0;
    options.has_spans = has_spans != 0;
    options.offset = offset;
    options.limit = limit;
    err = cairn_error_new();
    WITHOUT_GIL(table = cairn_store_search(data, query, &options, err));
    data_end(self);
    return table_new(table, err);
}

PyObject *data_groups(PyObject *self, PyObject *args)
{
    const char *query, *by;
    int of_spans;
    struct cairn_error *err;
    struct cairn_table *table;
    struct cairn_data *data;

    if (!PyArg_ParseTuple(args, "ssp:groups", &query, &by, &of_spans) ||
        !(data = data_begin(self)))
        return NULL;
    err = cairn_error_new();
    WITHOUT_GIL(table = cairn_store_groups(data, query, by, of_spans != 0, err));
    data_end(self);
    return table_new(table, err);
}

PyObject *data_count(PyObject *self, PyObject *args)
{
    const char *query;
    struct cairn_error *err;
    struct cairn_data *data;
    uint64_t count;
    bool ok;

    if (!PyArg_ParseTuple(args, "s:count", &query) || !(data = data_begin(self)))
        return NULL;
    err = cairn_error_new();
    WITHOUT_GIL(ok = cairn_store_count(data, query, &count, err));
    data_end(self);
    if (!ok)
        return raise_error(err);
    cairn_error_free(err);
    return PyLong_FromUnsignedLongLong(count);
}

PyObject *data_store_calls(PyObject *self, PyObject *args)
{
    const char *query;
    struct cairn_error *err;
    struct cairn_data *data, *out;

    if (!PyArg_ParseTuple(args, "s:store_calls", &query) || !(data = data_begin(self)))
        return NULL;
    err = cairn_error_new();
    WITHOUT_GIL(out = cairn_store_calls(data, query, err));
    data_end(self);
    return data_new(out, err);
}
