/* test_list.c: lists whose members hold their own links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/list.h"

struct member {
    int id;
    struct bide__list line;
};

static void expect(const struct bide__list *head, const int *ids)
{
    const struct bide__list *at = head->next;

    for (; *ids; ids++, at = at->next)
        assert_int_equal(bide__container_of(at, struct member, line)->id, *ids);
    assert_ptr_equal(at, head);
}

static void list_keeps_its_order(void **state)
{
    struct member a = { .id = 1 }, b = { .id = 2 }, c = { .id = 3 };
    struct bide__list head;

    (void)state;
    bide__list_init(&head);
    assert_true(bide__list_empty(&head));
    bide__list_append(&head, &a.line);
    bide__list_append(&head, &b.line);
    bide__list_push(&head, &c.line);
    expect(&head, (const int[]){ 3, 1, 2, 0 });
    bide__list_remove(&a.line);
    expect(&head, (const int[]){ 3, 2, 0 });
    bide__list_append(&head, &a.line);
    expect(&head, (const int[]){ 3, 2, 1, 0 });
}

static void list_members_know_whether_they_are_in_one(void **state)
{
    struct member a = { .id = 1 };
    struct bide__list head;

    (void)state;
    bide__list_init(&head);
    assert_false(bide__list_has(&a.line));
    bide__list_append(&head, &a.line);
    assert_true(bide__list_has(&a.line));
    bide__list_remove(&a.line);
    assert_false(bide__list_has(&a.line));
    assert_true(bide__list_empty(&head));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(list_keeps_its_order),
        cmocka_unit_test(list_members_know_whether_they_are_in_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
