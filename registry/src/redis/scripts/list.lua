-- Who is there, without what has lapsed, and who has said something new. Costs as many steps as
-- there are processes, whatever else lives in this Redis.
-- ARGV: known until (changes since then are listed)
return { now,
  redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. whole(now), '+inf', 'WITHSCORES'),
  redis.call('ZRANGEBYSCORE', KEYS[2], ARGV[1], '+inf') }
