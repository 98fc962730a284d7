-- Let go of a lease.
--
-- KEYS: holders void
-- ARGV: remember:int members...
-- RETURNS: 1 held until now, 0 gone or expired
--
-- With `remember` above 0 the token is kept in `void` for that many milliseconds: a copy of its
-- acquire that comes late takes nothing, and a copy of this release gets the same answer again.

local at = now()
local held = true
for _, member in ipairs(members) do
  local score = redis.call('ZSCORE', holders, member)
  held = held and score and tonumber(score) > at
  redis.call('ZREM', holders, member)
end

if remember > 0 then
  local denied = members[1] .. ':0'
  if redis.call('ZSCORE', void, members[1]) then
    return redis.call('ZSCORE', void, denied) and 0 or 1
  end
  redis.call('ZREMRANGEBYSCORE', void, '-inf', at)
  redis.call('ZADD', void, at + remember, members[1])
  if not held then
    redis.call('ZADD', void, at + remember, denied)
  end
  redis.call('PEXPIREAT', void, at + remember)
end
return held and 1 or 0
