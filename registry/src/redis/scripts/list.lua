-- Who is there, without what has lapsed. Costs as many steps as there are processes, whatever
-- else lives in this Redis.
return { now, redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. whole(now), '+inf') }
