import { expect, test } from 'bun:test'
import { MINUTE } from '../engines/gate/fixture.ts'
import {
  bootFlows,
  type FlowWorld,
  PASSWORD,
  totpAt,
} from '../engines/gate/sign-in/flows/fixture.ts'

const EMAIL = 'ada@example.com'

/** Those that have happened, by method and outcome. */
async function signIns({ app }: FlowWorld): Promise<Record<string, number>> {
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
  await using world = await bootFlows()
  await world.register(EMAIL)
  expect(await signIns(world)).toEqual({})

  await world.signIn(EMAIL)
  await world.tryPassword(EMAIL, 'wrong')
  await world.tryPassword('nobody@example.com')

  expect(await signIns(world)).toEqual({ 'password succeeded': 1, 'password failed': 2 })
})

test('to ask for a code is no sign-in, to bring it is one', async () => {
  await using world = await bootFlows()
  await world.security({ passwordless_enabled: true })
  await world.register(EMAIL)
  const flow = await world.start('login')

  await world.sendWell(flow, { method: 'code', identifier: EMAIL })
  expect(await signIns(world)).toEqual({})
  await world.send(flow, { method: 'code', code: '000000' })
  await world.sendWell(flow, { method: 'code', code: world.codeFor(EMAIL) })

  expect(await signIns(world)).toEqual({ 'code failed': 1, 'code succeeded': 1 })
})

test('a first factor that is not enough, and the second one, are told apart', async () => {
  await using world = await bootFlows()
  await world.security({ mfa_enabled: true })
  const secret = await world.enrol((await world.register(EMAIL)).session_token)
  world.clock.jump(MINUTE)

  const half = await world.tryPassword(EMAIL)
  const session = { 'x-session-token': half.body.session_token }
  const second = await world.start('login', session, '?aal=aal2')
  const totp_code = totpAt(secret, world.clock.now())
  await world.sendWell(second, { method: 'totp', totp_code }, session)

  expect(await signIns(world)).toEqual({ 'password second_factor_owed': 1, 'totp succeeded': 1 })
})

test('what is turned away unseen is counted as throttled', async () => {
  await using world = await bootFlows({
    flags: { 'limits-sign-ins-per-identifier-per-minute': '1' },
  })
  await world.register(EMAIL)
  await world.tryPassword(EMAIL, 'wrong')
  await world.tryPassword(EMAIL, PASSWORD)

  expect(await signIns(world)).toEqual({ 'password failed': 1, 'password throttled': 1 })
})

test('whatever a form calls its method, there are as many series as before', async () => {
  await using world = await bootFlows()
  await world.send(await world.start('login'), { method: 'x"} 1\nmine', password: PASSWORD })
  await world.send(await world.start('login'), { identifier: EMAIL, password: PASSWORD })

  expect(await signIns(world)).toEqual({ 'other failed': 1, 'password failed': 1 })
})

test('a registration is no sign-in, and neither is a mistake in one', async () => {
  await using world = await bootFlows()
  await world.register(EMAIL)
  await world.send(await world.start('registration'), { method: 'password', password: 'x' })

  expect(await signIns(world)).toEqual({})
})
