import { expect, test } from 'bun:test'
import { LIFETIME, usePassepartout } from './fixture.ts'

const { app, actor, bots, choose, clock, expectNobody, newTenant } = await usePassepartout()

const pathOf = ({ deep_link }: { deep_link: string }) => new URL(deep_link).pathname

test('A page takes the place of the messenger, and viewing it changes nothing', async () => {
  const { test: api } = await newTenant()
  const login = await api.start()
  for (let n = 0; n < 2; n++)
    expect((await app.raw(pathOf(login))).body).toContain('Sign in to Acme?')
  await expectNobody(login)
  expect((await choose(login, 'start', 'grace')).status).toBe(303)
  expect((await choose(login, 'approve', 'ada')).status).toBe(409)
  await expectNobody(login)
  expect((await choose(login, 'approve', 'grace')).status).toBe(303)
  expect((await login.status()).body).toMatchObject({
    access_token: expect.stringMatching(/^ppt_test_[0-9A-Za-z]{43}$/),
    user: { platform_user_id: 'grace' },
  })
})

test('A number is asked for as in the messenger', async () => {
  const { test: api } = await newTenant()
  // More than the throttle of a messenger would allow.
  for (const choice of ['approve', '00', 'deny', 'deny']) {
    const login = await api.start({})
    expect((await choose(login, choice)).status).toBe(303)
    await expectNobody(login, 'login_denied')
  }
  const login = await api.start({})
  await choose(login, login.match_code)
  expect((await login.status()).body).toMatchObject({ status: 'completed' })
})

test('Unknown choices, people and links are refused, and late answers; no link is logged', async () => {
  const { live, sandbox, test: api } = await newTenant()
  const login = await api.start()
  expect((await choose(login, 'maybe')).status).toBe(400)
  expect((await choose(login, 'approve', 'mallory')).status).toBe(400)
  const { payload } = await live.start()
  const foreign = { deep_link: `http://localhost/sandbox/passepartout/${payload}` }
  expect((await app.raw(pathOf(foreign))).status).toBe(404)
  expect((await choose(foreign, 'approve')).status).toBe(404)
  await bots.disable(actor, sandbox)
  expect((await choose(login, 'approve')).status).toBe(404)
  await bots.enable(actor, sandbox)
  clock.jump(LIFETIME)
  expect((await choose(login, 'approve')).status).toBe(409)
  await expectNobody(login, 'nonce_expired')
  for (const path of [pathOf(login), `${pathOf(login)}/x`, `/${pathOf(login)}`])
    await app.raw(path, { method: 'PUT' })
  expect(app.log.join()).toContain('/sandbox/passepartout/')
  expect(app.log.filter((line) => line.includes(login.payload))).toEqual([])
})
