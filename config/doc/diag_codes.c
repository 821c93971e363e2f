/* diag_codes.c: every kind of error, with its permanent name. A code is never
 * reused for something else; test/golden/check has a file for each. */
#include "config/doc/diag_json.h"

static const struct bide__diag_code codes[] = {
    { "bad-alias", "An alias names nothing, or something around itself." },
    { "bad-key", "A key of a map is a list or a map." },
    { "bad-log-line", "A line of a log to replay holds no time." },
    { "bad-value", "A value is of the right type and none that is taken." },
    { "call-loop", "Services call each other in a circle." },
    { "cannot-read", "The file cannot be opened or read." },
    { "contradiction", "Two options do not go together." },
    { "duplicate-address", "Two listeners have the same address." },
    { "duplicate-key", "A key comes twice in one map." },
    { "empty-file", "There is nothing in the file." },
    { "extends-loop", "Policies extend each other in a circle." },
    { "merge-key", "Merge keys (`<<`) are not supported; `extends` is." },
    { "missing-key", "A key is missing that has no default." },
    { "missing-unit", "A duration or a rate is given as a bare number." },
    { "not-utf8", "The file is not UTF-8." },
    { "out-of-range", "A value is below its minimum or above its maximum." },
    { "second-document", "The file holds more than one YAML document." },
    { "shares-not-100", "The shares of a distribution do not make 100 %." },
    { "syntax", "The file is not YAML, or not JSON." },
    { "too-deep", "Values are nested more than 100 levels deep." },
    { "too-many-errors", "There are more than 1000 findings in the file." },
    { "too-many-nodes",
      "There are more than 1000000 values, or 1000 anchors." },
    { "too-many-rules", "A policy makes more than 256 rules." },
    { "unknown-fleet", "There are no clients of that name." },
    { "unknown-key", "There is no such key." },
    { "unknown-policy", "There is no policy of that name." },
    { "unknown-preset", "There is no preset of that name." },
    { "unknown-service", "There is no service of that name." },
    { "unknown-upstream", "There is no upstream of that name." },
    { "unsupported-tag", "A YAML tag other than those of JSON's types." },
    { "unsupported-version", "The file is of a version that this bide does "
                             "not read." },
    { "wrong-type", "A value is of another type than the key takes." },
};

const struct bide__diag_code *bide__diag_codes(size_t *ret_n)
{
    if (ret_n)
        *ret_n = sizeof codes / sizeof codes[0];
    return codes;
}
