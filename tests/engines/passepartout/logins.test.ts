import { expect, test } from 'bun:test'
import { until } from '../../support/binary.ts'
import { bootFixture } from './fixture.ts'

const START = '/v1/passepartout/login/start'
const INTROSPECT = '/v1/passepartout/tokens/introspect'
const statusOf = (nonce: string) => `/v1/passepartout/login/status?nonce=${nonce}`

test('who follows the link and taps the right number signs in, and is the same one each time', async () => {
  await using fixture = await bootFixture()
  const acme = await fixture.signingTenant()
  const ada = fixture.botApi.person({ first_name: 'Ada', language_code: 'en' })

  async function signIn() {
    const client = { label: 'Shop', ip: '203.0.113.7' }
    const { nonce, deep_link, match_code } = (await acme.live.post(START, { client })).body
    ada.follow(deep_link)
    const question = await ada.waitForMessage(acme.bot, ({ buttons }) => buttons.length === 2)
    expect((await acme.live.get(statusOf(nonce))).body).toEqual({ status: 'pending' })
    ada.tap(question, match_code)
    await until(() => ada.chat(acme.bot).every(({ text }) => text.startsWith('You signed in')))
    return (await acme.live.get(statusOf(nonce))).body
  }

  const first = await signIn()
  expect(first).toMatchObject({
    status: 'completed',
    user: { platform: 'telegram', first_name: 'Ada', username: null },
  })
  const { access_token } = first
  expect((await acme.live.post(INTROSPECT, { access_token })).body).toEqual({
    active: true,
    subject: first.user.id,
    tenant_id: acme.id,
    scopes: ['passepartout'],
    expires_at: '2026-03-01T13:00:30.000Z',
  })

  const second = await signIn()
  expect(second.access_token).not.toBe(access_token)
  expect(second.user.id).toBe(first.user.id)
})

test('in the sandbox a page stands in for the messenger', async () => {
  await using fixture = await bootFixture()
  const acme = await fixture.signingTenant()
  const { nonce, deep_link } = (await acme.test.post(START)).body
  const { pathname } = new URL(deep_link)

  expect((await fixture.app.raw(pathname)).body).toContain('Sign in to Acme?')
  expect((await acme.test.get(statusOf(nonce))).body).toEqual({ status: 'pending' })
  const body = new URLSearchParams({ choice: 'approve', person: 'grace' })
  expect((await fixture.app.raw(pathname, { method: 'POST', body })).status).toBe(303)

  expect((await acme.test.get(statusOf(nonce))).body).toMatchObject({
    status: 'completed',
    access_token: expect.stringMatching(/^ppt_test_/),
    user: { platform: 'sandbox', platform_user_id: 'grace', first_name: 'Grace' },
  })
})
