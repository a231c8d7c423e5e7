-- A new owner. Refused if the record has moved on since it was seen, as it has for a claim that comes
-- late or twice, or if the lobby was claimed too often without an accepted input: one that kills its
-- owners must not walk through the fleet. Claims of released lobbies, and by the owner named, do not
-- count.
-- ARGV: born, epoch seen, seq seen, owner, incarnation, ttl ms,
--   window ms, free claims, wait ms, claims kept,
--   handed (0/1), its epoch, seq, saved, status
local seen_epoch, seen_seq = tonumber(ARGV[2]), tonumber(ARGV[3])
local handed = ARGV[11] == '1'
local handed_epoch, handed_seq = tonumber(ARGV[12]), tonumber(ARGV[13])
local stored = read()
if stored then
  local moved_on = stored.born ~= ARGV[1] or stored.epoch > seen_epoch
  local newer = handed and (handed_epoch > stored.epoch
    or (handed_epoch == stored.epoch and handed_seq > stored.seq))
  if moved_on or not newer then
    handed = false
    if stored.deleted and stored.born == ARGV[1] then
      return { 'gone' }
    end
    if moved_on then
      return { 'owned', stored.row }
    end
  end
elseif not handed then
  return { 'gone' }
end

local claims = {}
if stored then
  for at in string.gmatch(stored.claims, '%d+') do
    if tonumber(at) + tonumber(ARGV[7]) > now then
      claims[#claims + 1] = at
    end
  end
end
local counts = stored and stored.owner ~= ''
  and (stored.owner ~= ARGV[4] or stored.incarnation ~= ARGV[5])
if counts then
  local beyond = #claims - tonumber(ARGV[8])
  if beyond >= 0 then
    local rest = tonumber(claims[#claims]) + tonumber(ARGV[9]) * 2 ^ beyond - now
    if rest > 0 then
      return { 'wait', rest }
    end
  end
  claims[#claims + 1] = whole(now)
  while #claims > tonumber(ARGV[10]) do
    table.remove(claims, 1)
  end
end

local epoch, seq = seen_epoch, seen_seq
if handed then
  redis.call('HSET', KEYS[1], 'saved', ARGV[14], 'status', ARGV[15])
  redis.call('HDEL', KEYS[1], 'deleted')
  epoch, seq = math.max(epoch, handed_epoch), math.max(seq, handed_seq)
else
  epoch, seq = math.max(epoch, stored.epoch), math.max(seq, stored.seq)
end
-- At least the clock: a number given out by an earlier, forgotten Redis is never used again.
epoch, seq = math.max(epoch + 1, now), math.max(seq + 1, now)
redis.call('HSET', KEYS[1], 'born', ARGV[1], 'owner', ARGV[4], 'incarnation', ARGV[5],
  'epoch', whole(epoch), 'seq', whole(seq), 'claims', table.concat(claims, ','))
redis.call('PEXPIRE', KEYS[1], ARGV[6])
local state = redis.call('HMGET', KEYS[1], 'saved', 'status')
return { 'saved', epoch, seq, state[1], state[2] }
