-- Count the permits of live holders; write nothing.
--
-- KEYS: holders
-- ARGV:
-- RETURNS: how many members have not expired

return redis.call('ZCOUNT', holders, '(' .. string.format('%.0f', now()), '+inf')
