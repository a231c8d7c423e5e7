-- The fence: only the owner at the present epoch saves, and only forward. An absent record or one
-- of a lower epoch means that Redis has lost or gone back, and the owner puts it right. A late
-- packet of an abandoned connection can still arrive, hence the comparison of seq.
-- ARGV: born, epoch, owner, incarnation, seq, saved, status, accepted an input (0/1), ttl ms
local stored = read()
local epoch, seq = tonumber(ARGV[2]), tonumber(ARGV[5])
local claims = ''
if stored then
  if stored.born ~= ARGV[1] or stored.epoch > epoch then
    return 'relieved'
  end
  if stored.epoch == epoch then
    if stored.owner ~= ARGV[3] or stored.incarnation ~= ARGV[4] then
      return 'relieved'
    end
    if stored.seq > seq then
      return 'superseded'
    end
    if stored.seq == seq then
      redis.call('PEXPIRE', KEYS[1], ARGV[9])
      return 'ok'
    end
  end
  if ARGV[8] == '0' then
    claims = stored.claims
  end
end
redis.call('HSET', KEYS[1], 'born', ARGV[1], 'epoch', ARGV[2], 'owner', ARGV[3],
  'incarnation', ARGV[4], 'seq', ARGV[5], 'saved', ARGV[6], 'status', ARGV[7], 'claims', claims)
redis.call('HDEL', KEYS[1], 'deleted')
redis.call('PEXPIRE', KEYS[1], ARGV[9])
return 'ok'
