-- Prepended to every script that needs the time. Redis' clock is the only one that all processes
-- share; numbers are written whole, since Lua would write large ones as 1.8e+12.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function whole(number)
  return string.format('%.0f', number)
end
