/* Spending over a sliding window: lib/budget/spend.c, step by step.
 *
 * Mirrors bide__spend_take() with expire(), expire_slot(), note() and
 * take_off(), and bide__spend_give(). Each load, compare-and-swap and add of the
 * C code is one atomic step here and touches one shared word; what a thread
 * works out for itself rides along. A compare-and-swap that fails has loaded the
 * word anew, as in C. Memory is sequentially consistent: Spin checks the
 * protocol, ThreadSanitizer the orderings.
 *
 * Threads look at the clock, and may then be held up for as long as there are
 * ticks. They spend, and then keep the unit or give it back, ROUNDS times.
 *
 * Checked, whatever the interleaving:
 *   - what was spent in the last SLOTS ticks is never over LIMIT;
 *   - the total is never below that, and never below zero;
 *   - when all is quiet, the total is the sum of the notes, and the notes in the
 *     window are just the units that were kept: what was given back is not in;
 *   - nothing is lost for ever: SLOTS ticks later the total is zero;
 *   - every thread finishes (no invalid end state).
 *
 * Planted mistakes, each of which must be found:
 *   BUG_CHECK_THEN_ADD  the limit is checked, then the total is added to
 *   BUG_OFF_FIRST       expiry takes the count off before it has the slot
 *   BUG_NOTE_FIRST      the note is filed before the total has been raised
 *   BUG_EMPTY_TAG       an empty slot keeps its old tick for a whole window, so
 *                       that units of the first window are noted under tick 0
 */
// run: 3-threads pan=-m20000 cc=-DSAFETY cc=-DCOLLAPSE
// run: 3-threads-longer spin=-DLIMIT=1 spin=-DLAST=3 pan=-m20000 cc=-DSAFETY cc=-DCOLLAPSE
// run: 2-rounds spin=-DTHREADS=2 spin=-DROUNDS=2 spin=-DLAST=3 pan=-m20000 cc=-DSAFETY cc=-DCOLLAPSE
// run: 3-slots spin=-DTHREADS=2 spin=-DSLOTS=3 spin=-DLAST=4 pan=-m20000
// run: check-then-add spin=-DBUG_CHECK_THEN_ADD cc=-DSAFETY cc=-O0 pan=-m20000 expect=error
// run: off-first spin=-DBUG_OFF_FIRST cc=-DSAFETY cc=-O0 pan=-m20000 expect=error
// run: note-first spin=-DBUG_NOTE_FIRST cc=-DSAFETY cc=-O0 pan=-m20000 expect=error
// run: empty-tag spin=-DBUG_EMPTY_TAG cc=-DSAFETY cc=-O0 pan=-m20000 expect=error

#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifndef SLOTS
#define SLOTS 2
#endif
#ifndef LIMIT
#define LIMIT 2
#endif
#ifndef LAST
#define LAST 2 /* the clock stops here, at most 7 */
#endif

/* struct bide__spend */
short total;
byte expired_to;
byte tag[SLOTS];
byte count[SLOTS];

byte now;     /* the clock, in ticks */
byte finished;

/* What really happened, for the checks alone. */
byte spent[8]; /* granted at this tick by the spender's clock, not given back */
byte kept[8];  /* noted under this tick, not given back */

#define OF(t) (spent[t] * (t + SLOTS > now))
#define LIVE (OF(0) + OF(1) + OF(2) + OF(3) + OF(4) + OF(5) + OF(6) + OF(7))

inline take_off(n)
{
    d_step { total = total - (n); assert(total >= 0 && total >= LIVE) }
}

inline load_slot(i)
{
    d_step { seen_tag = tag[i]; seen_count = count[i] }
}

/* One compare-and-swap of a slot; `won` says how it went. */
inline swap_slot(i, want_tag, want_count)
{
    d_step {
        if
        :: tag[i] == seen_tag && count[i] == seen_count ->
            tag[i] = want_tag;
            count[i] = want_count;
            won = true
        :: else ->
            seen_tag = tag[i];
            seen_count = count[i];
            won = false
        fi
    }
}

inline expire_slot(i)
{
    load_slot(i);
    do
    :: seen_count != 0 && seen_tag + SLOTS <= tick ->
#ifdef BUG_OFF_FIRST
        take_off(seen_count);
        swap_slot(i, seen_tag, 0);
        break
#else
        swap_slot(i, seen_tag, 0);
        if
        :: won -> take_off(seen_count); break
        :: else
        fi
#endif
    :: else -> break
    od
}

inline expire()
{
    from = expired_to;
    if
    :: tick <= from
    :: else ->
        n = (tick - from > SLOTS -> SLOTS : tick - from);
        back = 0;
        do
        :: back < n -> expire_slot((tick - back) % SLOTS); back++
        :: else -> break
        od;
        do
        :: from < tick ->
            d_step {
                if
                :: expired_to == from -> expired_to = tick; from = tick
                :: else -> from = expired_to
                fi
            }
        :: else -> break
        od
    fi;
    from = 0; n = 0; back = 0
}

#ifdef BUG_EMPTY_TAG
#define TURN (seen_tag + SLOTS <= tick)
#else
#define TURN (seen_count == 0 || seen_tag + SLOTS <= tick)
#endif

inline note()
{
    load_slot(tick % SLOTS);
    do
    :: atomic {
            turn = TURN;
            if
            :: tag[tick % SLOTS] == seen_tag &&
               count[tick % SLOTS] == seen_count ->
                won = true;
                filed = (turn -> tick : seen_tag);
                tag[tick % SLOTS] = filed;
                count[tick % SLOTS] = (turn -> 1 : seen_count + 1);
                kept[filed]++
            :: else ->
                seen_tag = tag[tick % SLOTS];
                seen_count = count[tick % SLOTS];
                won = false
            fi
        }
        if
        :: won && turn -> take_off(seen_count); break
        :: won && !turn -> break
        :: else
        fi
    od
}

/* The compare-and-swap that decides. */
inline raise_total()
{
    d_step { seen = total; granted = false };
    do
    :: seen >= LIMIT -> break
    :: else ->
        d_step {
#ifdef BUG_CHECK_THEN_ADD
            granted = true;
#else
            granted = total == seen;
#endif
            if
            :: granted ->
                total++;
                spent[tick]++;
                assert(LIVE <= LIMIT && total >= LIVE)
            :: else -> seen = total
            fi
        }
        if
        :: granted -> break
        :: else
        fi
    od;
    seen = 0
}

inline take()
{
    expire();
#ifdef BUG_NOTE_FIRST
    if
    :: total < LIMIT -> note(); raise_total()
    :: else -> granted = false
    fi
#else
    raise_total();
    if
    :: granted -> note()
    :: else
    fi
#endif
}

/* The unit counts as given back from the moment that this begins. */
inline give()
{
    d_step {
        spent[tick]--;
        kept[filed]--;
        seen_tag = tag[filed % SLOTS];
        seen_count = count[filed % SLOTS]
    }
    do
    :: seen_tag == filed && seen_count != 0 ->
        swap_slot(filed % SLOTS, seen_tag, seen_count - 1);
        if
        :: won -> take_off(1); break
        :: else
        fi
    :: else -> break
    od
}

proctype thread()
{
    byte rounds, tick, from, n, back, seen_tag, seen_count, filed;
    short seen;
    bool won, turn, granted;
    do
    :: rounds < ROUNDS ->
        d_step { tick = now; rounds++ }
        take();
        if
        :: granted -> give()
        :: true /* keeps it */
        fi;
        atomic {
            tick = 0; seen_tag = 0; seen_count = 0; filed = 0;
            won = false; turn = false; granted = false
        }
    :: else -> break
    od;
    finished++
}

proctype clock()
{
    do
    :: now < LAST -> now++
    :: else -> break
    od
}

/* Looks at what is left when everybody is done, wherever the clock stands. */
proctype judge()
{
    byte tick, from, n, back, seen_tag, seen_count, i;
    short sum;
    bool won;
    d_step {
        finished == THREADS;
        do
        :: i < SLOTS -> sum = sum + count[i]; i++
        :: else -> break
        od;
        assert(total == sum);
        i = 0;
        do
        :: i <= LAST ->
            if
            :: i + SLOTS > now && tag[i % SLOTS] == i ->
                assert(count[i % SLOTS] == kept[i])
            :: i + SLOTS > now && tag[i % SLOTS] != i -> assert(kept[i] == 0)
            :: else
            fi;
            i++
        :: else -> break
        od;
        i = now;
        do
        :: now < i + SLOTS -> now++; tick = now; expire()
        :: else -> break
        od;
        assert(total == 0);
        now = LAST
    }
}

/* Begins with up to LIMIT units that were spent at tick 0. */
init
{
    byte past;
    atomic {
        do
        :: past < LIMIT -> past++
        :: break
        od;
        total = past; spent[0] = past; kept[0] = past; count[0] = past;
        past = 0;
        do
        :: past < THREADS -> run thread(); past++
        :: else -> break
        od;
        run clock();
        run judge()
    }
}
