/* The ledger in Lua, its arguments and its reply. */
#include "store/fleet/script.h"

/* clang-format off */
const char fleet_script[] =
    "local call, key, id = redis.call, KEYS[1], ARGV[1]\n"
    "local me = 'i:' .. id\n"
    "local function num(s)\n"
    "  local n = tonumber(s)\n"
    "  if not n or n ~= n or n < 0 or n > 9e13 then return 0 end\n"
    "  return math.floor(n)\n"
    "end\n"
    "local a = {}\n"
    "for i = 2, 20 do a[i] = num(ARGV[i]) end\n"
    "local window, floor, ratio, bad, late = a[2], a[3], a[4], a[5], a[6]\n"
    "local probes, dep, spent, held = a[7], a[8], a[9], a[10]\n"
    "local att, fail, slow, busy, wants = a[11], a[12], a[13], a[14], a[15]\n"
    "local probing, pfail, hold, ok, leaves = a[16], a[17], a[18], a[19], a[20]\n"
    "local t = call('TIME')\n"
    "local now = t[1] * 1000 + math.floor(t[2] / 1000)\n"
    /* Not a hash, or one that somebody has filled: begin anew. */
    "local kind = call('TYPE', key).ok\n"
    "if (kind ~= 'hash' and kind ~= 'none') or\n"
    "   (kind == 'hash' and call('HLEN', key) > 4200) then\n"
    "  call('DEL', key)\n"
    "end\n"
    "local s, rows, n_rows, gone = {}, {}, 0, {}\n"
    "local all = call('HGETALL', key)\n"
    "for i = 1, #all, 2 do\n"
    "  local f, v = all[i], all[i + 1]\n"
    "  if string.sub(f, 1, 2) == 'i:' then\n"
    "    local r = {}\n"
    "    for w in string.gmatch(string.sub(v, 1, 200), '%S+') do\n"
    "      r[#r + 1] = num(w)\n"
    "    end\n"
    "    if #r ~= 9 or now - r[1] > window or r[1] > now + window or\n"
    "       r[6] > r[5] or r[7] > r[5] then\n"
    "      if f ~= me then gone[#gone + 1] = f end\n"
    "    elseif f ~= me then\n"
    "      rows[#rows + 1] = r\n"
    "    end\n"
    "  else\n"
    "    s[f] = v\n"
    "  end\n"
    "end\n"
    "local since, last = num(s.since), num(s.last)\n"
    "if since == 0 or since > now or now - last > 2000 then since = now end\n"
    "local mine = { now, dep, spent, held, att, fail, slow, wants + 2 * busy,\n"
    "  1 - leaves }\n"
    "rows[#rows + 1] = mine\n"
    /* What all rows come to. */
    "local D, U, n, traffic, failing, A, F, S = 0, 0, 0, 0, 0, 0, 0, 0\n"
    "local others, rivals\n"
    "for i = 1, #rows do\n"
    "  local r = rows[i]\n"
    "  D, U = D + r[2], U + r[3] + r[4]\n"
    "  if r[9] == 1 and now - r[1] <= 3000 then\n"
    "    n = n + 1\n"
    "    if i < #rows then\n"
    "      if r[8] % 2 == 1 then others = true end\n"
    "      if r[8] >= 2 then rivals = true end\n"
    "    end\n"
    "    if r[5] > 0 then\n"
    "      traffic = traffic + 1\n"
    "      if (r[6] > 0 and r[6] * 1000000 >= r[5] * bad) or\n"
    "         (r[7] > 0 and r[7] * 1000000 >= r[5] * late) then\n"
    "        failing = failing + 1\n"
    "      end\n"
    "    end\n"
    "    A, F, S = A + r[5], F + r[6], S + r[7]\n"
    "  end\n"
    "end\n"
    "local fresh = now - since < window\n"
    "local function cut(k) return math.min(k, 9e13) end\n"
    "local allowed = cut(math.floor((floor + ratio * D) / 1000000))\n"
    "local used = U - held\n"
    "local give = 0\n"
    "if not fresh and leaves == 0 and allowed > used then\n"
    "  local room = allowed - used\n"
    "  if dep > 0 or att > 0 or busy == 1 then\n"
    "    give = math.min(room, math.max(1, math.floor(room / (2 * n))))\n"
    "  elseif room >= n or not rivals then\n"
    "    give = 1\n"
    "  end\n"
    "end\n"
    "if leaves == 1 then mine[4] = 0 end\n"
    "if give > held then mine[4] = give end\n"
    "used = used + mine[4]\n"
    /* Probes, for one instance at a time. */
    "local prober, failed = s.prober or '', s.failed or ''\n"
    "local until_, held_up = num(s.until_), num(s.held_up)\n"
    "local recovered = num(s.recovered)\n"
    "local asked, asking = num(s.asked), num(s.asking)\n"
    "if until_ > now + 1000 then until_ = 0 end\n"
    "if held_up > now + 3600000 then held_up = 0 end\n"
    "if recovered > now then recovered = 0 end\n"
    "if pfail == 1 then\n"
    "  held_up, failed = now + math.min(hold, 3600000), id\n"
    "  prober, asked = '', 0\n"
    "end\n"
    "if ok == 1 then\n"
    "  recovered, held_up, failed, prober, asked = now, 0, '', '', 0\n"
    "end\n"
    "local taken = prober ~= '' and now < until_\n"
    "if taken and prober == id and probing > 0 then until_ = now + 1000 end\n"
    "if probing > 0 or now - asking > 1000 or asked > now then asked = 0 end\n"
    "local permits = 0\n"
    "if wants == 1 and now >= held_up then\n"
    "  asking = now\n"
    "  if asked == 0 then asked = now end\n"
    "  if failed == id and others then taken = true\n"
    "  elseif now - asked >= 2000 then permits = 1\n"
    "  elseif not taken then\n"
    "    prober, until_, permits = id, now + 1000, probes\n"
    "  end\n"
    "end\n"
    /* First of all, so that a Redis that has no room refuses it as a whole. */
    "call('HSET', key, me, table.concat(mine, ' '),\n"
    "  'since', since, 'last', now, 'prober', prober, 'failed', failed,\n"
    "  'until_', until_, 'held_up', held_up, 'recovered', recovered,\n"
    "  'asked', asked, 'asking', asking)\n"
    "for i = 1, #gone do call('HDEL', key, gone[i]) end\n"
    "call('PEXPIRE', key, 2 * window + 60000)\n"
    "return { n, fresh and 1 or 0, give, allowed, cut(used), traffic, failing,\n"
    "  cut(A), cut(F), cut(S), permits, recovered > 0 and now - recovered or -1 }\n";
/* clang-format on */

/* No more than the script takes, which is more than anybody can spend. */
static void put(struct redis *r, int64_t n)
{
    const int64_t most = INT64_C(90000000000000);
    redis_arg_int(r, n < most ? n : most);
}

void fleet_put_report(struct redis *r, const char *id,
                      const bide_share_rule *rule, const bide_share_row *row,
                      bool leaves)
{
    /* A shorter one would end between two reports. */
    const int64_t least = 3 * BIDE_SECOND;
    redis_arg(r, id);
    put(r, (rule->window_ns > least ? rule->window_ns : least) / BIDE_MILLISECOND);
    put(r, rule->floor);
    put(r, rule->ratio);
    put(r, rule->failure_rate);
    put(r, rule->slow_rate);
    put(r, rule->probes);
    put(r, (int64_t)row->deposits);
    put(r, (int64_t)row->spent);
    put(r, (int64_t)row->held);
    put(r, (int64_t)row->attempts);
    put(r, (int64_t)row->failed);
    put(r, (int64_t)row->slow);
    put(r, row->busy);
    put(r, row->wants_probes);
    put(r, row->probing);
    put(r, row->probe_failed);
    put(r, row->hold_ns / BIDE_MILLISECOND);
    put(r, row->recovered);
    put(r, leaves);
}

bool fleet_read_reply(const struct redis_reply *reply, bide_share_reply *ret)
{
    enum { N = 12 };
    int64_t n[N];

    if (reply->type != REDIS_ARRAY || reply->n != N)
        return false;
    for (int i = 0; i < N; i++)
        if (!redis_reply_int(&reply->items[i], &n[i]) || n[i] < -1 ||
            n[i] > (INT64_C(1) << 50))
            return false;
    *ret = (bide_share_reply){
        .instances = n[0] > 0 && n[0] < 100000 ? (uint32_t)n[0] : 1,
        .fresh = n[1] != 0,
        .held = n[2] > 0 ? (uint64_t)n[2] : 0,
        .allowed = n[3] > 0 ? (uint64_t)n[3] : 0,
        .used = n[4] > 0 ? (uint64_t)n[4] : 0,
        .with_traffic = n[5] > 0 && n[5] < 100000 ? (uint32_t)n[5] : 0,
        .failing = n[6] > 0 && n[6] < 100000 ? (uint32_t)n[6] : 0,
        .attempts = n[7] > 0 ? (uint64_t)n[7] : 0,
        .failed = n[8] > 0 ? (uint64_t)n[8] : 0,
        .slow = n[9] > 0 ? (uint64_t)n[9] : 0,
        .probes = n[10] > 0 && n[10] <= 16 ? (uint32_t)n[10] : 0,
        .recovered_ns = n[11] < 0 || n[11] > INT64_MAX / BIDE_MILLISECOND
                            ? -1
                            : n[11] * BIDE_MILLISECOND,
    };
    return true;
}
