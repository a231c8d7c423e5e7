-- Ends a session, unless the player has connected again meanwhile.
-- ARGV: generation
local newest = redis.call('HGET', KEYS[1], 'generation')
if not newest or tonumber(newest) > tonumber(ARGV[1]) then
  return 0
end
return redis.call('DEL', KEYS[1])
