-- Writes where a player sits, and leaves the rest as it is; also into a session that Redis has lost.
-- ARGV: ttl ms, player id, generation (a newer one stays), name or empty, lobby
local newest = redis.call('HGET', KEYS[1], 'generation')
if not newest or tonumber(newest) < tonumber(ARGV[3]) then
  redis.call('HSET', KEYS[1], 'generation', ARGV[3])
end
redis.call('HSET', KEYS[1], 'player_id', ARGV[2], 'lobby', ARGV[5])
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[1], 'name', ARGV[4])
end
return redis.call('PEXPIRE', KEYS[1], ARGV[1])
