-- The owner gives a lobby up. Only what is saved whole is released; the epoch rises, so that
-- whatever the old owner still sends is refused.
-- ARGV: born, epoch, seq, ttl ms
local stored = read()
if not stored then
  return 'behind'
end
local epoch, seq = tonumber(ARGV[2]), tonumber(ARGV[3])
if stored.born ~= ARGV[1] or stored.epoch > epoch then
  return 'relieved'
end
if stored.epoch < epoch or stored.seq < seq then
  return 'behind'
end
if stored.seq > seq then
  return 'superseded'
end
redis.call('HSET', KEYS[1], 'owner', '', 'incarnation', '', 'epoch', whole(epoch + 1))
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 'ok'
