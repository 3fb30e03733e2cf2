"""What is done in Redis with an idempotency key, each step one script: nothing comes between.

An entry is a hash: ``state`` reserved, dispatched, unknown, done or free; ``holder``, the request
that holds it, and ``attempt``, its newest one, with SPOKEN added where an operator said what became
of it; a fingerprint of the ``arguments``; ``runs_until``
and ``kept_until`` in microseconds. Beside it stands, for as long as it is kept, what a done call
may be answered with. ``open`` maps the requests that may still change an entry to it. An entry that
was dispatched and has no end never expires. Every reply names who asked, so that the reply to
another is not taken for one's own.
"""

from __future__ import annotations

from typing import Final

RING: Final = "sluicegate:{keys}:ring"
OPEN: Final = "sluicegate:{keys}:open"
ENTRY: Final = "sluicegate:{keys}:key:"
ANSWER: Final = ":answer"
"""What stands behind the name of an entry where its answer is."""

SPOKEN: Final = 1_000_000_000
"""What is added to the newest attempt that an operator's word is about, where that word stands."""

_BEGIN: Final = (
    f"local SPOKEN = {SPOKEN}"
    """
local ring, entry, open, answer = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local asker = ARGV[2]
local function say(word, holder) return {word, asker, holder or ''} end
if redis.call('GET', ring) ~= ARGV[1] then return say('ring') end
local stood = redis.call('HMGET', entry,
  'state', 'holder', 'attempt', 'arguments', 'runs_until', 'kept_until',
  'before_state', 'before_holder', 'before_attempt', 'before_kept_until')
local state, holder, attempt = stood[1], stood[2], tonumber(stood[3] or 0)
local is_open = state == 'dispatched' or state == 'unknown'
local is_spoken = attempt >= SPOKEN
local was_done = stood[7] == 'done'
local function give_back()
  redis.call('HDEL', open, asker)
  if not stood[8] or stood[8] == '' then return redis.call('DEL', entry) end
  redis.call('HSET', entry, 'state', was_done and 'done' or 'free', 'holder', stood[8],
    'attempt', stood[9], 'runs_until', 0, 'kept_until', stood[10])
  redis.call('HDEL', entry,
    'before_state', 'before_holder', 'before_attempt', 'before_kept_until')
end
"""
)

RESERVE: Final = (
    _BEGIN
    + """
local mine, arguments, now = tonumber(ARGV[3]), ARGV[4], tonumber(ARGV[5])
local is_mine = holder == asker
local kept_until = tonumber(stood[6] or 0)
if was_done then kept_until = math.max(kept_until, tonumber(stood[10])) end
if is_mine then
  if state == 'done' then return say('done', holder) end
  if attempt > mine and ARGV[9] ~= 'look' then
    return say(is_spoken and 'unknown' or 'late', holder)
  end
elseif state and (is_open or kept_until > now) then
  if stood[4] ~= arguments then return say('reused', holder) end
  if state == 'done' then return say('done', holder) end
  local runs = tonumber(stood[5]) > now
  if was_done and not runs then return say('done', stood[8]) end
  if state == 'unknown' or (state == 'dispatched' and not runs) then
    return say('unknown', holder)
  end
  if runs and state ~= 'free' then return say('running', holder) end
  if state ~= 'free' and state ~= 'reserved' then return say('odd', holder) end
end
if ARGV[9] == 'look' then return say('reserved', asker) end
redis.call('HSET', open, asker, entry)
if is_mine and (is_open or state == 'reserved') then
  -- A further attempt of what may have been done already is dispatched still: no time frees it.
  redis.call('HSET', entry, 'state', is_open and 'dispatched' or state, 'attempt', ARGV[3],
    'runs_until', ARGV[6], 'kept_until', ARGV[7])
  if not is_open then redis.call('PEXPIRE', entry, ARGV[8]) end
  return say('reserved', asker)
end
local before = {'', '', ''}
if state and tonumber(stood[6]) > now then before = {holder, stood[3], stood[6]} end
if holder and not is_mine then redis.call('HDEL', open, holder) end
redis.call('DEL', entry, answer)
redis.call('HSET', entry, 'state', 'reserved', 'holder', asker, 'attempt', ARGV[3],
  'arguments', arguments, 'runs_until', ARGV[6], 'kept_until', ARGV[7],
  'before_holder', before[1], 'before_attempt', before[2], 'before_kept_until', before[3])
redis.call('PEXPIRE', entry, ARGV[8])
return say('reserved', asker)
"""
)
"""ARGV: ring, request, attempt, arguments, now, runs until, kept until, expiry in ms, keep | look.

A key that was reserved and not dispatched in its time was never sent: it may be taken over.
"""

DISPATCH: Final = (
    _BEGIN
    + """
if holder ~= asker or attempt ~= tonumber(ARGV[3]) then return say('lost', holder) end
if was_done then return say('lost', stood[8]) end
if state == 'reserved' then
  redis.call('HSET', entry, 'state', 'dispatched')
  redis.call('HDEL', entry, 'before_holder', 'before_attempt', 'before_kept_until')
  redis.call('PERSIST', entry)
elseif state ~= 'dispatched' then
  return say('lost', holder)
end
return say('dispatched', asker)
"""
)
"""ARGV: ring, request, attempt. From here on no time frees the key."""

UNDO: Final = (
    _BEGIN
    + """
if state ~= 'reserved' or holder ~= asker or attempt ~= tonumber(ARGV[3]) then
  return say('kept', holder)
end
give_back()
return say('undone')
"""
)
"""ARGV: ring, request, attempt. Gives back what was only reserved; one key stays one call's."""

SETTLE: Final = (
    _BEGIN
    + """
local mine, became = tonumber(ARGV[3]), ARGV[4]
local function keep_answer()
  if ARGV[8] ~= '' and tonumber(ARGV[9]) > 0 then
    redis.call('SET', answer, ARGV[8], 'PX', ARGV[9])
  end
end
if state and holder ~= asker then
  -- What was done is done, though another held the key meanwhile and was not.
  if not (became == 'done' and state == 'free' and stood[4] == ARGV[5]) then
    redis.call('HDEL', open, asker)
    local is_late = stood[8] == asker and tonumber(stood[9]) % SPOKEN > mine % SPOKEN
    if became == 'done' and state == 'reserved' and stood[4] == ARGV[5] and not is_late then
      -- Nothing was sent under the reservation, and nothing will be.
      redis.call('HSET', entry, 'before_state', 'done', 'before_holder', asker,
        'before_attempt', mine, 'before_kept_until', ARGV[6])
      redis.call('PEXPIRE', entry, math.max(redis.call('PTTL', entry), tonumber(ARGV[7])))
      redis.call('DEL', answer)
      keep_answer()
    end
    return say('other', holder)
  end
elseif was_done then
  give_back()
  return say('settled', asker)
elseif state then
  local told = attempt % SPOKEN
  local is_late = told > mine
  if is_spoken and mine < SPOKEN then
    is_late = is_late or became ~= 'done'  -- an operator's word stands
  elseif state == 'done' and (became ~= 'done' or (mine >= SPOKEN and not is_spoken)) then
    is_late = told >= mine % SPOKEN  -- what was done by then is done
  end
  if is_late then return say('late', holder) end
elseif became == 'free' then
  redis.call('HDEL', open, asker)
  return say('settled', asker)
end
redis.call('DEL', entry, answer)
redis.call('HSET', entry, 'state', became, 'holder', asker, 'attempt', mine,
  'arguments', ARGV[5], 'runs_until', 0, 'kept_until', ARGV[6])
keep_answer()
if became == 'unknown' then
  redis.call('HSET', open, asker, entry)
else
  redis.call('PEXPIRE', entry, ARGV[7])
  redis.call('HDEL', open, asker)
end
return say('settled', asker)
"""
)
"""ARGV: ring, request, attempt (with SPOKEN: an operator's word), done | free | unknown, arguments,
kept until, expiry in ms, sealed answer or nothing, its expiry in ms."""

LIST: Final = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return {'ring'} end
local found = redis.call('HGETALL', KEYS[2])
local told = {'open'}
for place = 1, #found, 2 do
  if redis.call('EXISTS', found[place + 1]) == 0 then
    redis.call('HDEL', KEYS[2], found[place])
  else
    told[#told + 1] = found[place]
  end
end
return told
"""
"""KEYS: ring, open. ARGV: ring. The requests whose entries may still change."""
