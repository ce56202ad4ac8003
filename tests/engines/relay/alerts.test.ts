import { expect, test } from 'bun:test'
import { leapTo, type Party, useRelay, WITHOUT_RETRIES } from './fixture.ts'
import { DAY } from './support.ts'

const { newTenant } = await useRelay()
const final = await useRelay(WITHOUT_RETRIES)

const alertsOf = ({ app, id }: Party, state: 'open' | 'resolved' = 'open') =>
  app.platform.alerts.page(id, state, { limit: 9 })

test('An endpoint is failing from when its breaker opens until a delivery succeeds', async () => {
  const relay = await newTenant()
  const { target, app } = relay
  const { id, url } = await relay.createEndpoint()
  target.answers(500)
  await relay.sendMany(4)
  await relay.rest()
  expect(alertsOf(relay)).toEqual([])
  await relay.sendMany(1)
  await relay.rest()
  const { host } = new URL(url)
  const alert = {
    kind: 'endpoint.failing',
    severity: 'warning',
    subject: `endpoint:${id}`,
    count: 1,
  }
  expect(alertsOf(relay)).toMatchObject([{ ...alert, name: host, path: `/live/endpoints/${id}` }])
  expect(alertsOf(relay)[0]?.text).toStartWith('5 attempts in a row failed, the last one with: ')
  target.answers(200)
  const { open_until } = await relay.healthOf({ id })
  await leapTo(app, Date.parse(open_until))
  await relay.rest()
  expect(alertsOf(relay)).toEqual([])
  expect(alertsOf(relay, 'resolved')).toMatchObject([alert])
})

test('A disabled endpoint is one alert, which ends when it is resumed', async () => {
  const relay = await newTenant()
  const { id } = await relay.createEndpoint()
  relay.target.answers(410)
  await relay.deliver()
  const [disabled, ...others] = alertsOf(relay)
  expect(disabled).toMatchObject({ kind: 'endpoint.disabled', severity: 'critical' })
  expect(disabled?.text).toContain('410 Gone')
  expect(others).toEqual([])
  await relay.change({ id }, { active: true })
  expect(alertsOf(relay)).toEqual([])
})

test.each([
  ['paused', (relay: Party, id: string) => relay.change({ id }, { active: false })],
  ['deleted', (relay: Party, id: string) => relay.remove({ id })],
])('The alerts of an endpoint end without a message when it is %s', async (_, change) => {
  const relay = await newTenant()
  const { id } = await relay.createEndpoint()
  relay.target.answers(500)
  await relay.sendMany(5)
  await relay.rest()
  expect(alertsOf(relay)).toMatchObject([{ kind: 'endpoint.failing' }])
  await change(relay, id)
  expect(alertsOf(relay)).toEqual([])
  expect(alertsOf(relay, 'resolved')).toMatchObject([{ told: 'resolved', dueAt: null }])
})

test('Deliveries that fail for good are one alert of their endpoint', async () => {
  const relay = await final.newTenant()
  const { id } = await relay.createEndpoint()
  relay.target.answers(500)
  await relay.sendMany(3)
  await relay.rest()
  const alert = { kind: 'message.exhausted', subject: `endpoint:${id}`, count: 3 }
  expect(alertsOf(relay)).toMatchObject([{ ...alert, closesAfterMs: DAY }])
})
