-- Writes a session, also one that Redis has lost; an older connection of the player changes
-- nothing. Answers 0, or the newer generation.
-- ARGV: ttl ms, player id, generation, name or empty, lobby or empty
local newest = redis.call('HGET', KEYS[1], 'generation')
if newest and tonumber(newest) > tonumber(ARGV[3]) then
  return tonumber(newest)
end
-- By which message they have last sat down is not the gateway's to say, and stays.
redis.call('HDEL', KEYS[1], 'name', 'lobby')
redis.call('HSET', KEYS[1], 'player_id', ARGV[2], 'generation', ARGV[3])
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[1], 'name', ARGV[4])
end
if ARGV[5] ~= '' then
  redis.call('HSET', KEYS[1], 'lobby', ARGV[5])
end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 0
