-- A queue on Redis Streams: every verb of queue/broker.h that changes something, as
-- one script, so that each happens as a whole or not at all.
--
--   KEYS[1] the queue, ARGV[1] the verb; what follows is the verb's own.
--
-- A fresh message is an entry of a stream, read by the consumer group `bide`; foreign
-- producers only XADD. A message that has to wait (delayed, failed, held behind its key,
-- suspect) is a job: its contents in a hash, its due time in a sorted set.
--
-- What a worker runs: of streams, what its consumer has read and not acknowledged; of
-- jobs, what is in the hash of the worker, with the token of the delivery. An entry needs
-- no token: it is delivered once, and leaves its stream if its worker dies.
--
--   Q, Q:priority:P   streams          Q.dead          dead letters, a stream
--   Q:jobs, Q:meta    name -> packed   Q:dead_ids      id -> entry of Q.dead
--   Q:late:P          fresh, by due    Q:dead_by       reason -> how many
--   Q:retry:P         failed before    Q:workers       worker -> end of its lease
--   Q:suspect         see blame.h      Q:worker:W      handle of a job -> token
--   Q:keys            key -> name      Q:held:K        names, in order
--   Q:ids             ids that producers gave; Q:count: token, name, held
--
-- A name is P/ENTRY for what came from a stream, nN otherwise. A handle says where it
-- is (s: in its stream, j: a job; S, J: its id is in Q:ids), and then its name.
local Q = KEYS[1]
local GROUP = 'bide'
local LARGE = 32 * 1024 * 1024 -- more than a client of ours reads in one answer
local BATCH = 16 * 1024 * 1024
local at = 2
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

local function arg()
    at = at + 1
    return ARGV[at - 1]
end

local function number()
    return tonumber(arg())
end

local function whole(n) -- a number as Redis wants it written
    return string.format('%.0f', n)
end

-- Calls fn with a list as its arguments, as many at once as Lua takes.
local function in_parts(list, fn)
    for i = 1, #list, 1000 do
        fn(unpack(list, i, math.min(i + 999, #list)))
    end
end

-- ===== contents =====

local function stream(p)
    return p == 0 and Q or Q .. ':priority:' .. p
end

local function priority_of(text)
    local p = math.floor(tonumber(text) or 0)
    return p > 9 and 9 or p < -9 and -9 or p
end

local function priorities()
    local list = { 0 }
    for _, p in ipairs(redis.call('SMEMBERS', Q .. ':priorities')) do
        list[#list + 1] = tonumber(p)
    end
    table.sort(list, function(a, b) return a > b end)
    return list
end

-- Keys are short and printable, whatever a foreign producer wrote (queue/foreign.h).
local function key_of(text)
    if #text <= 200 and not string.find(text, '%c') then return text end
    return 'sha1~' .. redis.sha1hex(text)
end

-- What the fields of an entry say. A foreign one may have any: those without a meaning
-- are attributes, and a single one is the body.
local function read_fields(fields, entry, p)
    local job = { id = entry, key = '', priority = p, body = '', attributes = {},
                  queued = tonumber(string.match(entry, '^%d+')) * 1000 }
    for i = 1, #fields, 2 do
        local name, value = fields[i], fields[i + 1]
        if name == 'body' or #fields == 2 then job.body = value
        elseif name == 'id' then job.id = value ~= '' and value or entry
        elseif name == 'key' then job.key = key_of(value)
        elseif name == 'priority' then job.priority = priority_of(value)
        elseif name == 'unique' then job.unique = true
        elseif name == 'due' then job.due = tonumber(value)
        elseif string.sub(name, 1, 1) == '@' then
            job.attributes[#job.attributes + 1] = string.sub(name, 2)
            job.attributes[#job.attributes + 1] = value
        else
            job.attributes[#job.attributes + 1] = name
            job.attributes[#job.attributes + 1] = value
        end
    end
    return job
end

local function new_meta(job)
    return { attempt = 0, deliveries = 0, deaths = 0, generation = 0, errors = '',
             due = job.due or job.queued }
end

local function split(handle)
    local where, name = string.sub(handle, 1, 1), string.sub(handle, 2)
    local p, entry = string.match(name, '^(-?%d+)/(.+)$')
    return string.lower(where) == 's', name, tonumber(p), entry
end

local function handle_of(in_stream, name, job)
    local where = in_stream and 's' or 'j'
    return (job.unique and string.upper(where) or where) .. name
end

-- Contents and counts of a delivery; nil if somebody has deleted it.
local function load(handle)
    local in_stream, name, p, entry = split(handle)
    if in_stream then
        local found = redis.call('XRANGE', stream(p), entry, entry)[1]
        if not found then return nil end
        local job = read_fields(found[2], entry, p)
        local meta = new_meta(job)
        meta.deliveries = 1
        return job, meta
    end
    local job, meta = redis.call('HGET', Q .. ':jobs', name),
                      redis.call('HGET', Q .. ':meta', name)
    if not job or not meta then return nil end
    return cmsgpack.unpack(job), cmsgpack.unpack(meta)
end

local function save(name, job, meta)
    if job then redis.call('HSET', Q .. ':jobs', name, cmsgpack.pack(job)) end
    redis.call('HSET', Q .. ':meta', name, cmsgpack.pack(meta))
end

-- What a worker has read of a stream, as XPENDING has it.
local function read_by(worker, p, most)
    local list = redis.pcall('XPENDING', stream(p), GROUP, '-', '+', most, worker)
    return list.err and {} or list
end

-- The jobs that a worker runs: handles and tokens in turn. A bide before this one had
-- entries of streams in there as well.
local function jobs_of(worker)
    local all, jobs = redis.call('HGETALL', Q .. ':worker:' .. worker), {}
    for i = 1, #all, 2 do
        if string.lower(string.sub(all[i], 1, 1)) == 'j' then
            jobs[#jobs + 1] = all[i]
            jobs[#jobs + 1] = all[i + 1]
        end
    end
    return jobs
end

-- Takes an entry out of its stream. Jobs stay until drop().
local function leave_stream(p, entry)
    redis.call('XACK', stream(p), GROUP, entry)
    redis.call('XDEL', stream(p), entry)
end

local function drop(handle)
    local in_stream, name, p, entry = split(handle)
    if in_stream then
        leave_stream(p, entry)
    else
        redis.call('HDEL', Q .. ':jobs', name)
        redis.call('HDEL', Q .. ':meta', name)
    end
end

-- Where a job waits.
local function lane(job, meta)
    if meta.suspect then return Q .. ':suspect' end
    return Q .. (meta.attempt > 0 and ':retry:' or ':late:') .. job.priority
end

-- A job waits until it is due. From a stream: its contents move, and then it leaves.
local function wait(handle, job, meta)
    local in_stream, name, p, entry = split(handle)
    meta.at = 'wait'
    if job.priority ~= 0 then redis.call('SADD', Q .. ':priorities', job.priority) end
    save(name, in_stream and job or nil, meta)
    redis.call('ZADD', lane(job, meta), whole(meta.due), name)
    if in_stream then leave_stream(p, entry) end
end

-- ===== keys =====

local function hold(handle, job, meta)
    local in_stream, name, p, entry = split(handle)
    meta.at = 'held'
    save(name, job, meta)
    redis.call('RPUSH', Q .. ':held:' .. job.key, name)
    redis.call('HINCRBY', Q .. ':count', 'held', 1)
    if in_stream then leave_stream(p, entry) end
end

-- Whether the key is free, or its own: then it is its own.
local function own_key(name, job)
    if job.key == '' then return true end
    local owner = redis.call('HGET', Q .. ':keys', job.key)
    if owner and owner ~= name then return false end
    if not owner then redis.call('HSET', Q .. ':keys', job.key, name) end
    return true
end

local function free_key(name, key)
    if key == '' or redis.call('HGET', Q .. ':keys', key) ~= name then return end
    while true do
        local following = redis.call('LPOP', Q .. ':held:' .. key)
        if not following then
            redis.call('HDEL', Q .. ':keys', key)
            return
        end
        redis.call('HINCRBY', Q .. ':count', 'held', -1)
        local job, meta = load('j' .. following)
        if job then
            redis.call('HSET', Q .. ':keys', key, following)
            wait('j' .. following, job, meta)
            return
        end
    end
end

-- ===== dead letters =====

local function bury(handle, job, meta, reason, class, tail)
    local fields = { 'id', job.id, 'key', job.key, 'priority', job.priority, 'body',
        job.body, '!queued', whole(job.queued), '!unique', job.unique and 1 or 0,
        '!attempt', meta.attempt, '!deliveries', meta.deliveries, '!deaths', meta.deaths,
        '!generation', meta.generation, 'reason', reason, 'class', class, 'errors',
        meta.errors, 'tail', tail }
    for i = 1, #job.attributes, 2 do
        fields[#fields + 1] = '@' .. job.attributes[i]
        fields[#fields + 1] = job.attributes[i + 1]
    end
    local entry = redis.call('XADD', Q .. '.dead', '*', unpack(fields))
    redis.call('HSET', Q .. ':dead_ids', job.id, entry)
    redis.call('HINCRBY', Q .. ':dead_by', reason, 1)
    local _, name = split(handle)
    drop(handle)
    free_key(name, job.key)
end

-- What a dead letter was.
local function read_dead(entry)
    local job = { attributes = {}, key = '', body = '', id = entry[1], priority = 0,
                  queued = tonumber(string.match(entry[1], '^%d+')) * 1000 }
    local meta = { attempt = 0, deliveries = 0, deaths = 0, generation = 0, errors = '' }
    local more = { reason = 'unknown', class = '', tail = '' }
    for i = 1, #entry[2], 2 do
        local name, value = entry[2][i], entry[2][i + 1]
        local count = string.match(name, '^!(%a+)$')
        if name == 'id' or name == 'key' or name == 'body' then job[name] = value
        elseif name == 'priority' then job.priority = priority_of(value)
        elseif name == '!queued' then job.queued = tonumber(value)
        elseif name == '!unique' then job.unique = value == '1'
        elseif count then meta[count] = tonumber(value)
        elseif name == 'errors' then meta.errors = value
        elseif more[name] then more[name] = value
        else
            job.attributes[#job.attributes + 1] = string.gsub(name, '^@', '')
            job.attributes[#job.attributes + 1] = value
        end
    end
    meta.due = job.queued
    return job, meta, more
end

-- ===== verbs =====

local verbs = {}

local function describe(handle, token, job, meta)
    return { handle, token, job.id, job.key, job.priority, job.body, whole(job.queued),
             whole(meta.due), meta.attempt, meta.deliveries, meta.deaths,
             meta.suspect and 1 or 0, meta.generation, meta.errors, job.attributes }
end

-- n, then for each: id, unique, key, priority, delay, body, attributes and their number.
function verbs.put()
    local duplicates = {}
    for i = 1, number() do
        local id, unique, key, p, delay = arg(), arg() == '1', arg(), number(), number()
        local job = { id = id, unique = unique, key = key, priority = p, body = arg(),
                      queued = now, attributes = {} }
        for j = 1, number() * 2 do job.attributes[j] = arg() end
        if unique and redis.call('SADD', Q .. ':ids', id) == 0 then
            duplicates[i] = 1
        elseif delay > 0 and key == '' then
            local name = 'n' .. redis.call('HINCRBY', Q .. ':count', 'name', 1)
            local meta = new_meta(job)
            meta.due = now + delay
            save(name, job, meta)
            wait('j' .. name, job, meta)
            duplicates[i] = 0
        else -- also a delayed one with a key: it takes its place in the order
            local fields = { 'id', id, 'body', job.body }
            local function field(name, value)
                fields[#fields + 1] = name
                fields[#fields + 1] = value
            end
            if unique then field('unique', 1) end
            if key ~= '' then field('key', key) end
            if delay > 0 then field('due', whole(now + delay)) end
            for j = 1, #job.attributes, 2 do
                field('@' .. job.attributes[j], job.attributes[j + 1])
            end
            if p ~= 0 then redis.call('SADD', Q .. ':priorities', p) end
            redis.call('XADD', stream(p), '*', unpack(fields))
            duplicates[i] = 0
        end
    end
    return duplicates
end

-- The next entry of a stream that nobody has read.
local function head(p)
    local groups = redis.pcall('XINFO', 'GROUPS', stream(p))
    local from = '-'
    if groups.err then return nil end -- no such stream
    for _, group in ipairs(groups) do
        if group[2] == GROUP then from = '(' .. group[8] end
    end
    return redis.call('XRANGE', stream(p), from, '+', 'COUNT', 1)[1]
end

local function read_stream(worker, p, most)
    local function read()
        return redis.pcall('XREADGROUP', 'GROUP', GROUP, worker, 'COUNT', most,
                           'STREAMS', stream(p), '>')
    end
    local got = read()
    if type(got) == 'table' and got.err then
        redis.call('XGROUP', 'CREATE', stream(p), GROUP, '0', 'MKSTREAM')
        got = read()
    end
    return got and got[1] and got[1][2] or {}
end

-- worker, lease, most, retries, alone, ageing
function verbs.take()
    local worker, lease, most, retries = arg(), number(), number(), number()
    local alone, ageing = arg() == '1', number()
    local out, bytes, read = {}, 0, 0

    local function claim(handle, job, meta)
        meta.deliveries = meta.deliveries + 1
        if not split(handle) then
            meta.at = 'run'
            save(string.sub(handle, 2), nil, meta)
        end
        out[#out + 1] = { handle, job, meta }
        bytes = bytes + #job.body
    end
    -- The usual entry goes as it is: whoever asked makes a message of it.
    local function is_plain(fields)
        for i = 1, #fields, 2 do
            local name = fields[i]
            if name == 'key' or name == 'due' or name == 'priority' then return false end
            bytes = bytes + #fields[i + 1]
        end
        return true
    end
    local function from_set(key, n, before)
        if n <= 0 then return end -- a negative LIMIT is none
        for _, name in ipairs(redis.call('ZRANGEBYSCORE', key, '-inf', whole(before),
                                         'LIMIT', 0, n)) do
            redis.call('ZREM', key, name)
            local job, meta = load('j' .. name)
            if job then claim(handle_of(false, name, job), job, meta) end
        end
    end
    local function from_entry(p, entry)
        local before = bytes
        if is_plain(entry[2]) and bytes - before <= LARGE then
            read = read + 1
            entry[3] = p
            out[#out + 1] = entry
            return
        end
        bytes = before
        local job = read_fields(entry[2], entry[1], p)
        local meta, name = new_meta(job), p .. '/' .. entry[1]
        local handle = handle_of(true, name, job)
        read = read + 1
        if #job.body > LARGE then
            bury(handle, job, meta, 'too_large', 'permanent', '')
        elseif not own_key(name, job) then
            hold(handle, job, meta)
        elseif meta.due > now then
            wait(handle, job, meta)
        else
            claim(handle, job, meta)
        end
    end
    local function from_stream(p, n, before)
        local limit = #out + n
        while #out < limit and bytes < BATCH and read < 1000 do
            local first = before < now and head(p)
            if before < now and not (first and tonumber(string.match(first[1], '^%d+'))
                                     * 1000 <= before) then
                return
            end
            local entries = read_stream(worker, p, before < now and 1 or limit - #out)
            if #entries == 0 then return end
            for _, entry in ipairs(entries) do from_entry(p, entry) end
        end
    end
    local list = priorities()
    -- On each level the retries up to their share, the fresh ones, more retries.
    local function from_level(p, before)
        local first = #out
        from_set(Q .. ':retry:' .. p, math.min(retries, most - #out), before)
        retries = retries - (#out - first)
        from_set(Q .. ':late:' .. p, most - #out, before)
        if most > #out then from_stream(p, most - #out, before) end
        from_set(Q .. ':retry:' .. p, most - #out, before)
    end

    if alone then from_set(Q .. ':suspect', 1, now) end
    if #out == 0 then
        for pass = #list > 1 and 1 or 2, 2 do
            for _, p in ipairs(list) do
                if most > #out then
                    from_level(p, pass == 1 and now - ageing or now)
                end
            end
        end
    end
    local result = { redis.call('ZCOUNT', Q .. ':suspect', '-inf', whole(now)) > 0 and 1
                     or 0, '-1', whole(now), 0 }
    if #out > 0 then
        local last = redis.call('HINCRBY', Q .. ':count', 'token', #out)
        local tokens = {}
        result[4] = last - #out + 1
        for i, o in ipairs(out) do
            local token = last - #out + i
            if type(o[3]) == 'number' then
                result[4 + i] = o
            else
                if not split(o[1]) then
                    tokens[#tokens + 1] = o[1]
                    tokens[#tokens + 1] = token
                end
                result[4 + i] = describe(o[1], token, o[2], o[3])
            end
        end
        in_parts(tokens, function(...)
            redis.call('HSET', Q .. ':worker:' .. worker, ...)
        end)
        redis.call('ZADD', Q .. ':workers', whole(now + lease), worker)
    end
    if #out < most then
        local first
        local function look(key)
            local due = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
            if due and (not first or tonumber(due) < first) then first = tonumber(due) end
        end
        for _, p in ipairs(list) do
            look(Q .. ':late:' .. p)
            look(Q .. ':retry:' .. p)
        end
        if first then result[2] = whole(math.max(0, first - now)) end
        if read >= 1000 or bytes >= BATCH then result[2] = '0' end
    end
    return result
end

local function is_ours(worker, handle, token)
    local in_stream, _, p, entry = split(handle)
    if in_stream then
        local list = redis.pcall('XPENDING', stream(p), GROUP, entry, entry, 1, worker)
        return not list.err and #list == 1
    end
    return redis.call('HGET', Q .. ':worker:' .. worker, handle) == token
end

-- priority, n, entries of its stream, without key or id of a producer: all are done. 1
-- for each that was ours. Whatever this worker has read and does not have any more has
-- left the stream.
function verbs.plain()
    local from, n = stream(number()), number()
    local known, result = 0, {}
    local entries = {}
    for i = 1, n do entries[i] = arg() end
    in_parts(entries, function(...)
        known = known + redis.call('XACK', from, GROUP, ...)
    end)
    for i = 1, n do
        result[i] = (known == n or redis.call('XRANGE', from, entries[i], entries[i])[1])
                    and 1 or 0
    end
    in_parts(entries, function(...) redis.call('XDEL', from, ...) end)
    return result
end

-- worker, n, then for each: handle, token, id, key. All are done. 1 for each that was
-- ours.
function verbs.done()
    local hash, ours = Q .. ':worker:' .. arg(), {}
    for i = 1, number() do
        local handle, token, id, key = arg(), arg(), arg(), arg()
        local in_stream, name, p, entry = split(handle)
        if in_stream then
            ours[i] = redis.call('XACK', stream(p), GROUP, entry)
            redis.call('XDEL', stream(p), entry)
        else
            ours[i] = redis.call('HGET', hash, handle) == token and 1 or 0
        end
        if ours[i] == 1 then
            if not in_stream then
                redis.call('HDEL', hash, handle)
                drop(handle)
            end
            if string.find(handle, '^%u') then redis.call('SREM', Q .. ':ids', id) end
            free_key(name, key)
        end
    end
    return ours
end

-- worker, n, then for each: handle, token, how, delay, counts, ran, errors, reason,
-- class, tail.
function verbs.settle()
    local worker, ours = arg(), {}
    for i = 1, number() do
        local handle, token, how, delay = arg(), arg(), number(), number()
        local counts, ran, errors = number(), arg() == '1', arg()
        local reason, class, tail = arg(), arg(), arg()
        local job, meta
        ours[i] = 0
        if is_ours(worker, handle, token) then
            job, meta = load(handle)
            if not split(handle) then
                redis.call('HDEL', Q .. ':worker:' .. worker, handle)
            end
        end
        if job then
            ours[i] = 1
            local _, name = split(handle)
            meta.attempt = meta.attempt + counts
            meta.errors = errors
            if ran then meta.suspect = nil end
            if how == 0 then
                if job.unique then redis.call('SREM', Q .. ':ids', job.id) end
                drop(handle)
                free_key(name, job.key)
            elseif how == 1 then
                meta.due = now + delay
                wait(handle, job, meta)
            else
                bury(handle, job, meta, reason, class, tail)
            end
        end
    end
    return ours
end

local function give_back(worker, handle)
    redis.call('HDEL', Q .. ':worker:' .. worker, handle)
    local job, meta = load(handle)
    if job then wait(handle, job, meta) end
end

-- An entry that was read, and that no worker has: it waits again.
local function adopt(p, entry)
    local name = p .. '/' .. entry
    local job, meta = load('s' .. name)
    if not job then
        redis.call('XACK', stream(p), GROUP, entry)
    elseif own_key(name, job) then
        wait('s' .. name, job, meta)
    else
        hold('s' .. name, job, meta)
    end
end

-- worker, n, handles and tokens in its hands: the rest is given back.
function verbs.disown()
    local worker, hands = arg(), {}
    for _ = 1, number() do
        local handle = arg()
        hands[handle] = arg()
    end
    local running = jobs_of(worker)
    for i = 1, #running, 2 do
        if hands[running[i]] ~= running[i + 1] then give_back(worker, running[i]) end
    end
    for _, p in ipairs(priorities()) do
        for _, e in ipairs(read_by(worker, p, 10000)) do
            local name = p .. '/' .. e[1]
            if not hands['s' .. name] and not hands['S' .. name] then adopt(p, e[1]) end
        end
    end
    return at
end

-- worker, hands as above, lease, n, then for each: handle, token. 1 for each that is
-- ours.
function verbs.beat()
    verbs.disown()
    local worker, ours = ARGV[2], {}
    redis.call('ZADD', Q .. ':workers', whole(now + number()), worker)
    for i = 1, number() do
        ours[i] = is_ours(worker, arg(), arg()) and 1 or 0
    end
    return ours
end

-- With the consumer Redis forgets what it had read, and would never give it to anybody
-- again: first all of that must be somewhere else.
local function forget_consumer(worker)
    for _, p in ipairs(priorities()) do
        local pending = read_by(worker, p, 10000)
        for _, e in ipairs(pending) do adopt(p, e[1]) end
        if #pending < 10000 then
            redis.pcall('XGROUP', 'DELCONSUMER', stream(p), GROUP, worker)
        end
    end
end

-- worker: it goes in order.
function verbs.leave()
    local worker = ARGV[2]
    local running = jobs_of(worker)
    for i = 1, #running, 2 do give_back(worker, running[i]) end
    redis.call('DEL', Q .. ':worker:' .. worker)
    redis.call('ZREM', Q .. ':workers', worker)
    forget_consumer(worker)
    return 0
end

-- Entries that were read by no worker: somebody read with our group by hand.
local function adopt_orphans()
    for _, p in ipairs(priorities()) do
        local pending = redis.pcall('XPENDING', stream(p), GROUP, 'IDLE', 60000, '-', '+',
                                    200)
        for _, e in ipairs(pending.err and {} or pending) do
            if not redis.call('ZSCORE', Q .. ':workers', e[2]) then adopt(p, e[1]) end
        end
    end
end

-- What a worker runs: handle, token, deaths, attempt and errors of each. An entry that
-- somebody has deleted is none.
local function estate_of(worker)
    local running, estate = jobs_of(worker), {}
    for i = 1, #running, 2 do
        local _, meta = load(running[i])
        meta = meta or { deaths = 0, attempt = 0, errors = '' }
        estate[#estate + 1] = { running[i], running[i + 1], meta.deaths, meta.attempt,
                                meta.errors }
    end
    for _, p in ipairs(priorities()) do
        for _, e in ipairs(read_by(worker, p, 10000)) do
            local name = p .. '/' .. e[1]
            local job = load('s' .. name)
            if job then
                estate[#estate + 1] = { handle_of(true, name, job), 0, 0, 0, '' }
            end
        end
    end
    return estate
end

-- Workers without a lease, but for the one who asks, and what they had.
function verbs.lost()
    local me, result = arg(), {}
    adopt_orphans()
    for _, worker in ipairs(redis.call('ZRANGEBYSCORE', Q .. ':workers', '-inf',
                                       '(' .. whole(now), 'LIMIT', 0, 16)) do
        if worker ~= me then
            result[#result + 1] = { worker, whole(now), estate_of(worker) }
        end
    end
    return result
end

-- worker, n, then for each: handle, token, deaths, suspect, dead, errors. How many; -1:
-- it lives again, or holds something else.
function verbs.rescue()
    local worker, n = arg(), number()
    local until_ = redis.call('ZSCORE', Q .. ':workers', worker)
    if not until_ or tonumber(until_) >= now or #estate_of(worker) ~= n then
        return -1
    end
    for _ = 1, n do
        local handle, token, deaths = arg(), arg(), number()
        local suspect, dead, errors = arg() == '1', arg() == '1', arg()
        local job, meta
        if is_ours(worker, handle, token) then job, meta = load(handle) end
        if job then
            meta.deaths, meta.errors = deaths, errors
            meta.suspect = suspect or nil
            if dead then
                bury(handle, job, meta, 'crashed', 'permanent', '')
            else
                wait(handle, job, meta)
            end
        end
    end
    redis.call('DEL', Q .. ':worker:' .. worker)
    redis.call('ZREM', Q .. ':workers', worker)
    forget_consumer(worker)
    return n
end

-- fresh_key, n, ids. How many.
function verbs.redrive()
    local fresh, n = arg() == '1', 0
    for _ = 1, number() do
        local id = arg()
        local entry = redis.call('HGET', Q .. ':dead_ids', id)
        local found = entry and redis.call('XRANGE', Q .. '.dead', entry, entry)[1]
        if found then
            local job, meta, more = read_dead(found)
            local name = 'n' .. redis.call('HINCRBY', Q .. ':count', 'name', 1)
            meta.attempt, meta.deaths, meta.due = 0, 0, now
            if fresh then meta.generation = meta.generation + 1 end
            save(name, job, meta)
            if own_key(name, job) then
                wait('j' .. name, job, meta)
            else
                hold('j' .. name, job, meta)
            end
            redis.call('XDEL', Q .. '.dead', entry)
            redis.call('HINCRBY', Q .. ':dead_by', more.reason, -1)
            n = n + 1
        end
        if entry then redis.call('HDEL', Q .. ':dead_ids', id) end
    end
    return n
end

-- waiting, held, later, running, dead, oldest, next, workers, then reasons and counts.
function verbs.counts()
    local waiting, later, running, oldest, first = 0, 0, 0, now, nil
    local function see(key)
        waiting = waiting + redis.call('ZCOUNT', key, '-inf', whole(now))
        later = later + redis.call('ZCOUNT', key, '(' .. whole(now), '+inf')
        local due = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
        if due then oldest = math.min(oldest, tonumber(due)) end
        local coming = redis.call('ZRANGEBYSCORE', key, '(' .. whole(now), '+inf',
                                  'WITHSCORES', 'LIMIT', 0, 1)[2]
        if coming then first = math.min(first or tonumber(coming), tonumber(coming)) end
    end
    for _, p in ipairs(priorities()) do
        see(Q .. ':late:' .. p)
        see(Q .. ':retry:' .. p)
        if redis.call('EXISTS', stream(p)) == 1 then
            local pending = redis.pcall('XPENDING', stream(p), GROUP)
            local read = pending.err and 0 or tonumber(pending[1])
            waiting = waiting + redis.call('XLEN', stream(p)) - read
            running = running + read
            local entry = head(p)
            if entry then
                oldest = math.min(oldest, tonumber(string.match(entry[1], '^%d+')) * 1000)
            end
        end
    end
    see(Q .. ':suspect')
    for _, worker in ipairs(redis.call('ZRANGE', Q .. ':workers', 0, -1)) do
        running = running + #jobs_of(worker) / 2
    end
    local result = { waiting, tonumber(redis.call('HGET', Q .. ':count', 'held') or 0),
        later, running, redis.call('XLEN', Q .. '.dead'), whole(now - oldest),
        first and whole(first - now) or '-1',
        redis.call('ZCOUNT', Q .. ':workers', whole(now), '+inf') }
    local by = redis.call('HGETALL', Q .. ':dead_by')
    for i = 1, #by, 2 do
        if tonumber(by[i + 1]) > 0 then
            result[#result + 1] = by[i]
            result[#result + 1] = tonumber(by[i + 1])
        end
    end
    return result
end

-- A page of the live ones: where to go on ('' at the end), now, rows; a row is a state
-- (0 waiting, 1 held, 2 later, 3 running) and a message. A place is P/ENTRY, or jCURSOR.
function verbs.live()
    local place, rows, bytes = arg(), {}, 0
    local function add(state, handle, job, meta)
        rows[#rows + 1] = { state, describe(handle, 0, job, meta) }
        bytes = bytes + #job.body
    end
    local list = priorities()
    local p, entry = string.match(place, '^(-?%d+)/(.*)$')
    if place == '' then p, entry = list[1], '-' end
    if p then
        p = tonumber(p)
        local entries = redis.call('XRANGE', stream(p), entry, '+', 'COUNT', 20)
        for _, e in ipairs(entries) do
            local job = read_fields(e[2], e[1], p)
            local pending = redis.pcall('XPENDING', stream(p), GROUP, e[1], e[1], 1)
            local runs = not pending.err and #pending > 0
            local meta = new_meta(job)
            if runs then meta.deliveries = 1 end
            add(runs and 3 or meta.due > now and 2 or 0,
                handle_of(true, p .. '/' .. e[1], job), job, meta)
            entry = '(' .. e[1]
            if bytes > BATCH then break end
        end
        if #entries == 20 or bytes > BATCH then return { p .. '/' .. entry, whole(now), rows } end
        for i, q in ipairs(list) do
            if q == p and list[i + 1] then
                return { list[i + 1] .. '/-', whole(now), rows }
            end
        end
        return { 'j0', whole(now), rows }
    end
    local scan = redis.call('HSCAN', Q .. ':meta', string.sub(place, 2), 'COUNT', 20)
    for i = 1, #scan[2], 2 do
        local name = scan[2][i]
        local job, meta = load('j' .. name)
        if job then
            add(meta.at == 'run' and 3 or meta.due > now and 2 or meta.at == 'held' and 1
                or 0, handle_of(false, name, job), job, meta)
        end
    end
    return { scan[1] ~= '0' and 'j' .. scan[1] or '', whole(now), rows }
end

-- A page of the dead ones, as above; a row is when it died, reason, class, output and a
-- message.
function verbs.dead()
    local place, rows, bytes = arg(), {}, 0
    local entries = redis.call('XRANGE', Q .. '.dead', place == '' and '-' or place, '+',
                               'COUNT', 20)
    for _, e in ipairs(entries) do
        local job, meta, more = read_dead(e)
        rows[#rows + 1] = { string.match(e[1], '^%d+'), more.reason, more.class,
                            more.tail, describe('', 0, job, meta) }
        place = '(' .. e[1]
        bytes = bytes + #job.body
        if bytes > BATCH then return { place, whole(now), rows } end
    end
    return { #entries == 20 and place or '', whole(now), rows }
end

-- Who puts something into a full Redis is refused. But workers must go on: they make room,
-- and a beat that is refused would end what they run. Redis refuses a script's first write
-- only, and that only if it may take memory: deleting what is not there is one that does not.
local works = { take = 1, settle = 1, disown = 1, beat = 1, leave = 1, rescue = 1 }
if works[ARGV[1]] then redis.call('DEL', Q .. ':none') end

return verbs[ARGV[1]]()
