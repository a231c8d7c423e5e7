-- A new lobby, if its code is free: whoever finds something there names its owner, so a late or
-- repeated create makes no second table. Epoch and seq start at the clock, so that neither is
-- ever used twice, even if Redis forgets.
-- ARGV: born, owner, incarnation, saved, status, ttl ms
local stored = read()
if stored then
  return { 'exists', stored.row }
end
redis.call('HSET', KEYS[1], 'born', ARGV[1], 'owner', ARGV[2], 'incarnation', ARGV[3],
  'epoch', whole(now), 'seq', whole(now), 'saved', ARGV[4], 'status', ARGV[5], 'claims', '')
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return { 'ok', now, now }
