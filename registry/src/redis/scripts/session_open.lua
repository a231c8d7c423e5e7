-- A player says hello again: the connection of the latest hello is the newest, so its time is the
-- generation. Whoever got no answer in time goes on with that, and finds the same if this is done
-- late. Comes another one first, nothing changes, unless the caller knows of it: whoever asks again
-- is still there.
-- ARGV: ttl ms, said at (ms of this clock, as the gateway knows it), newest generation that the
-- caller knows (0: none)
local stored = redis.call('HMGET', KEYS[1], 'player_id', 'generation', 'name', 'lobby')
if not stored[1] then
  return { 'unknown' }
end
local newest = tonumber(stored[2])
-- A gateway whose clock is ahead must not lock out those who come after.
local generation = math.min(now, tonumber(ARGV[2]))
if generation <= newest then
  if newest ~= tonumber(ARGV[3]) then
    return { 'newer', newest }
  end
  generation = newest + 1
end
redis.call('HSET', KEYS[1], 'generation', whole(generation))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return { 'opened', { stored[1], generation, stored[3], stored[4] } }
