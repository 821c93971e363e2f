/* Intrusive doubly linked lists: the links are a member of each item.
 *
 *     struct waiter {
 *         int id;
 *         struct bide__list line;
 *     } a = { .id = 1 };
 *     struct bide__list head;
 *     bide__list_init(&head);
 *     bide__list_append(&head, &a.line);
 *     while (!bide__list_empty(&head)) {
 *         struct waiter *w =
 *             bide__container_of(head.next, struct waiter, line);
 *         bide__list_remove(&w->line);
 *         printf("%d\n", w->id);
 *     }
 *
 * A list is a ring that includes its head: there are no special cases, and an
 * item can be removed without knowing the head. Links that are all zero are in
 * no list; a head must be initialized, and must not be moved. */
#ifndef BIDE_BASE_LIST_H
#define BIDE_BASE_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* The struct that contains this member, for callbacks that get the member. */
#define bide__container_of(pointer, type, member)                              \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* Threads: owned. */
struct bide__list {
    struct bide__list *next, *prev;
};

static inline void bide__list_init(struct bide__list *head)
{
    head->next = head->prev = head;
}

static inline bool bide__list_empty(const struct bide__list *head)
{
    return head->next == head;
}

/* Whether an item is in a list. */
static inline bool bide__list_has(const struct bide__list *item)
{
    return item->next != NULL;
}

/* Adds an item at the end: before the head of the ring. */
static inline void bide__list_append(struct bide__list *head,
                                     struct bide__list *item)
{
    item->next = head;
    item->prev = head->prev;
    head->prev->next = item;
    head->prev = item;
}

/* Adds an item at the front. */
static inline void bide__list_push(struct bide__list *head,
                                   struct bide__list *item)
{
    bide__list_append(head->next, item);
}

static inline void bide__list_remove(struct bide__list *item)
{
    item->prev->next = item->next;
    item->next->prev = item->prev;
    item->next = item->prev = NULL;
}

#endif
