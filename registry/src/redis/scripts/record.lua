-- Prepended to every script about a lobby. Each uses one key, the lobby's hash, so that Redis
-- Cluster can come later. An empty owner is nobody; `deleted` marks a tombstone.
local function read()
  local row = redis.call('HMGET', KEYS[1],
    'born', 'owner', 'incarnation', 'epoch', 'seq', 'status', 'deleted', 'claims')
  if not row[1] then
    return nil
  end
  return {
    born = row[1], owner = row[2] or '', incarnation = row[3] or '',
    epoch = tonumber(row[4]), seq = tonumber(row[5]),
    deleted = row[7] == '1', claims = row[8] or '',
    -- What others are told: all but what is saved.
    row = { row[1], row[2] or '', row[3] or '', row[4], row[5], row[6] or '', row[7] or '0' },
  }
end
