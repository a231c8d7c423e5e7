-- The end of a lobby: a tombstone stays for a while, so that a late commit or create does not
-- bring it back. Written even if the record is absent, for the same reason.
-- ARGV: born, epoch, ttl ms
local stored = read()
local epoch = tonumber(ARGV[2])
local seq = 0
if stored then
  if stored.born ~= ARGV[1] then
    return 'relieved'
  end
  if stored.deleted and stored.epoch == epoch + 1 then
    return 'ok'
  end
  if stored.epoch > epoch then
    return 'relieved'
  end
  seq = stored.seq
end
redis.call('DEL', KEYS[1])
redis.call('HSET', KEYS[1], 'born', ARGV[1], 'owner', '', 'incarnation', '',
  'epoch', whole(epoch + 1), 'seq', whole(seq), 'status', '', 'deleted', '1')
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 'ok'
