-- Extend a lease that is still held.
--
-- KEYS: holders
-- ARGV: lease:int at_least:int members...
-- RETURNS: 1 held for `lease` from now, 0 gone or expired
--
-- Being in the set is not holding: an expired member stays until the next acquire drops it, and
-- must not be brought back to life. With `at_least` 1 a later expiry is left as it is.

local at = now()
for _, member in ipairs(members) do
  local score = redis.call('ZSCORE', holders, member)
  if not score or tonumber(score) <= at then
    return 0
  end
end

local expiry = at + lease
for _, member in ipairs(members) do
  if at_least == 1 then
    redis.call('ZADD', holders, 'GT', expiry, member)
  else
    redis.call('ZADD', holders, expiry, member)
  end
end
redis.call('PEXPIREAT', holders, expiry, 'GT')
return 1
