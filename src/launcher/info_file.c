#include "launcher/info_file.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/out.h"
#include "base/host/processor.h"
#include "base/run/clock.h"
#include "base/sort.h"
#include "base/text.h"
#include "formats/uftrace/format.h"
#include "launcher/elf/file.h"
#include "launcher/rules/arguments.h"
#include "launcher/rules/automatic_values.h"
#include "launcher/rules/known_enums.h"
#include "launcher/rules/known_functions.h"
#include "model/calls/recording.h"

enum {
    MAX_STACK = UINT16_MAX, /* readers unfold depths, which are stored modulo 1024 */
};

struct run_info {
    const struct cn_info_facts *facts;
    struct cn_text text;
    uint64_t mask;
};

static void begin_group(struct run_info *info, unsigned bit)
{
    info->mask |= UINT64_C(1) << bit;
}

static void add_first_line_of(struct cn_text *text, const char *path, const char *key)
{
    FILE *file = fopen(path, "re");
    char line[512];
    size_t key_len = strlen(key);

    while (file && fgets(line, sizeof(line), file)) {
        const char *value = line + key_len;

        if (strncmp(line, key, key_len) != 0)
            continue;
        value += strspn(value, "\t :=");
        cn_text_add(text, value, strcspn(value, "\n"));
        break;
    }
    if (file)
        (void)fclose(file);
}

static void add_program(struct run_info *info)
{
    const struct cn_info_facts *facts = info->facts;

    begin_group(info, CN_UFT_INFO_EXENAME);
    cn_text_printf(&info->text, "exename:%s\n", facts->exe_path);
    if (facts->exe->build_id[0]) {
        begin_group(info, CN_UFT_INFO_BUILD_ID);
        cn_text_printf(&info->text, "build_id:%s\n", facts->exe->build_id);
    }
    if (facts->is_finished) {
        begin_group(info, CN_UFT_INFO_EXIT_STATUS);
        cn_text_printf(&info->text, "exit_status:%d\n", facts->wait_status);
    }
    begin_group(info, CN_UFT_INFO_CMDLINE);
    cn_text_printf(&info->text, "cmdline:%s\n", facts->command_line);
}

static void add_machine(struct run_info *info)
{
    struct cn_text *text = &info->text;
    struct sysinfo memory = {0};
    struct utsname names;

    begin_group(info, CN_UFT_INFO_CPUINFO);
    cn_text_printf(text, "cpuinfo:lines=2\ncpuinfo:nr_cpus=%ld / %ld (online/possible)\n",
                   sysconf(_SC_NPROCESSORS_ONLN), sysconf(_SC_NPROCESSORS_CONF));
    cn_text_str_add(text, "cpuinfo:desc=");
#if defined(__aarch64__)
    cn_text_str_add(text, "ARM64 (v8)");
#else
    cn_processor_print(text);
#endif
    cn_text_char(text, '\n');
    if (sysinfo(&memory) == 0) {
        double gib = 1024.0 * 1024 * 1024 / memory.mem_unit;

        begin_group(info, CN_UFT_INFO_MEMINFO);
        cn_text_printf(text, "meminfo:%.1f / %.1f GB (free / total)\n",
                       (double)memory.freeram / gib, (double)memory.totalram / gib);
    }
    if (uname(&names) == 0) {
        begin_group(info, CN_UFT_INFO_OSINFO);
        cn_text_printf(text, "osinfo:lines=3\nosinfo:kernel=%s %s\nosinfo:hostname=%s\n",
                       names.sysname, names.release, names.nodename);
        cn_text_str_add(text, "osinfo:distro=");
        add_first_line_of(text, "/etc/os-release", "PRETTY_NAME");
        cn_text_char(text, '\n');
    }
}

static void add_settings(struct run_info *info)
{
    struct cn_text *text = &info->text;

    begin_group(info, CN_UFT_INFO_SYSCTL);
    cn_text_str_add(text, "sysctl:perf_event_paranoid=");
    add_first_line_of(text, "/proc/sys/kernel/perf_event_paranoid", "");
    cn_text_str_add(text, " kptr_restrict=");
    add_first_line_of(text, "/proc/sys/kernel/kptr_restrict", "");
    cn_text_char(text, '\n');
}

static void add_tasks(struct run_info *info)
{
    DIR *dir = opendir(info->facts->dir);
    struct dirent *entry;
    unsigned long *tids = NULL;
    size_t count = 0, capacity = 0;

    while (dir && (entry = readdir(dir))) {
        char *end;
        unsigned long tid = strtoul(entry->d_name, &end, 10);

        if (end == entry->d_name ||
            (strcmp(end, ".dat") != 0 && strcmp(end, ".zts") != 0))
            continue;
        CN_PUSH(tids, count, capacity, tid);
    }
    if (dir)
        (void)closedir(dir);
    CN_SORT_VALUES(tids, count);
    begin_group(info, CN_UFT_INFO_TASKINFO);
    cn_text_printf(&info->text,
                   "taskinfo:lines=2\ntaskinfo:nr_tid=%zu\ntaskinfo:tids=", count);
    for (size_t i = 0; i < count; i++)
        cn_text_printf(&info->text, i ? ",%lu" : "%lu", tids[i]);
    cn_text_char(&info->text, '\n');
    free(tids);
}

static void add_usage(struct run_info *info)
{
    const struct rusage *usage = &info->facts->usage;
    struct cn_text *text = &info->text;
    double loads[3] = {0};

    begin_group(info, CN_UFT_INFO_USAGEINFO);
    cn_text_printf(text,
                   "usageinfo:lines=6\nusageinfo:systime=%ld.%06ld\n"
                   "usageinfo:usrtime=%ld.%06ld\n",
                   (long)usage->ru_stime.tv_sec, (long)usage->ru_stime.tv_usec,
                   (long)usage->ru_utime.tv_sec, (long)usage->ru_utime.tv_usec);
    cn_text_printf(text,
                   "usageinfo:ctxsw=%ld / %ld (voluntary / involuntary)\n"
                   "usageinfo:maxrss=%ld\nusageinfo:pagefault=%ld / %ld (major / minor)\n"
                   "usageinfo:iops=%ld / %ld (read / write)\n",
                   usage->ru_nvcsw, usage->ru_nivcsw, usage->ru_maxrss, usage->ru_majflt,
                   usage->ru_minflt, usage->ru_inblock, usage->ru_oublock);
    if (getloadavg(loads, 3) == 3) {
        begin_group(info, CN_UFT_INFO_LOADINFO);
        cn_text_printf(text, "loadinfo:%.2f / %.2f / %.2f\n", loads[0], loads[1],
                       loads[2]);
    }
}

/* Readers need these lines to measure the payload of records. */
static void add_arguments(struct run_info *info)
{
    const struct cn_arguments *arguments = info->facts->arguments;
    struct cn_text *text = &info->text;
    unsigned count = 3u + (arguments->texts[0].len > 0) + (arguments->texts[1].len > 0) +
                     arguments->values.is_automatic;

    if (cn_arguments_is_empty(arguments))
        return;
    begin_group(info, CN_UFT_INFO_ARG_SPEC);
    cn_text_printf(text, "argspec:lines=%u\n", count);
    if (arguments->texts[0].len > 0)
        cn_text_printf(text, "argspec:%s\n", arguments->texts[0].chars);
    if (arguments->texts[1].len > 0)
        cn_text_printf(text, "retspec:%s\n", arguments->texts[1].chars);
    cn_text_str_add(text, "argauto:");
    cn_known_functions_print(false, text);
    cn_text_str_add(text, "\nretauto:");
    cn_known_functions_print(true, text);
    cn_text_str_add(text, "\nenumauto:");
    cn_known_enums_print(text);
    cn_text_str_add(text, CN_ARGUMENT_UNKNOWN_ENUM "\n");
    if (arguments->values.is_automatic)
        cn_text_str_add(text, "auto-args:1\n");
}

static uint64_t features_of(const struct cn_info_facts *facts)
{
    const struct cn_arguments *arguments = facts->arguments;
    uint64_t features =
        CN_FEATURE_TASK_SESSION | CN_FEATURE_SYM_REL_ADDR | CN_FEATURE_MAX_STACK;

    features |= facts->has_libcalls ? CN_FEATURE_PLTHOOK : 0;
    features |= facts->has_sites ? CN_FEATURE_CALLSITE : 0;
    features |= facts->has_events ? CN_FEATURE_PERF_EVENT : 0;
    features |= facts->has_kernel ? CN_FEATURE_KERNEL : 0;
    if (arguments->values.is_automatic || arguments->values.requested[0].count > 0)
        features |= CN_FEATURE_ARGUMENT;
    if (arguments->values.is_automatic || arguments->values.requested[1].count > 0)
        features |= CN_FEATURE_RETVAL;
    if (arguments->values.is_automatic)
        features |= CN_FEATURE_AUTO_ARGS;
    if (cn_arguments_has_debug(arguments))
        features |= CN_FEATURE_DEBUG_INFO;
    return features;
}

static void add_cost(struct cn_text *text, const char *what,
                     const struct cn_rec_cost *cost)
{
    if (cost->call_ps > 0)
        cn_text_printf(text, " %s-cost=%.3fns %s-inner=%.3fns", what,
                       (double)cost->call_ps / 1000, what, (double)cost->inner_ps / 1000);
}

static void add_how(struct run_info *info)
{
    const struct cn_info_facts *facts = info->facts;
    struct cn_text *text = &info->text;
    char date[64] = "";

    begin_group(info, CN_UFT_INFO_RECORD_DATE);
    (void)ctime_r(&facts->started_at, date);
    cn_text_printf(text, "record_date:%selapsed_time:%" PRIu64 ".%09" PRIu64 " sec\n",
                   date, facts->elapsed_ns / 1000000000, facts->elapsed_ns % 1000000000);
    begin_group(info, CN_UFT_INFO_PATTERN_TYPE);
    cn_text_printf(text, "pattern_type:%s\n",
                   facts->arguments->is_glob ? "glob" : "regex");
    begin_group(info, CN_UFT_INFO_VERSION);
    cn_text_printf(text, "uftrace_version:cairn %s (", CN_VERSION);
    add_cost(text, "call", &facts->call_cost);
    add_cost(text, "libcall", &facts->libcall_cost);
    if (facts->left_out_ps > 0)
        cn_text_printf(text, " left-out=%.3fns", (double)facts->left_out_ps / 1000);
    cn_text_printf(text, "%s%s )\n", facts->has_values ? " values" : "",
                   facts->begins_off ? " begins-off" : "");
    begin_group(info, CN_UFT_INFO_UTC_OFFSET);
    cn_text_printf(text, "utc_offset:%" PRIu64 "\n",
                   cn_clock_date_ns() / 1000000000 - cn_clock_ns() / 1000000000);
    /* Explains missing events. */
    add_settings(info);
}

void cn_info_machine_print(struct cn_text *text)
{
    struct run_info info = {0};

    add_machine(&info);
    add_settings(&info);
    cn_text_add(text, cn_text_str(&info.text), info.text.len);
    cn_text_done(&info.text);
}

bool cn_info_file_write(const struct cn_info_facts *facts, struct cn_error *err)
{
    struct run_info info = {.facts = facts};
    struct cn_uft_info_header head = {
        .version = CN_UFT_VERSION,
        .header_len = cn_uft_info_header_size,
        .byte_order = facts->exe->byte_order,
        .word_class = facts->exe->word_class,
        .features = features_of(facts),
        .max_stack = MAX_STACK,
    };
    uint8_t bytes[cn_uft_info_header_size];
    struct cn_text all = {0};

    add_program(&info);
    add_machine(&info);
    add_tasks(&info);
    if (facts->is_finished)
        add_usage(&info);
    add_arguments(&info);
    add_how(&info);
    head.info_mask = info.mask;
    cn_uft_info_header_encode(&head, bytes);
    memcpy(bytes, CN_UFT_MAGIC, CN_UFT_MAGIC_LEN);
    cn_text_add(&all, (const char *)bytes, sizeof(bytes));
    cn_text_add(&all, cn_text_str(&info.text), info.text.len);
    bool ok = cn_out_replace(facts->dir, "info", all.chars, all.len, err);
    cn_text_done(&all);
    cn_text_done(&info.text);
    return ok;
}
