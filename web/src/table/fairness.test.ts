import { expect, it } from 'vitest'
import { checkDeal } from './fairness'

const zeroes = '00'.repeat(32)
const fingerprint = '66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925'

it('finds the seed right whose bytes have the promised SHA-256', async () => {
  expect(await checkDeal(fingerprint, zeroes)).toBe('right')
  expect(await checkDeal(fingerprint.toUpperCase(), zeroes)).toBe('right')
})

it('finds any other seed wrong', async () => {
  expect(await checkDeal(fingerprint, '01' + zeroes.slice(2))).toBe('wrong')
  expect(await checkDeal(fingerprint, zeroes.slice(2))).toBe('wrong')
  expect(await checkDeal(fingerprint, 'zz' + zeroes.slice(2))).toBe('wrong')
})

it('says so when there is no seed', async () => {
  expect(await checkDeal(fingerprint, null)).toBe('no_seed')
})
