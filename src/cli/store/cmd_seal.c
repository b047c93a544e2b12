/* cairn store seal: seal all segments. */

#include <inttypes.h>

#include "cli/shell/cli.h"
#include "cli/shell/command.h"
#include "store/bucket/bucket.h"
#include "store/maintenance/maintenance.h"
#include "store/maintenance/unsealed_list.h"
#include "store/maintenance/upload.h"

static bool run(const struct cn_args *args, struct cn_error *err)
{
    const char *path = cn_args_operand(args, 0);
    const char *address = cn_args_value(args, "upload");
    struct cn_bucket *bucket;
    uint32_t count;

    if (!cn_store_seal(path, &count, err))
        return false;
    cn_cli_say(args, "%" PRIu32 " segment%s sealed", count, cn_plural(count, "", "s"));
    if (!address)
        return true;
    if (!cn_bucket_open(&bucket, address, err))
        return false;
    bool ok = cn_upload_store(bucket, path, &count, err) &&
              cn_collector_sign_off(bucket, path, err);
    cn_bucket_close(bucket);
    if (ok)
        cn_cli_say(args, "%" PRIu32 " segment%s uploaded", count,
                   cn_plural(count, "", "s"));
    return ok;
}

static const struct cn_option options[] = {
    CN_OPTION("upload", 0, "ADDRESS",
              "then upload all segments that were not uploaded yet to this store in "
              "object storage, s3://BUCKET/PREFIX"),
    {0},
};

static const struct cn_example examples[] = {
    {"cairn store seal traces", "after adding traces"},
    {"cairn store seal spool --upload s3://traces/prod",
     "send what a stopped collector has"},
    {0},
};

const struct cn_command cn_cmd_store_seal = {
    .name = "store seal",
    .operands = "STORE",
    .operand_min = 1,
    .operand_max = 1,
    .summary = "build the indexes of a store",
    .description =
        "A store can be searched while it is written to. A sealed segment is smaller and "
        "faster to search. Segments are sealed automatically when the next one is "
        "started. "
        "Traces that are added later go into a new segment.",
    .examples = examples,
    .options = options,
    .run = run,
};
