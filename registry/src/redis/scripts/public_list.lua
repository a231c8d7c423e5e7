-- Some public lobbies, without those that have lapsed.
-- ARGV: how many at most
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', whole(now))
return redis.call('ZRANGE', KEYS[1], 0, tonumber(ARGV[1]) - 1)
