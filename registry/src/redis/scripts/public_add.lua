-- Lists public lobbies until they lapse by Redis' clock: an owner that died takes its lobbies off
-- the list by not renewing them.
-- ARGV: ttl ms, then codes
local expiry = whole(now + tonumber(ARGV[1]))
for index = 2, #ARGV do
  redis.call('ZADD', KEYS[1], expiry, ARGV[index])
end
return #ARGV - 1
