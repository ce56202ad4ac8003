import { afterAll, expect, test } from 'bun:test'
import { type Json, SETTINGS } from '../../fixture.ts'
import { ADA } from './acts.ts'
import { bootFlows, messageIds, nodeNames } from './fixture.ts'

const flows = await bootFlows({ hasMail: false })
afterAll(flows.app.stop)
await flows.api.put(`${SETTINGS}/security`, { passwordless_enabled: true })

const mails = () => flows.app.mail.outbox.open()
const hosted = async ({ hosted_url: url }: Json): Promise<string> => {
  const { pathname, search } = new URL(url)
  return (await flows.app.raw(pathname + search, { headers: { accept: 'text/html' } })).body
}

test('Without a mail server, sign-in and sign-up offer no email code, also if the tenant has enabled it', async () => {
  for (const kind of ['login', 'registration']) {
    const flow = await flows.start(kind)
    expect(nodeNames(flow).filter((name) => name.startsWith('code'))).toEqual([])
    const identifier = kind === 'login' ? { identifier: ADA } : { traits: { email: ADA } }
    expect((await flows.send(flow, { method: 'code', ...identifier })).status).toBe(422)
  }
})

test.each([
  ['recovery', 1900014],
  ['verification', 1900016],
])('Without a mail server, %s explains why instead of asking for an address', async (kind, id) => {
  const flow = await flows.start(kind)
  expect([nodeNames(flow), messageIds(flow)]).toEqual([[], [id]])
  expect(await hosted(flow)).toContain('send emails right now')
  const { status, body } = await flows.send(flow, { method: 'code', email: ADA })
  expect([status, body.state, messageIds(body)]).toEqual([422, 'choose_method', [4900016, id]])
})

test('Without a mail server, a sign-up asks for no verification, and an address stays as it is', async () => {
  const { session_token: token, continue_with } = await flows.register(ADA)
  expect(continue_with.map(({ action }: Json) => action)).toEqual(['set_ory_session_token'])
  const traits = { email: 'new@example.com' }
  const answer = await flows.change(token, { method: 'profile', traits })
  expect([answer.status, messageIds(answer.body)]).toEqual([422, [4900016]])
  expect(mails()).toMatchObject({ kept: 0, ready: 0 })
})
