/* Addresses, environment and files of credentials. */

#include "s3/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "support/scratch.h"

static void forget_environment(void)
{
    static const char *const names[] = {
        "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
        "AWS_PROFILE",       "AWS_ENDPOINT_URL",      "AWS_ENDPOINT_URL_S3",
        "AWS_REGION",        "AWS_DEFAULT_REGION",    "AWS_CA_BUNDLE",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        (void)unsetenv(names[i]);
    (void)setenv("AWS_SHARED_CREDENTIALS_FILE", "credentials", 1);
    (void)setenv("AWS_CONFIG_FILE", "config", 1);
}

static void takes_each_value_from_the_first_that_has_it(void **state)
{
    static const char credentials[] = "[default]\naws_access_key_id = file\n"
                                      "aws_secret_access_key=of the file\n";
    static const char config[] = "[default]\nregion = eu-1\n# region = no\n"
                                 "[profile other]\nregion = eu-2\n";
    struct cn_s3_settings settings;
    struct cn_error err = {0};

    (void)state;
    forget_environment();
    cn_scratch_write("credentials", credentials, strlen(credentials));
    cn_scratch_write("config", config, strlen(config));
    assert_true(cn_s3_settings_read(&settings, "s3://bucket/a/b/", &err));
    assert_string_equal(settings.bucket, "bucket");
    assert_string_equal(settings.prefix, "a/b/");
    assert_string_equal(settings.key_id, "file");
    assert_string_equal(settings.secret, "of the file");
    assert_string_equal(settings.region, "eu-1");
    assert_string_equal(settings.endpoint, "https://s3.eu-1.amazonaws.com");
    cn_s3_settings_done(&settings);

    (void)setenv("AWS_ACCESS_KEY_ID", "mine", 1);
    (void)setenv("AWS_SECRET_ACCESS_KEY", "hidden", 1);
    (void)setenv("AWS_ENDPOINT_URL", "http://there:1/", 1);
    assert_true(cn_s3_settings_read(
        &settings, "s3://bucket?cache-size=3G&region=x&refresh=2", &err));
    assert_string_equal(settings.prefix, "");
    assert_string_equal(settings.key_id, "mine");
    assert_string_equal(settings.endpoint, "http://there:1");
    assert_string_equal(settings.region, "x");
    assert_int_equal(settings.cache_len, UINT64_C(3) << 30);
    assert_int_equal(settings.refresh_s, 2);
    assert_int_equal(settings.grace_s, 900);
    cn_s3_settings_done(&settings);
}

static void refuses(const char *address, const char *text)
{
    struct cn_s3_settings settings;
    struct cn_error err = {0};

    assert_false(cn_s3_settings_read(&settings, address, &err));
    assert_int_equal(err.kind, CN_ERR_USAGE);
    assert_non_null(strstr(err.text, text));
}

static void names_what_is_wrong(void **state)
{
    (void)state;
    forget_environment();
    refuses("s3://bucket/a", "no credentials");
    (void)setenv("AWS_ACCESS_KEY_ID", "mine", 1);
    (void)setenv("AWS_SECRET_ACCESS_KEY", "hidden", 1);
    refuses("s3:///a", "bucket is missing");
    refuses("s3://bucket/a b", "letters, digits");
    refuses("s3://bucket/a?key=b", "unknown name 'key'");
    refuses("s3://bucket/a?timeout", "'timeout' is not NAME=VALUE");
    refuses("s3://bucket/a?timeout=x", "'x' is not a number");
    refuses("s3://bucket/a?endpoint=there", "'there' begins neither");
}

static void a_file_that_cannot_be_read_is_named(void **state)
{
    struct cn_s3_settings settings;
    struct cn_error err = {0};

    (void)state;
    forget_environment();
    assert_int_equal(mkdir("credentials", 0700), 0);
    assert_false(cn_s3_settings_read(&settings, "s3://bucket/a", &err));
    assert_non_null(strstr(err.text, "credentials"));
    assert_int_equal(err.kind, CN_ERR_IO);
    /* It is not needed then. */
    (void)setenv("AWS_ACCESS_KEY_ID", "mine", 1);
    (void)setenv("AWS_SECRET_ACCESS_KEY", "hidden", 1);
    assert_true(cn_s3_settings_read(&settings, "s3://bucket/a", &err));
    cn_s3_settings_done(&settings);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(takes_each_value_from_the_first_that_has_it),
        CN_SCRATCH_TEST(names_what_is_wrong),
        CN_SCRATCH_TEST(a_file_that_cannot_be_read_is_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
