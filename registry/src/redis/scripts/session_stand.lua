-- A player has left a lobby; where they sit by now, if that is another, stays.
-- ARGV: lobby
if redis.call('HGET', KEYS[1], 'lobby') ~= ARGV[1] then
  return 0
end
return redis.call('HDEL', KEYS[1], 'lobby')
