/* threads/test_fleet.c: calls spend a lease while another thread reports, applies
 * and takes back: never more than the ledger has.
 *
 * The clock stands still, so nothing expires: whatever is spent is spent for
 * good, unless it is given back. */
#include "team.h"

#include "bide/share.h"
#include "lib/budget/budget.h"
#include "lib/fleet/share.h"

enum { ROUNDS = 40, ALLOWED = 500, TRIES = 60 };

struct fleet {
    bide_dep *dep;
    bide_share share;
    _Atomic int64_t spent; /* not given back */
    _Atomic bool over;
    uint64_t allowed;
};

/* What the ledger of a fleet of one would say, and any smaller lease. */
static void sync_once(struct fleet *f, struct member *me, uint64_t most)
{
    bide_share_row row;
    bide_share_report(&f->share, now_ns(), &row);
    /* What is spent while it reads is in both: too much is said, never too
     * little. Those under way have not looked at the lease yet. */
    EXPECT(row.spent <= f->allowed + TEAM && row.held <= f->allowed);
    uint64_t room = f->allowed > row.spent ? f->allowed - row.spent : 0;
    uint64_t held = room < most ? room : most;
    if (held > 0 && chance(me, 3) == 0)
        held = (uint64_t)chance(me, (int64_t)held + 1);
    bide_share_apply(&f->share,
                     &(bide_share_reply){ .instances = 1,
                                          .held = held,
                                          .allowed = f->allowed,
                                          .used = row.spent + held,
                                          .recovered_ns = -1 },
                     now_ns());
}

static void spend_some(struct fleet *f, struct member *me)
{
    for (int i = 0; i < TRIES; i++) {
        struct bide__ticket ticket = { 0, 0 };
        if (!bide__share_take(f->dep, now_ns(), &ticket))
            continue;
        EXPECT(atomic_fetch_add(&f->spent, 1) < (int64_t)f->allowed);
        if (chance(me, 4) == 0) {
            atomic_fetch_sub(&f->spent, 1);
            bide__spend_give(&f->dep->budget.spend, ticket.tick);
        }
    }
}

static void spend_and_sync(struct member *me)
{
    struct fleet *f = me->ctx;
    for (int round = 0; round < ROUNDS; round++) {
        ONE_OF_US({
            bide_policy_conf conf = defaults();
            f->dep = new_dep(&conf);
            f->allowed = (uint64_t)chance(me, ALLOWED) + 1;
            atomic_store(&f->spent, 0);
            EXPECT(bide_share_init(&f->share, f->dep, 1) == 0);
            sync_once(f, me, f->allowed);
        });
        if (me->who == 0)
            for (int i = 0; i < 4 * TRIES; i++)
                sync_once(f, me, 1 + (uint64_t)chance(me, 64));
        else
            spend_some(f, me);
        ONE_OF_US({
            struct bide__ticket ticket;
            for (int i = 0; i < 2 * ALLOWED; i++) { /* what is left, to the last */
                sync_once(f, me, f->allowed);
                while (bide__share_take(f->dep, now_ns(), &ticket))
                    atomic_fetch_add(&f->spent, 1);
            }
            EXPECT(atomic_load(&f->spent) == (int64_t)f->allowed);
            bide_share_done(&f->share);
            bide_dep_free(f->dep);
        });
    }
}

static void fleet_lease_is_never_overspent_and_used_up(void **state)
{
    (void)state;
    static struct fleet f;
    run_team(spend_and_sync, &f, 10 * S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fleet_lease_is_never_overspent_and_used_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
