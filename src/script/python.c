/* Python 3 by its stable interface, without its headers: objects are opaque. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "script/engine.h"

typedef struct python_object *object;

#define PYTHON(F)                                                          \
    F(void, Py_InitializeEx, (int))                                        \
    F(int, Py_FinalizeEx, (void))                                          \
    F(int, Py_IsInitialized, (void))                                       \
    F(void, Py_DecRef, (object))                                           \
    F(void, Py_IncRef, (object))                                           \
    F(object, Py_CompileString, (const char *, const char *, int))         \
    F(object, PyEval_EvalCode, (object, object, object))                   \
    F(object, PyEval_GetBuiltins, (void))                                  \
    F(object, PyDict_New, (void))                                          \
    F(object, PyDict_GetItemString, (object, const char *))                \
    F(int, PyDict_SetItemString, (object, const char *, object))           \
    F(object, PyBool_FromLong, (long))                                     \
    F(object, PyLong_FromLongLong, (long long))                            \
    F(object, PyLong_FromUnsignedLongLong, (unsigned long long))           \
    F(object, PyFloat_FromDouble, (double))                                \
    F(object, PyUnicode_DecodeUTF8, (const char *, ssize_t, const char *)) \
    F(object, PyUnicode_DecodeFSDefault, (const char *))                   \
    F(object, PyUnicode_AsUTF8String, (object))                            \
    F(char *, PyBytes_AsString, (object))                                  \
    F(ssize_t, PyBytes_Size, (object))                                     \
    F(object, PyTuple_New, (ssize_t))                                      \
    F(int, PyTuple_SetItem, (object, ssize_t, object))                     \
    F(ssize_t, PySequence_Size, (object))                                  \
    F(object, PySequence_GetItem, (object, ssize_t))                       \
    F(object, PyObject_CallObject, (object, object))                       \
    F(int, PyCallable_Check, (object))                                     \
    F(void, PyErr_Fetch, (object *, object *, object *))                   \
    F(void, PyErr_NormalizeException, (object *, object *, object *))      \
    F(void, PyErr_Clear, (void))

#define MEMBER(type, name, parameters) type(*name) parameters;
struct api {
    PYTHON(MEMBER)
};

struct python {
    struct api api;
    object helpers; /* what `helper_text` defines */
    object defined; /* what the script defines */
    object hooks[CN_SCRIPT_HOOKS];
    bool is_started;
};

enum { FILE_INPUT = 257 }; /* Py_file_input */

/* What is easier to say in Python. describe() returns None for exit(0). */
static const char helper_text[] =
    "import os, sys, traceback, types\n"
    "for stream in (sys.stdout, sys.stderr):\n"
    "    if stream is not None:\n"
    "        stream.reconfigure(encoding='utf-8', errors='backslashreplace')\n"
    "def load(path, words):\n"
    "    sys.argv = [path, *words]\n"
    "    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))\n"
    "    sys.dont_write_bytecode = True\n"
    "    name = os.path.basename(path)[:-3]\n"
    "    module = types.ModuleType(name)\n"
    "    module.__file__ = path\n"
    "    with open(path, 'rb') as file:\n"
    "        text = file.read()\n"
    "    sys.modules[name] = module\n"
    "    exec(compile(text, path, 'exec'), module.__dict__)\n"
    "    return module.__dict__\n"
    "def patterns(names):\n"
    "    return [name if isinstance(name, str) else str(name) for name in names]\n"
    "def describe(path, kind, error, trace):\n"
    "    if isinstance(error, SystemExit) and error.code in (None, 0):\n"
    "        return None\n"
    "    where = path\n"
    "    if isinstance(error, SyntaxError) and error.filename:\n"
    "        where = f'{error.filename}:{error.lineno}'\n"
    "    else:\n"
    "        for frame, line in traceback.walk_tb(trace):\n"
    "            if frame.f_code.co_filename == path:\n"
    "                where = f'{path}:{line}'\n"
    "    lines = traceback.format_exception_only(kind, error)\n"
    "    return where + ': ' + ' '.join(lines[-1].split())\n"
    "def finish():\n"
    "    for stream in (sys.stdout, sys.stderr):\n"
    "        if stream is not None:\n"
    "            stream.flush()\n";

static bool load_library(struct api *api, struct cn_error *err)
{
#define ROW(type, name, parameters) {#name, &api->name},
    const struct cn_library_symbol symbols[] = {PYTHON(ROW)};
    static const char *const names[] = {
        "libpython3.so",
        "libpython3.18.so.1.0",
        "libpython3.17.so.1.0",
        "libpython3.16.so.1.0",
        "libpython3.15.so.1.0",
        "libpython3.14.so.1.0",
        "libpython3.13.so.1.0",
        "libpython3.12.so.1.0",
        "libpython3.11.so.1.0",
        "libpython3.10.so.1.0",
        "libpython3.9.so.1.0",
        "libpython3.8.so.1.0",
        NULL,
    };

    return cn_script_load("CAIRN_PYTHON_LIBRARY", names, "libpython3-dev", symbols,
                          sizeof(symbols) / sizeof(symbols[0]), err);
}

/* Calls a function with a tuple, which is released; NULL after an exception. */
static object call_with(struct python *python, object function, object arguments)
{
    object result = NULL;

    if (function && arguments)
        result = python->api.PyObject_CallObject(function, arguments);
    if (arguments)
        python->api.Py_DecRef(arguments);
    return result;
}

static object text_of(struct python *python, const char *chars, size_t len)
{
    return python->api.PyUnicode_DecodeUTF8(chars, (ssize_t)len, "backslashreplace");
}

/* Takes over the objects; NULL if one of them is. */
static object tuple_of(struct python *python, const object *list, size_t count)
{
    object tuple = python->api.PyTuple_New((ssize_t)count);
    bool ok = tuple != NULL;

    for (size_t i = 0; i < count; i++) {
        if (!list[i])
            ok = false;
        else if (!tuple)
            python->api.Py_DecRef(list[i]);
        else if (python->api.PyTuple_SetItem(tuple, (ssize_t)i, list[i]) != 0)
            ok = false;
    }
    if (!ok && tuple) {
        python->api.Py_DecRef(tuple);
        tuple = NULL;
    }
    return tuple;
}

static object words_of(struct python *python, const char *const *words, size_t count)
{
    object tuple = python->api.PyTuple_New((ssize_t)count);

    for (size_t i = 0; tuple && i < count; i++) {
        object word = text_of(python, words[i], strlen(words[i]));

        if (!word || python->api.PyTuple_SetItem(tuple, (ssize_t)i, word) != 0) {
            python->api.Py_DecRef(tuple);
            return NULL;
        }
    }
    return tuple;
}

/* Turn the exception into a failure, or into the end of the script. */
static bool end_call(struct cn_script *script, struct cn_error *err)
{
    struct python *python = script->state;
    struct api *api = &python->api;
    object parts[4] = {NULL}, text = NULL, bytes = NULL;
    object builtins = api->PyEval_GetBuiltins();
    object none = builtins ? api->PyDict_GetItemString(builtins, "None") : NULL;

    api->PyErr_Fetch(&parts[1], &parts[2], &parts[3]);
    api->PyErr_NormalizeException(&parts[1], &parts[2], &parts[3]);
    parts[0] = api->PyUnicode_DecodeFSDefault(script->path);
    for (int i = 1; i < 4 && none; i++)
        if (!parts[i]) {
            api->Py_IncRef(none);
            parts[i] = none;
        }
    text = call_with(python, api->PyDict_GetItemString(python->helpers, "describe"),
                     tuple_of(python, parts, 4));
    bool is_exit = text && text == none;
    if (text && !is_exit)
        bytes = api->PyUnicode_AsUTF8String(text);
    if (bytes)
        (void)cn_fail(err, CN_ERR_IO, "%s", api->PyBytes_AsString(bytes));
    else if (!is_exit)
        (void)cn_fail(err, CN_ERR_IO, "%s: failed with an unknown exception",
                      script->path);
    if (text)
        api->Py_DecRef(text);
    if (bytes)
        api->Py_DecRef(bytes);
    api->PyErr_Clear();
    script->is_ended = true;
    return is_exit;
}

static bool start(struct cn_script *script, struct cn_error *err)
{
    struct python *python = script->state;
    struct api *api = &python->api;
    object code, result = NULL;

    if (!load_library(api, err))
        return false;
    if (api->Py_IsInitialized())
        return cn_fail(err, CN_ERR_LIMIT, "%s: a script in Python is already running",
                       script->path);
    api->Py_InitializeEx(0); /* signals stay ours */
    python->is_started = true;
    python->helpers = api->PyDict_New();
    code = api->Py_CompileString(helper_text, "cairn", FILE_INPUT);
    if (code && python->helpers &&
        api->PyDict_SetItemString(python->helpers, "__builtins__",
                                  api->PyEval_GetBuiltins()) == 0)
        result = api->PyEval_EvalCode(code, python->helpers, python->helpers);
    if (code)
        api->Py_DecRef(code);
    if (!result)
        return cn_fail(err, CN_ERR_IO, "cannot start Python: its library is incomplete");
    api->Py_DecRef(result);
    return true;
}

static bool read_patterns(struct cn_script *script, struct cn_error *err)
{
    struct python *python = script->state;
    struct api *api = &python->api;
    object names = api->PyDict_GetItemString(python->defined, "UFTRACE_FUNCS"), list;

    if (!names)
        return true;
    api->Py_IncRef(names);
    list = call_with(python, api->PyDict_GetItemString(python->helpers, "patterns"),
                     tuple_of(python, &names, 1));
    ssize_t count = list ? api->PySequence_Size(list) : -1;
    if (count < 0)
        return end_call(script, err);
    script->has_patterns = true;
    for (ssize_t i = 0; i < count && i < CN_SCRIPT_PATTERNS_MAX; i++) {
        object item = api->PySequence_GetItem(list, i);
        object bytes = item ? api->PyUnicode_AsUTF8String(item) : NULL;

        if (bytes)
            cn_script_add_pattern(script, api->PyBytes_AsString(bytes),
                                  (size_t)api->PyBytes_Size(bytes));
        if (bytes)
            api->Py_DecRef(bytes);
        if (item)
            api->Py_DecRef(item);
    }
    api->Py_DecRef(list);
    api->PyErr_Clear();
    return true;
}

static bool open_python(struct cn_script *script, const char *const *words,
                        size_t word_count, struct cn_error *err)
{
    struct python *python = script->state = cn_alloc(1, sizeof(*python));
    struct api *api = &python->api;
    object arguments[2];

    if (!start(script, err))
        return false;
    arguments[0] = api->PyUnicode_DecodeFSDefault(script->path);
    arguments[1] = words_of(python, words, word_count);
    python->defined =
        call_with(python, api->PyDict_GetItemString(python->helpers, "load"),
                  tuple_of(python, arguments, 2));
    if (!python->defined)
        return end_call(script, err);
    for (int i = 0; i < CN_SCRIPT_HOOKS; i++) {
        object hook = api->PyDict_GetItemString(python->defined, cn_script_hook_names[i]);

        if (!hook || !api->PyCallable_Check(hook))
            continue;
        api->Py_IncRef(hook); /* the script may redefine it */
        python->hooks[i] = hook;
        script->has[i] = true;
    }
    return read_patterns(script, err);
}

static object object_of(struct python *python, const struct cn_script_value *value);

static object list_of(struct python *python, const struct cn_script_value *value)
{
    object tuple = python->api.PyTuple_New((ssize_t)value->list.count);

    for (size_t i = 0; tuple && i < value->list.count; i++) {
        object item = object_of(python, &value->list.values[i]);

        if (!item || python->api.PyTuple_SetItem(tuple, (ssize_t)i, item) != 0) {
            python->api.Py_DecRef(tuple);
            return NULL;
        }
    }
    return tuple;
}

static object object_of(struct python *python, const struct cn_script_value *value)
{
    switch (value->kind) {
    case CN_SCRIPT_BOOL:
        return python->api.PyBool_FromLong(value->is_true);
    case CN_SCRIPT_SIGNED:
        return python->api.PyLong_FromLongLong(value->number);
    case CN_SCRIPT_UNSIGNED:
        return python->api.PyLong_FromUnsignedLongLong(value->natural);
    case CN_SCRIPT_FLOAT:
        return python->api.PyFloat_FromDouble(value->real);
    case CN_SCRIPT_TEXT:
        return text_of(python, value->text.chars, value->text.len);
    case CN_SCRIPT_LIST:
        return list_of(python, value);
    }
    return NULL;
}

static object context_of(struct python *python, const struct cn_script_field *fields,
                         size_t count)
{
    object context = python->api.PyDict_New();

    for (size_t i = 0; context && i < count; i++) {
        object item = object_of(python, &fields[i].value);
        bool ok =
            item && python->api.PyDict_SetItemString(context, fields[i].key, item) == 0;

        if (item)
            python->api.Py_DecRef(item);
        if (!ok) {
            python->api.Py_DecRef(context);
            context = NULL;
        }
    }
    return context;
}

static bool call_python(struct cn_script *script, enum cn_script_hook hook,
                        const struct cn_script_field *fields, size_t count,
                        struct cn_error *err)
{
    struct python *python = script->state;
    struct api *api = &python->api;
    object context, result;

    if (cn_script_has(script, hook)) {
        context = hook == CN_SCRIPT_END ? NULL : context_of(python, fields, count);
        result = call_with(python, python->hooks[hook],
                           tuple_of(python, &context, hook == CN_SCRIPT_END ? 0 : 1));
        if (!result && !end_call(script, err))
            return false;
        if (result)
            api->Py_DecRef(result);
    }
    if (hook != CN_SCRIPT_END)
        return true;
    result = call_with(python, api->PyDict_GetItemString(python->helpers, "finish"),
                       api->PyTuple_New(0));
    if (!result)
        return end_call(script, err);
    api->Py_DecRef(result);
    return true;
}

static void close_python(struct cn_script *script)
{
    struct python *python = script->state;

    if (python->is_started) {
        for (int i = 0; i < CN_SCRIPT_HOOKS; i++)
            if (python->hooks[i])
                python->api.Py_DecRef(python->hooks[i]);
        if (python->defined)
            python->api.Py_DecRef(python->defined);
        if (python->helpers)
            python->api.Py_DecRef(python->helpers);
        (void)python->api.Py_FinalizeEx();
    }
    free(python);
}

static bool load_python(struct cn_error *err)
{
    struct api api;

    return load_library(&api, err);
}

const struct cn_script_engine cn_script_python = {
    .suffix = ".py",
    .feature = "python3",
    .load = load_python,
    .open = open_python,
    .call = call_python,
    .close = close_python,
};
