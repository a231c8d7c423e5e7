-- A new player, whose generation is the clock. If the token is known already (an answer was lost),
-- that player, with a newer generation.
-- ARGV: ttl ms, player id
local stored = redis.call('HMGET', KEYS[1], 'player_id', 'generation', 'name', 'lobby')
local player, generation = ARGV[2], now
if stored[1] then
  player, generation = stored[1], math.max(now, tonumber(stored[2]) + 1)
end
redis.call('HSET', KEYS[1], 'player_id', player, 'generation', whole(generation))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return { player, generation, stored[3], stored[4] }
