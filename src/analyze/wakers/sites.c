#include "analyze/wakers/sites.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lens/code.h"
#include "analyze/views/frames.h"
#include "analyze/wakers/kernel_names.h"
#include "base/alloc.h"
#include "base/text.h"

/* Functions around the work of threads of the kernel, and of all system calls. */
static bool is_frame_of_kernel(const char *name)
{
    static const char *const names[] = {
        "entry_SYSCALL_64_after_hwframe",
        "do_syscall_64",
        "x64_sys_call",
        "ret_from_fork_asm",
        "ret_from_fork",
        "kthread",
        "worker_thread",
        "process_one_work",
        "process_scheduled_works",
        "el0t_64_sync",
        "el0t_64_sync_handler",
        "el0_svc",
        "do_el0_svc",
        "el0_svc_common.constprop.0",
        "invoke_syscall",
        "invoke_syscall.constprop.0",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Whose functions name a site: those of the program; in stacks without them, those of libraries that are
 * more than a way to the kernel. */
enum rank { OF_NONE, OF_BASE, OF_LIBRARY, OF_PROGRAM };

static bool is_base(const char *library)
{
    static const char *const names[] = {"libc.so",  "libc-2",  "libpthread", "libstdc++",
                                        "libgcc_s", "ld-",     "libm.so",    "libc++",
                                        "ld.so",    "librt.so"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strncmp(library, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static enum rank rank_of(const struct cn_frames *frames, const struct cn_codes *codes,
                         uint32_t place)
{
    const struct cn_code_class *code;

    if (frames->functions[place] == CN_NONE)
        return OF_NONE;
    code = cn_codes_find(codes, frames->functions[place], CN_NONE);
    if (code->kind == CN_CODE_STARTUP || (code->kind == CN_CODE_OF_KERNEL &&
                                          is_frame_of_kernel(frames->names.list[place])))
        return OF_NONE;
    if (code->kind == CN_CODE_OF_KERNEL ||
        strncmp(frames->names.list[place], "[unknown]", 9) == 0 ||
        (code->kind == CN_CODE_LIBRARY && code->library < codes->libraries.count &&
         is_base(codes->libraries.list[code->library])))
        return OF_BASE;
    return code->kind == CN_CODE_MINE ? OF_PROGRAM : OF_LIBRARY;
}

/* From the caller inwards: a function that ranks as high as the ones before it begins a site, the first
 * one below it is what it calls. */
void cn_wait_sites_init(struct cn_wait_sites *sites, const struct cn_frames *frames,
                        const struct cn_codes *codes)
{
    const struct cn_wait_site none = {CN_NONE, CN_NONE};
    bool *is_stopped =
        cn_alloc(frames->count + 1, sizeof(*is_stopped));         /* by an interrupt */
    uint8_t *ranks = cn_alloc(frames->count + 1, sizeof(*ranks)); /* of the site */

    *sites = (struct cn_wait_sites){
        .frames = frames,
        .of_frame = cn_alloc(frames->count + 1, sizeof(*sites->of_frame)),
    };
    for (size_t i = 0; i < frames->count; i++) {
        const struct cn_frame *frame = &frames->list[i];
        struct cn_wait_site *site = &sites->of_frame[i];
        bool has_parent = frame->parent < i;

        *site = has_parent ? sites->of_frame[frame->parent] : none;
        ranks[i] = has_parent ? ranks[frame->parent] : OF_NONE;
        is_stopped[i] = has_parent && is_stopped[frame->parent];
        if (frame->depth == 0 || frame->place >= frames->names.count)
            continue;
        is_stopped[i] =
            is_stopped[i] ||
            cn_kernel_marks_of(frames->names.list[frame->place]) & CN_KERNEL_INTERRUPT;
        enum rank rank = is_stopped[i] ? OF_NONE : rank_of(frames, codes, frame->place);
        if (rank >= OF_LIBRARY && rank >= ranks[i]) {
            *site = (struct cn_wait_site){frame->place, CN_NONE};
            ranks[i] = (uint8_t)rank;
        } else if (rank != OF_NONE && site->call == CN_NONE) {
            site->call = frame->place;
        }
    }
    free(is_stopped);
    free(ranks);
}

void cn_wait_sites_done(struct cn_wait_sites *sites)
{
    free(sites->of_frame);
    *sites = (struct cn_wait_sites){0};
}

struct cn_wait_site cn_wait_site_of(const struct cn_wait_sites *sites, uint32_t context)
{
    if (context == 0 || sites->frames->count == 0)
        return (struct cn_wait_site){CN_NONE, CN_NONE};
    return sites->of_frame[cn_frames_find(sites->frames, context)];
}

void cn_wait_site_print(const struct cn_wait_sites *sites, struct cn_wait_site site,
                        struct cn_text *out)
{
    const char *const *names = sites->frames->names.list;

    if (site.own == CN_NONE && site.call == CN_NONE)
        cn_text_str_add(out, "[unknown]");
    if (site.own != CN_NONE)
        cn_text_str_add(out, names[site.own]);
    if (site.own != CN_NONE && site.call != CN_NONE)
        cn_text_str_add(out, " → ");
    if (site.call != CN_NONE)
        cn_text_str_add(out, names[site.call]);
}
