import { expect, test } from 'bun:test'
import { MINUTE } from '../engines/gate/fixture.ts'
import {
  bootFlows,
  type FlowFixture,
  PASSWORD,
  totpAt,
} from '../engines/gate/sign-in/flows/fixture.ts'

const EMAIL = 'ada@example.com'

/** Those that have happened, by method and outcome. */
async function signIns({ app }: FlowFixture): Promise<Record<string, number>> {
  const lines: string[] = (await app.raw('/metrics')).body.split('\n')
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, method, outcome, value] =
        /^gatehouse_gate_sign_ins_total{method="(\w+)",outcome="(\w+)"} ([1-9]\d*)$/.exec(line) ??
        []
      return method === undefined ? [] : [[`${method} ${outcome}`, Number(value)]]
    }),
  )
}

test('sign-ins are counted by method and by what came of them', async () => {
  await using fixture = await bootFlows()
  await fixture.register(EMAIL)
  expect(await signIns(fixture)).toEqual({})

  await fixture.signIn(EMAIL)
  await fixture.tryPassword(EMAIL, 'wrong')
  await fixture.tryPassword('nobody@example.com')

  expect(await signIns(fixture)).toEqual({ 'password succeeded': 1, 'password failed': 2 })
})

test('to ask for a code is no sign-in, to bring it is one', async () => {
  await using fixture = await bootFlows()
  await fixture.security({ passwordless_enabled: true })
  await fixture.register(EMAIL)
  const flow = await fixture.start('login')

  await fixture.sendWell(flow, { method: 'code', identifier: EMAIL })
  expect(await signIns(fixture)).toEqual({})
  await fixture.send(flow, { method: 'code', code: '000000' })
  await fixture.sendWell(flow, { method: 'code', code: fixture.codeFor(EMAIL) })

  expect(await signIns(fixture)).toEqual({ 'code failed': 1, 'code succeeded': 1 })
})

test('a first factor that is not enough, and the second one, are told apart', async () => {
  await using fixture = await bootFlows()
  await fixture.security({ mfa_enabled: true })
  const secret = await fixture.enrol((await fixture.register(EMAIL)).session_token)
  fixture.clock.jump(MINUTE)

  const half = await fixture.tryPassword(EMAIL)
  const session = { 'x-session-token': half.body.session_token }
  const second = await fixture.start('login', session, '?aal=aal2')
  const totp_code = totpAt(secret, fixture.clock.now())
  await fixture.sendWell(second, { method: 'totp', totp_code }, session)

  expect(await signIns(fixture)).toEqual({ 'password second_factor_owed': 1, 'totp succeeded': 1 })
})

test('what is turned away unseen is counted as throttled', async () => {
  await using fixture = await bootFlows({
    flags: { 'limits-sign-ins-per-identifier-per-minute': '1' },
  })
  await fixture.register(EMAIL)
  await fixture.tryPassword(EMAIL, 'wrong')
  await fixture.tryPassword(EMAIL, PASSWORD)

  expect(await signIns(fixture)).toEqual({ 'password failed': 1, 'password throttled': 1 })
})

test('whatever a form calls its method, there are as many series as before', async () => {
  await using fixture = await bootFlows()
  await fixture.send(await fixture.start('login'), { method: 'x"} 1\nmine', password: PASSWORD })
  await fixture.send(await fixture.start('login'), { identifier: EMAIL, password: PASSWORD })

  expect(await signIns(fixture)).toEqual({ 'other failed': 1, 'password failed': 1 })
})

test('a registration is no sign-in, and neither is a mistake in one', async () => {
  await using fixture = await bootFlows()
  await fixture.register(EMAIL)
  await fixture.send(await fixture.start('registration'), { method: 'password', password: 'x' })

  expect(await signIns(fixture)).toEqual({})
})
