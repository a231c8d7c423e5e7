-- Is it still mine, and is all of it saved? Renews the record's life while it is.
-- ARGV: born, epoch, owner, incarnation, seq, ttl ms
local stored = read()
if not stored then
  return 'behind'
end
local epoch = tonumber(ARGV[2])
if stored.born ~= ARGV[1] or stored.epoch > epoch then
  return 'relieved'
end
if stored.epoch < epoch then
  return 'behind'
end
if stored.owner ~= ARGV[3] or stored.incarnation ~= ARGV[4] then
  return 'relieved'
end
redis.call('PEXPIRE', KEYS[1], ARGV[6])
if stored.seq < tonumber(ARGV[5]) then
  return 'behind'
end
return 'ok'
