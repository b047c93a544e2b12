#include "record/start/python.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "record/calls/hooks.h"
#include "record/process.h"
#include "record/state/module_rules.h"
#include "record/syscalls.h"
#include "record/text.h"

typedef struct python_object *object;
typedef int (*profile_fn)(object self, object frame, int what, object arg);
typedef int (*audit_fn)(const char *event, object arguments, void *data);
typedef object (*method_fn)(object self, object arguments);

/* PyMethodDef */
struct method {
    const char *name;
    method_fn function;
    int flags;
    const char *text;
};

#define PYTHON(F)                                                   \
    F(int, PySys_AddAuditHook, (audit_fn, void *))                  \
    F(object, PySys_GetObject, (const char *))                      \
    F(void, PyEval_SetProfile, (profile_fn, object))                \
    F(object, PyFrame_GetCode, (object))                            \
    F(object, PyFrame_GetBack, (object))                            \
    F(object, PyObject_GetAttrString, (object, const char *))       \
    F(int, PyObject_SetAttrString, (object, const char *, object))  \
    F(object, PyDict_GetItemString, (object, const char *))         \
    F(object, PyList_GetItem, (object, ssize_t))                    \
    F(object, PyTuple_GetItem, (object, ssize_t))                   \
    F(const char *, PyUnicode_AsUTF8, (object))                     \
    F(long, PyLong_AsLong, (object))                                \
    F(object, PyImport_GetModuleDict, (void))                       \
    F(object, PyCFunction_NewEx, (struct method *, object, object)) \
    F(void *, PyCFunction_GetFunction, (object))                    \
    F(object, Py_BuildValue, (const char *, ...))                   \
    F(void, Py_IncRef, (object))                                    \
    F(void, Py_DecRef, (object))                                    \
    F(void, PyErr_Clear, (void))

/* Renamed in Python 3.12. */
#define EXTRAS(F)                                                      \
    F(ssize_t, RequestCodeExtraIndex, "_PyEval_RequestCodeExtraIndex", \
      "PyUnstable_Eval_RequestCodeExtraIndex", (void (*)(void *)))     \
    F(int, GetExtra, "_PyCode_GetExtra", "PyUnstable_Code_GetExtra",   \
      (object, ssize_t, void **))                                      \
    F(int, SetExtra, "_PyCode_SetExtra", "PyUnstable_Code_SetExtra",   \
      (object, ssize_t, void *))

#define MEMBER(type, name, parameters)             type(*name) parameters;
#define EXTRA_MEMBER(type, name, old, new, params) type(*name) params;

enum {
    /* Events of a profile function. */
    ON_CALL = 0,
    ON_RETURN = 3,
    ON_C_CALL = 4,
    ON_C_EXCEPTION = 5,
    ON_C_RETURN = 6,

    NATIVE_MAX = 8192,   /* functions written in C; a power of two */
    TEXT_MAX = 3072,     /* of a request */
    TEXT_LEN_MAX = 1000, /* of a name */
    METH_VARARGS = 1,
};

/* What is known about a function: its address above, and these. 0: nothing yet. */
enum { KNOWN = 1, LIBRARY = 2, MAIN = 4, STARTS_THREAD = 8, FLAG_BITS = 4 };

static struct {
    PYTHON(MEMBER)
    EXTRAS(EXTRA_MEMBER)
} api;

static struct {
    ssize_t extra; /* index of what a code object knows about its function */
    bool is_on;
    bool has_begun;      /* the main module runs, or has ended */
    uint32_t main_depth; /* open calls of the main module */
    char folder[1024];   /* of the script, with a slash at its end; "": unknown */
    uint8_t wanted;      /* CN_REC_PYTHON_* */
    struct {
        void *function;
        uintptr_t about;
    } natives[NATIVE_MAX];
    uint32_t native_count;
} python;

/* Append text; the launcher reads lines. */
static void add(struct cn_rec_text *to, const char *text)
{
    for (; *text; text++)
        cn_rec_text_char(to, *text == '\n' || *text == '\t' ? ' ' : *text);
}

/* Copy the text of an attribute, which may exist only now; "" if there is none. */
static const char *copy_text(object owner, const char *name, char out[TEXT_LEN_MAX])
{
    object value = owner ? api.PyObject_GetAttrString(owner, name) : NULL;
    const char *text = value ? api.PyUnicode_AsUTF8(value) : NULL;
    struct cn_rec_text copy = {.chars = out, .capacity = TEXT_LEN_MAX};

    out[0] = '\0';
    if (text)
        add(&copy, text);
    if (value)
        api.Py_DecRef(value);
    api.PyErr_Clear();
    return out;
}

static bool contains(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static bool is_library(const char *file, const char *module)
{
    size_t len = strlen(python.folder);

    if (strcmp(module, "__main__") == 0)
        return false;
    return len == 0 || strncmp(file, python.folder, len) != 0 ||
           contains(file + len, "site-packages/") ||
           contains(file + len, "dist-packages/") || contains(file + len, "lib/python3");
}

/* Ask the launcher for the number of a function, which is its address: "python:T 12
 * FILE<tab>NAME". */
static uintptr_t number_of(char type, long first_line, const char *file,
                           const char *module, const char *name)
{
    char chars[TEXT_MAX];
    struct cn_rec_text line = {.chars = chars, .capacity = sizeof(chars)};
    uint32_t number;

    cn_rec_text_str(&line, CN_REC_PYTHON_PREFIX);
    cn_rec_text_char(&line, type);
    cn_rec_text_char(&line, ' ');
    cn_rec_text_u64(&line, first_line > 0 ? (uint64_t)first_line : 0);
    cn_rec_text_char(&line, ' ');
    cn_rec_text_str(&line, file);
    cn_rec_text_char(&line, '\t');
    if (*module && (strcmp(module, "__main__") != 0 || strcmp(name, "<module>") == 0)) {
        cn_rec_text_str(&line, module);
        cn_rec_text_char(&line, '.');
    }
    cn_rec_text_str(&line, name);
    return cn_rec_module_rules_name(chars, &number) ? number : 0;
}

/* What is known about the function of a frame. */
static uintptr_t about_frame(object frame)
{
    object code = api.PyFrame_GetCode(frame);
    void *known = NULL;
    uintptr_t about;

    if (code && api.GetExtra(code, python.extra, &known) == 0 && !known) {
        object globals = api.PyObject_GetAttrString(frame, "f_globals");
        object module = globals ? api.PyDict_GetItemString(globals, "__name__") : NULL;
        object line = api.PyObject_GetAttrString(code, "co_firstlineno");
        const char *module_name = module ? api.PyUnicode_AsUTF8(module) : NULL;
        char file_text[TEXT_LEN_MAX], name_text[TEXT_LEN_MAX], module_text[TEXT_LEN_MAX];
        struct cn_rec_text copy = {.chars = module_text, .capacity = TEXT_LEN_MAX};
        const char *file = copy_text(code, "co_filename", file_text);
        const char *name = copy_text(code, "co_qualname", name_text);

        module_text[0] = '\0';
        if (module_name)
            add(&copy, module_name);
        module_name = module_text;
        if (!*name) /* before Python 3.11 */
            name = copy_text(code, "co_name", name_text);
        about = KNOWN;
        if (is_library(file, module_name))
            about |= LIBRARY;
        if (strcmp(module_name, "__main__") == 0 && strcmp(name, "<module>") == 0)
            about |= MAIN;
        if (strcmp(module_name, "threading") == 0 &&
            (strcmp(name, "Thread.start") == 0 || strcmp(name, "start") == 0))
            about |= STARTS_THREAD;
        about |= number_of(about & LIBRARY ? 'P' : 'T',
                           line ? api.PyLong_AsLong(line) : 0, file, module_name, name)
                 << FLAG_BITS;
        if (line)
            api.Py_DecRef(line);
        if (globals)
            api.Py_DecRef(globals);
        (void)api.SetExtra(code, python.extra, (void *)about);
        known = (void *)about;
    }
    if (code)
        api.Py_DecRef(code);
    api.PyErr_Clear();
    return (uintptr_t)known;
}

static uintptr_t name_native(object function)
{
    char module[TEXT_LEN_MAX], name[TEXT_LEN_MAX];

    (void)copy_text(function, "__module__", module);
    (void)copy_text(function, "__qualname__", name);
    /* It does not return, and is not recorded, as with uftrace. */
    if (strcmp(module, "posix") == 0 && strcmp(name, "_exit") == 0)
        return KNOWN | LIBRARY;
    return KNOWN | LIBRARY | number_of('P', 0, "", module, name) << FLAG_BITS;
}

/* The same for a function written in C, which is known by its code. */
static uintptr_t about_native(object function)
{
    void *code = api.PyCFunction_GetFunction(function);
    uint32_t at = (uint32_t)((uintptr_t)code >> 4) * 2654435761U;

    if (!code) {
        api.PyErr_Clear();
        return 0;
    }
    for (;; at++) {
        uint32_t slot = at % NATIVE_MAX;

        if (python.natives[slot].function == code)
            return python.natives[slot].about;
        if (python.natives[slot].function)
            continue;
        if (python.native_count >= NATIVE_MAX / 2)
            return 0;
        python.native_count++;
        python.natives[slot].about = name_native(function);
        python.natives[slot].function = code;
        return python.natives[slot].about;
    }
}

/* True if a library function that this frame calls is recorded. */
static bool shows_libraries(object caller)
{
    if (!(python.wanted & CN_REC_PYTHON_LIBCALLS))
        return false;
    if ((python.wanted & CN_REC_PYTHON_NESTED) || !caller)
        return true;
    return !(about_frame(caller) & LIBRARY);
}

/* The address to record for a call of the function of a frame; 0: none. */
static uintptr_t address_of_frame(object frame, uintptr_t about)
{
    object caller;

    if (!(about & LIBRARY))
        return about >> FLAG_BITS;
    caller = api.PyFrame_GetBack(frame);
    bool is_shown = shows_libraries(caller);
    if (caller)
        api.Py_DecRef(caller);
    return is_shown ? about >> FLAG_BITS : 0;
}

static object on_thread(object self, object arguments);

/* A thread will begin: have it profiled, unless the program profiles threads itself. */
static void prepare_thread(void)
{
    static struct method method = {"cairn", on_thread, METH_VARARGS, NULL};
    object modules = api.PyImport_GetModuleDict();
    object threading = modules ? api.PyDict_GetItemString(modules, "threading") : NULL;
    object hook =
        threading ? api.PyObject_GetAttrString(threading, "_profile_hook") : NULL;
    object none = api.Py_BuildValue("");

    if (hook && hook == none) {
        object function = api.PyCFunction_NewEx(&method, NULL, NULL);

        if (function) {
            (void)api.PyObject_SetAttrString(threading, "_profile_hook", function);
            api.Py_DecRef(function);
        }
    }
    if (hook)
        api.Py_DecRef(hook);
    if (none)
        api.Py_DecRef(none);
    api.PyErr_Clear();
}

static int on_event(object self, object frame, int what, object arg)
{
    uintptr_t about, address;

    (void)self;
    switch (what) {
    case ON_CALL:
    case ON_RETURN:
        about = about_frame(frame);
        if (what == ON_CALL && (about & MAIN)) {
            python.has_begun = true;
            python.main_depth++;
        }
        if (!python.has_begun)
            break;
        if (what == ON_CALL && (about & STARTS_THREAD))
            prepare_thread();
        address = address_of_frame(frame, about);
        if (address && what == ON_CALL)
            cn_rec_interpreted_enter(address);
        else if (address)
            cn_rec_interpreted_leave(address);
        if (what == ON_RETURN && (about & MAIN) && --python.main_depth == 0)
            api.PyEval_SetProfile(NULL, NULL);
        break;
    case ON_C_CALL:
    case ON_C_EXCEPTION:
    case ON_C_RETURN:
        if (!arg || !python.has_begun || !shows_libraries(frame))
            break;
        address = about_native(arg) >> FLAG_BITS;
        if (address && what == ON_C_CALL)
            cn_rec_interpreted_enter(address);
        else if (address)
            cn_rec_interpreted_leave(address);
        break;
    default:
        break;
    }
    return 0;
}

/* The profile function that threads get from the module threading: it installs the other
 * one. The arguments are those of sys.setprofile(): frame, event, arg. */
static object on_thread(object self, object arguments)
{
    static const char *const names[] = {"call",        "",        "", "return", "c_call",
                                        "c_exception", "c_return"};
    object frame = api.PyTuple_GetItem(arguments, 0);
    object event = api.PyTuple_GetItem(arguments, 1);
    object arg = api.PyTuple_GetItem(arguments, 2);
    const char *name = event ? api.PyUnicode_AsUTF8(event) : NULL;

    (void)self;
    api.PyEval_SetProfile(on_event, NULL);
    for (int i = ON_CALL; name && frame && i <= ON_C_RETURN; i++)
        if (strcmp(name, names[i]) == 0)
            (void)on_event(NULL, frame, i, arg);
    api.PyErr_Clear();
    return api.Py_BuildValue("");
}

/* The folder that the script's own modules come from: sys.path[0]. */
static void find_folder(void)
{
    object path = api.PySys_GetObject("path");
    object first = path ? api.PyList_GetItem(path, 0) : NULL;
    const char *text = first ? api.PyUnicode_AsUTF8(first) : NULL;

    api.PyErr_Clear();
    if (text && *text && strlen(text) < sizeof(python.folder) - 1)
        strcpy(python.folder, text);
    else if (!getcwd(python.folder, sizeof(python.folder) - 1))
        python.folder[0] = '\0';
    size_t len = strlen(python.folder);
    if (len > 0 && python.folder[len - 1] != '/')
        strcpy(python.folder + len, "/");
}

/* An event of the interpreter: "cpython.run_file" before a script, "cpython.run_module"
 * and "cpython.run_command" for -m and -c. */
static int on_audit(const char *event, object arguments, void *data)
{
    (void)arguments;
    (void)data;
    if (event[0] != 'c' || python.is_on || strncmp(event, "cpython.run_", 12) != 0)
        return 0;
    python.extra = api.RequestCodeExtraIndex(NULL);
    if (python.extra < 0)
        return 0;
    python.is_on = true;
    find_folder();
    api.PyEval_SetProfile(on_event, NULL);
    return 0;
}

static bool find(const char *name, const char *other, void *to)
{
    void *symbol = dlsym(RTLD_DEFAULT, name);

    if (!symbol && other)
        symbol = dlsym(RTLD_DEFAULT, other);
    memcpy(to, &symbol, sizeof(symbol));
    return symbol != NULL;
}

bool cn_rec_python_is_program(void)
{
    char path[PATH_MAX];
    const char *name = path;
    long len = cn_rec_process.shared->python
                   ? cn_rec_syscall6(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe",
                                     (long)path, sizeof(path) - 1, 0, 0)
                   : 0;

    path[len < 0 ? 0 : len] = '\0';
    for (const char *at = path; *at; at++)
        name = *at == '/' ? at + 1 : name;
    return strncmp(name, "python", 6) == 0 && dlsym(RTLD_DEFAULT, "Py_RunMain");
}

void cn_rec_python_begin(void)
{
#define FIND(type, name, parameters)                 &&find(#name, NULL, &api.name)
#define EXTRA_FIND(type, name, old, new, parameters) &&find(old, new, &api.name)
    python.wanted = cn_rec_process.shared->python;
    /* A search for functions that are not there allocates memory, which would be recorded. */
    if (python.wanted && cn_rec_python_is_program() PYTHON(FIND) EXTRAS(EXTRA_FIND))
        (void)api.PySys_AddAuditHook(on_audit, NULL);
}
