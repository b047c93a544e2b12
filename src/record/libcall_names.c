#include "record/libcall_names.h"

#include <stddef.h>

#include "record/text.h"

static bool is_among(const char *name, const char *const *names)
{
    for (; *names; names++) {
        if (cn_rec_text_is_same(name, *names))
            return true;
    }
    return false;
}

bool cn_rec_name_is_quick(const char *name)
{
    static const char *const names[] = {
        "setjmp",
        "_setjmp",
        "sigsetjmp",
        "__sigsetjmp",
        "vfork",
        "getcontext",
        "swapcontext",
        "setcontext",
        "dlopen",
        "dlmopen",
        "dlsym",
        "dlvsym",
        "dladdr",
        "backtrace",
        "clone",
        "_Unwind_Backtrace",
        "_Unwind_Resume",
        "_Unwind_RaiseException",
        NULL,
    };

    return is_among(name, names);
}

bool cn_rec_name_is_left_out(const char *name)
{
    static const char *const names[] = {
        "mcount",
        "_mcount",
        "__fentry__",
        "__cyg_profile_func_enter",
        "__gmon_start__",
        "__cyg_profile_func_exit",
        "__tls_get_addr",
        "__libc_start_main",
        "",
        NULL,
    };

    return is_among(name, names);
}

static bool begins_with(const char *name, const char *start)
{
    while (*start && *name == *start) {
        name++;
        start++;
    }
    return *start == '\0';
}

bool cn_rec_name_is_base(const char *path)
{
    static const char *const starts[] = {
        "ld-linux",     "libc.so.",    "libpthread.so.", "libdl.so.",
        "librt.so.",    "libgcc_s.",   "libasan.so.",    "libtsan.so.",
        "libubsan.so.", "liblsan.so.", "linux-vdso",     "libcairn-record",
    };

    const char *name = path;

    for (const char *at = path; *at; at++)
        name = *at == '/' ? at + 1 : name;
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        if (begins_with(name, starts[i]))
            return true;
    }
    return false;
}
