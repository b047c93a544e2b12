#include "analyze/lens/code_erlang.h"

#include <string.h>

#include "analyze/lens/code_paths.h"
#include "analyze/lens/matches.h"
#include "base/list.h"
#include "base/text.h"

bool cn_code_is_erlang_runtime(const struct cn_code_module *module, const char *name)
{
    return strcmp(module->path, "[native]") == 0 &&
           (cn_begins_with(name, "global::") || cn_begins_with(name, "erts_beamasm:"));
}

bool cn_code_is_erlang_library(const char *name)
{
    /* Modules of OTP 25 in erts, kernel and stdlib. */
    static const char *const globs[] = {
        "erl_*", "erts_*", "prim_*", "inet*_*", "io_lib*", "logger_*", "erlang",
    };
    static const char *const modules[] = {
        "application",
        "application_controller",
        "application_master",
        "application_starter",
        "array",
        "atomics",
        "auth",
        "base64",
        "beam_lib",
        "binary",
        "c",
        "calendar",
        "code",
        "code_server",
        "counters",
        "dets",
        "dets_server",
        "dets_sup",
        "dets_utils",
        "dets_v9",
        "dict",
        "digraph",
        "digraph_utils",
        "disk_log",
        "disk_log_1",
        "disk_log_server",
        "disk_log_sup",
        "dist_ac",
        "dist_util",
        "edlin",
        "edlin_expand",
        "epp",
        "erpc",
        "error_handler",
        "error_logger",
        "error_logger_file_h",
        "error_logger_tty_h",
        "escript",
        "ets",
        "eval_bits",
        "file",
        "file_io_server",
        "file_server",
        "file_sorter",
        "filelib",
        "filename",
        "gb_sets",
        "gb_trees",
        "gen",
        "gen_event",
        "gen_fsm",
        "gen_sctp",
        "gen_server",
        "gen_statem",
        "gen_tcp",
        "gen_tcp_socket",
        "gen_udp",
        "gen_udp_socket",
        "global",
        "global_group",
        "global_search",
        "group",
        "group_history",
        "heart",
        "inet",
        "init",
        "io",
        "kernel",
        "kernel_config",
        "kernel_refc",
        "lists",
        "local_tcp",
        "local_udp",
        "log_mf_h",
        "logger",
        "maps",
        "math",
        "ms_transform",
        "net",
        "net_adm",
        "net_kernel",
        "orddict",
        "ordsets",
        "os",
        "otp_internal",
        "peer",
        "persistent_term",
        "pg",
        "pg2",
        "pool",
        "proc_lib",
        "proplists",
        "qlc",
        "qlc_pt",
        "queue",
        "ram_file",
        "rand",
        "random",
        "raw_file_io",
        "raw_file_io_compressed",
        "raw_file_io_deflate",
        "raw_file_io_delayed",
        "raw_file_io_inflate",
        "raw_file_io_list",
        "re",
        "rpc",
        "seq_trace",
        "sets",
        "shell",
        "shell_default",
        "shell_docs",
        "slave",
        "socket",
        "socket_registry",
        "sofs",
        "standard_error",
        "string",
        "supervisor",
        "supervisor_bridge",
        "sys",
        "timer",
        "unicode",
        "unicode_util",
        "uri_string",
        "user",
        "user_drv",
        "user_sup",
        "win32reg",
        "wrap_log_reader",
        "zip",
        "zlib",
    };
    size_t len = strcspn(name, ":");
    struct cn_text module = {0};

    if (name[len] != ':')
        return false;
    cn_text_add(&module, name, len);
    const char *text = cn_text_str(&module);
    bool is_known =
        CN_MATCHES_ANY(text, globs) || cn_list_has(modules, CN_COUNT_OF(modules), text);
    cn_text_done(&module);
    return is_known;
}
