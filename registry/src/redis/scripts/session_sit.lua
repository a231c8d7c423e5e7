-- Writes where a player sits, and leaves the rest as it is; also into a session that Redis has lost.
-- Where a newer connection of that player sits by now, if that is another lobby, stays.
-- ARGV: ttl ms, player id, generation (a newer one stays), name or empty, lobby
local stored = redis.call('HMGET', KEYS[1], 'generation', 'lobby')
local newest = stored[1]
if newest and tonumber(newest) > tonumber(ARGV[3]) and stored[2] and stored[2] ~= ARGV[5] then
  return 0
end
if not newest or tonumber(newest) < tonumber(ARGV[3]) then
  redis.call('HSET', KEYS[1], 'generation', ARGV[3])
end
redis.call('HSET', KEYS[1], 'player_id', ARGV[2], 'lobby', ARGV[5])
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[1], 'name', ARGV[4])
end
return redis.call('PEXPIRE', KEYS[1], ARGV[1])
