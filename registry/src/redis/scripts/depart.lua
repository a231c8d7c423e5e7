-- A clean stop: key and index entries go, unless a later run has the id.
-- ARGV: id, incarnation
local stored = redis.call('HGET', KEYS[1], 'incarnation')
if stored and stored ~= ARGV[2] then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[3], ARGV[1])
return 1
