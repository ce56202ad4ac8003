import { expect, test } from 'bun:test'
import { MINUTE } from '../engines/gate/fixture.ts'
import {
  bootFlows,
  type FlowFixture,
  PASSWORD,
  totpAt,
} from '../engines/gate/sign-in/flows/fixture.ts'

const EMAIL = 'ada@example.com'
const LINE = /^gatehouse_gate_sign_ins_total{method="(\w+)",outcome="(\w+)"} ([1-9]\d*)$/

/** Those that have happened, by method and outcome. */
async function signIns({ app }: FlowFixture): Promise<Record<string, number>> {
  const lines: string[] = (await app.raw('/metrics')).body.split('\n')
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, method, outcome, value] = LINE.exec(line) ?? []
      return method === undefined ? [] : [[`${method} ${outcome}`, Number(value)]]
    }),
  )
}

test('Sign-ins are counted by method and outcome', async () => {
  await using fixture = await bootFlows()
  const { send, sendWell, start } = fixture
  await fixture.register(EMAIL)
  await send(await start('registration'), { method: 'password', password: 'x' })
  expect(await signIns(fixture)).toEqual({})

  await fixture.signIn(EMAIL)
  await fixture.tryPassword(EMAIL, 'wrong')
  await fixture.tryPassword('nobody@example.com')
  const passwords = { 'password succeeded': 1, 'password failed': 2 }
  expect(await signIns(fixture)).toEqual(passwords)

  await fixture.security({ passwordless_enabled: true, mfa_enabled: true })
  const flow = await start('login')
  await sendWell(flow, { method: 'code', identifier: EMAIL })
  expect(await signIns(fixture)).toEqual(passwords)
  await send(flow, { method: 'code', code: '000000' })
  await sendWell(flow, { method: 'code', code: fixture.codeFor(EMAIL) })
  const codes = { 'code failed': 1, 'code succeeded': 1 }
  expect(await signIns(fixture)).toEqual({ ...passwords, ...codes })

  const { session_token } = await fixture.register('bob@example.com')
  const secret = await fixture.enrol(session_token)
  fixture.clock.jump(MINUTE)
  const half = await fixture.tryPassword('bob@example.com')
  const headers = { 'x-session-token': half.body.session_token }
  const second = await start('login', headers, '?aal=aal2')
  const totp_code = totpAt(secret, fixture.clock.now())
  await sendWell(second, { method: 'totp', totp_code }, headers)
  const factors = { 'password second_factor_owed': 1, 'totp succeeded': 1 }
  expect(await signIns(fixture)).toEqual({ ...passwords, ...codes, ...factors })

  // A method that a form makes up is no series of its own.
  await send(await start('login'), { method: 'x"} 1\nmine', password: PASSWORD })
  await send(await start('login'), { identifier: EMAIL, password: PASSWORD })
  expect(await signIns(fixture)).toMatchObject({ 'other failed': 1 })
})

test('A throttled sign-in is counted as such', async () => {
  await using fixture = await bootFlows({
    flags: { 'limits-sign-ins-per-identifier-per-minute': '1' },
  })
  await fixture.register(EMAIL)
  await fixture.tryPassword(EMAIL, 'wrong')
  await fixture.tryPassword(EMAIL, PASSWORD)
  expect(await signIns(fixture)).toEqual({ 'password failed': 1, 'password throttled': 1 })
})
