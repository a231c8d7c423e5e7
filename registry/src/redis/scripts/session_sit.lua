-- Writes where a player sits, and leaves the rest as it is; also into a session that Redis has lost.
-- Where a newer connection of that player sits by now, if that is another lobby, stays; so does what a later message of
-- theirs has led to.
-- ARGV: ttl ms, player id, generation (a newer one stays), name or empty, lobby, the message's number
local stored = redis.call('HMGET', KEYS[1], 'generation', 'lobby', 'sat_generation', 'sat_number')
local newest, lobby = stored[1], stored[2]
local generation, number = tonumber(ARGV[3]), tonumber(ARGV[6])
local sat_generation, sat_number = tonumber(stored[3] or -1), tonumber(stored[4] or -1)
if lobby ~= ARGV[5] then
  local is_older = newest and tonumber(newest) > generation and lobby
  local is_earlier = sat_generation == generation and sat_number > number
  if is_older or is_earlier then
    return 0
  end
end
if not newest or tonumber(newest) < generation then
  redis.call('HSET', KEYS[1], 'generation', ARGV[3])
end
if sat_generation < generation or (sat_generation == generation and sat_number < number) then
  redis.call('HSET', KEYS[1], 'sat_generation', ARGV[3], 'sat_number', ARGV[6])
end
redis.call('HSET', KEYS[1], 'player_id', ARGV[2], 'lobby', ARGV[5])
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[1], 'name', ARGV[4])
end
return redis.call('PEXPIRE', KEYS[1], ARGV[1])
