/* test_diag.c: findings are gathered, sorted, printed so that the caret points.
 */
#define _GNU_SOURCE /* open_memstream */
#include "base/json.h"
#include "base/mark.h"
#include "config/doc/diag.h"
#include "config/doc/diag_json.h"
#include "config/lint/rules.h"
#include "findings.h"

static struct bide__mark at(unsigned line, unsigned column, unsigned chars)
{
    return (struct bide__mark){ line, column, line, column + chars };
}

static char *printed(const bide_diagnostics *notes, bool colours)
{
    static char *text; /* static: gcc 12 thinks that the stream keeps it */
    static size_t len;
    FILE *out = open_memstream(&text, &len);

    assert_non_null(out);
    bide_diagnostics_print(notes, out, colours);
    fclose(out);
    return text;
}

/* Prints one finding at a place of a line. */
static void must_print(const char *line, struct bide__mark mark,
                       const char *want)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    char *text;

    bide__diag_at(notes, "f", line, strlen(line), mark, BIDE_MISTAKE, "syntax",
                  NULL, "m");
    text = printed(notes, false);
    assert_string_equal(strchr(text, '\n') + 1, want);
    free(text);
    bide_diagnostics_free(notes);
}

static void diag_caret_stands_under_its_text(void **state)
{
    (void)state;
    must_print("abc def", at(1, 5, 3), "    1 | abc def\n      |     ^~~\n");
    must_print("abc", at(1, 4, 0), "    1 | abc\n      |    ^\n");
    must_print("abc", at(1, 9, 2), "    1 | abc\n      |    ^\n");
    must_print("\tx", at(1, 2, 1), "    1 |         x\n      |         ^\n");
    must_print("ab\tx", at(1, 3, 1), "    1 | ab      x\n      |   ^~~~~~\n");
    must_print("\xe6\xbc\xa2\xe5\xad\x97x", at(1, 3, 1),
               "    1 | \xe6\xbc\xa2\xe5\xad\x97x\n      |     ^\n");
    must_print("e\xcc\x81x", at(1, 3, 1), "    1 | e\xcc\x81x\n      |  ^\n");
    must_print("\x1bx", at(1, 2, 1), "    1 | \xef\xbf\xbdx\n      |  ^\n");
    must_print("\xe2\x80\xaex", at(1, 2, 1), /* right-to-left override */
               "    1 | \xef\xbf\xbdx\n      |  ^\n");
    must_print("\xffx", at(1, 2, 1), "    1 | \xef\xbf\xbdx\n      |  ^\n");
    /* over several lines: to the end of the first */
    must_print("a: {  \nb", (struct bide__mark){ 1, 4, 2, 2 },
               "    1 | a: {  \n      |    ^\n");
    must_print("one\r\ntwo\r\n", at(2, 1, 3), "    2 | two\n      | ^~~\n");
    must_print("one\n", at(2, 1, 0), "    2 | \n      | ^\n");
    must_print("one\xc2\x85two", at(2, 1, 3), "    2 | two\n      | ^~~\n");
}

static void diag_long_line_is_cut_around_its_place(void **state)
{
    char line[1001], *text;
    bide_diagnostics *notes;

    (void)state;
    memset(line, 'x', 1000);
    line[1000] = '\0';
    for (unsigned column = 1; column <= 1001; column++) {
        char *shown, *caret;

        line[column - 1 < 1000 ? column - 1 : 999] = '!';
        notes = bide_diagnostics_new();
        bide__diag_at(notes, "f", line, 1000, at(1, column, 1), BIDE_MISTAKE,
                      "syntax", NULL, "m");
        text = printed(notes, false);
        shown = strchr(text, '\n') + 1;
        caret = strchr(shown, '\n') + 1;
        assert_true(caret - shown <= 101);
        if (column <= 1000)
            assert_int_equal(shown[strcspn(caret, "^")], '!');
        line[column - 1 < 1000 ? column - 1 : 999] = 'x';
        free(text);
        bide_diagnostics_free(notes);
    }
}

static void diag_is_sorted_with_its_notes(void **state)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    static const char *const want[] = { "of the file", "early", "late",
                                        "of late",     "later", "other" };

    (void)state;
    bide__diag_at(notes, "a", "", 0, at(7, 1, 1), BIDE_MISTAKE, "x", NULL,
                  "late");
    bide__diag_at(notes, "a", "", 0, at(1, 1, 1), BIDE_NOTE, "x", NULL,
                  "of late");
    bide__diag_at(notes, "a", "", 0, at(7, 2, 1), BIDE_WARNING, "x", NULL,
                  "later");
    bide__diag_at(notes, "a", "", 0, at(2, 5, 1), BIDE_MISTAKE, "x", NULL,
                  "early");
    bide__diag_at(notes, "a", "", 0, at(0, 0, 0), BIDE_MISTAKE, "x", NULL,
                  "of the file");
    bide__diag_at(notes, "b", "", 0, at(1, 1, 1), BIDE_MISTAKE, "x", NULL,
                  "other");
    bide__diag_sort(notes);
    assert_int_equal(bide_diagnostics_size(notes), COUNT(want));
    for (size_t i = 0; i < COUNT(want); i++)
        assert_string_equal(bide_diagnostics_at(notes, i)->message, want[i]);
    assert_int_equal(bide_diagnostics_count(notes, BIDE_MISTAKE), 4);
    assert_int_equal(bide_diagnostics_count(notes, BIDE_WARNING), 1);
    assert_int_equal(bide_diagnostics_count(notes, BIDE_NOTE), 1);
    assert_null(bide_diagnostics_at(notes, COUNT(want)));
    bide_diagnostics_free(notes);
}

static void diag_said_once_is_enough(void **state)
{
    bide_diagnostics *notes = bide_diagnostics_new();

    (void)state;
    for (int i = 0; i < 3; i++) {
        bide__diag_at(notes, "a", "", 0, at(7, 1, 1), BIDE_MISTAKE, "x", NULL,
                      "same");
        bide__diag_at(notes, "a", "", 0, at(1, 1, 1), BIDE_NOTE, "x", NULL,
                      "note");
    }
    assert_int_equal(bide_diagnostics_size(notes), 2);
    assert_int_equal(bide__diag_mistakes(notes), 3);
    bide_diagnostics_free(notes);
}

static void diag_thousand_findings_are_enough(void **state)
{
    bide_diagnostics *notes = bide_diagnostics_new();

    (void)state;
    for (unsigned i = 1; i <= 5000; i++)
        bide__diag_at(notes, "a", "", 0, at(i, 1, 1), BIDE_MISTAKE, "x", NULL,
                      "m%u", i);
    assert_int_equal(bide_diagnostics_size(notes), 1001);
    assert_string_equal(bide_diagnostics_at(notes, 1000)->code,
                        "too-many-errors");
    assert_int_equal(bide__diag_mistakes(notes), 5000);
    /* another file has room again */
    bide__diag_at(notes, "b", "", 0, at(1, 1, 1), BIDE_MISTAKE, "x", NULL, "m");
    assert_int_equal(bide_diagnostics_size(notes), 1002);
    bide_diagnostics_free(notes);
}

static void diag_text_of_a_file_cannot_command_a_terminal(void **state)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    char *text;

    (void)state;
    bide__diag_at(notes, "a\33b", "x", 1, at(1, 1, 1), BIDE_MISTAKE, "x",
                  "help\7", "red\33[31m \xff \xc2\x9b caf\xc3\xa9");
    text = printed(notes, false);
    assert_string_equal(text, "a\\x1bb:1:1: error: red\\x1b[31m \\xff "
                              "\\xc2\\x9b caf\xc3\xa9 [x]\n"
                              "    1 | x\n      | ^\n      help: help\\x07\n");
    free(text);
    bide_diagnostics_free(notes);
}

static void diag_colours_can_be_taken_away(void **state)
{
    bide_diagnostics *notes = bide_diagnostics_new();
    char *plain, *coloured, *to;

    (void)state;
    bide__diag_at(notes, "f", "abc", 3, at(1, 2, 1), BIDE_WARNING, "L002", "h",
                  "m");
    plain = printed(notes, false);
    to = coloured = printed(notes, true);
    assert_non_null(strstr(coloured, "\33["));
    for (const char *from = coloured; (*to = *from); from++)
        if (*from == '\33')
            from += strcspn(from, "m");
        else
            to++;
    assert_string_equal(plain, coloured);
    free(plain);
    free(coloured);
    bide_diagnostics_free(notes);
}

static void diag_suggestions_live_in_the_diagnostics(void **state)
{
    static const char *const known[] = { "base", "cap", NULL };
    bide_diagnostics *notes = bide_diagnostics_new();

    (void)state;
    assert_string_equal(bide__did_you_mean(notes, "capp", known),
                        "did you mean `cap`?");
    assert_null(bide__did_you_mean(NULL, "capp", known));
    bide_diagnostics_free(notes);
}

static void diag_codes_are_sorted_and_named_once(void **state)
{
    size_t n, lints;
    const struct bide__diag_code *codes = bide__diag_codes(&n);
    const struct bide__lint_rule *rules = bide__lint_rules(&lints);
    char code[32];

    (void)state;
    for (size_t i = 1; i < n; i++)
        assert_true(strcmp(codes[i - 1].code, codes[i].code) < 0);
    for (size_t i = 0; i < lints; i++) {
        snprintf(code, sizeof code, "L%03zu", i + 1);
        assert_string_equal(rules[i].code, code);
    }
}

static void diag_null_is_taken(void **state)
{
    (void)state;
    bide_diagnostics_free(NULL);
    assert_int_equal(bide_diagnostics_size(NULL), 0);
    assert_int_equal(bide_diagnostics_count(NULL, BIDE_MISTAKE), 0);
    assert_null(bide_diagnostics_at(NULL, 0));
    bide_diagnostics_print(NULL, stdout, false);
    bide__diag_sort(NULL);
    bide__diag_at(NULL, "f", "", 0, at(1, 1, 1), BIDE_NOTE, "x", NULL, "m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diag_caret_stands_under_its_text),
        cmocka_unit_test(diag_long_line_is_cut_around_its_place),
        cmocka_unit_test(diag_is_sorted_with_its_notes),
        cmocka_unit_test(diag_said_once_is_enough),
        cmocka_unit_test(diag_thousand_findings_are_enough),
        cmocka_unit_test(diag_text_of_a_file_cannot_command_a_terminal),
        cmocka_unit_test(diag_colours_can_be_taken_away),
        cmocka_unit_test(diag_suggestions_live_in_the_diagnostics),
        cmocka_unit_test(diag_codes_are_sorted_and_named_once),
        cmocka_unit_test(diag_null_is_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
