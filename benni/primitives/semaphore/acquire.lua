-- Take a slot for every member, all together, or find that they hold theirs already.
--
-- KEYS: holders void
-- ARGV: limit:int lease:int members...
-- RETURNS: 1 held from now on, 0 no room
--
-- An expired holder is dropped here, and nowhere else. A token in `void` was given back by its
-- owner: this is a copy of its acquire that was late, and it must not take a slot for nobody.

local at = now()
local held = redis.call('ZCARD', holders)
if held > 0 then
  held = held - redis.call('ZREMRANGEBYSCORE', holders, '-inf', at)
end
if held + #members > limit and not redis.call('ZSCORE', holders, members[1]) then
  return 0
end
if redis.call('ZSCORE', void, members[1]) then
  return 0
end

local expiry = at + lease
for _, member in ipairs(members) do
  redis.call('ZADD', holders, expiry, member)
end
-- The key outlives its last lease, whichever was granted last. GT takes a key without a time to
-- live for one that never expires, so the first holder's is set plainly.
if held == 0 then
  redis.call('PEXPIREAT', holders, expiry)
else
  redis.call('PEXPIREAT', holders, expiry, 'GT')
end
return 1
