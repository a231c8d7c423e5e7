-- A heartbeat: writes what a process says about itself and renews its life, unless a later run
-- has its id; trims the index. The start of a run is Redis' time of its first heartbeat, so that
-- runs on hosts with different clocks compare rightly.
-- Three keys, hash, index and revisions, because all must change or none.
-- ARGV: id, incarnation, started at (0: not known yet), ttl ms, revision of what is said, then
-- fields and values
local stored = redis.call('HMGET', KEYS[1], 'incarnation', 'started_at')
local started = tonumber(ARGV[3])
if stored[1] == ARGV[2] then
  started = tonumber(stored[2])
elseif stored[1] then
  local theirs = tonumber(stored[2])
  if started == 0 then
    started = math.max(now, theirs + 1)
  elseif theirs > started then
    started = -1
  end
elseif started == 0 then
  started = now
end
if started >= 0 then
  redis.call('HSET', KEYS[1], 'id', ARGV[1], 'incarnation', ARGV[2], 'ttl', ARGV[4],
    'revision', ARGV[5], 'started_at', whole(started), 'last_seen', whole(now), unpack(ARGV, 6))
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
  redis.call('ZADD', KEYS[2], whole(now + tonumber(ARGV[4])), ARGV[1])
  redis.call('HSET', KEYS[3], ARGV[1], ARGV[5])
end
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', whole(now))) do
  redis.call('ZREM', KEYS[2], id)
  redis.call('HDEL', KEYS[3], id)
end
return { started, stored[1] and 1 or 0, now }
