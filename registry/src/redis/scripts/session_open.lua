-- A player connects: a new generation, the clock but at least the last + 1, so that the newest
-- connection is known everywhere. Creates the session if a player id is given and it is absent.
-- ARGV: ttl ms, player id or empty
local stored = redis.call('HMGET', KEYS[1], 'player_id', 'generation', 'name', 'lobby')
local player, generation = stored[1], now
if player then
  generation = math.max(now, tonumber(stored[2]) + 1)
elseif ARGV[2] == '' then
  return false
else
  player = ARGV[2]
end
redis.call('HSET', KEYS[1], 'player_id', player, 'generation', whole(generation))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return { player, generation, stored[3], stored[4] }
