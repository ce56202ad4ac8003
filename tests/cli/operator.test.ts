import { expect, test } from 'bun:test'
import { dirname } from 'node:path'
import type { ExitCode } from '../../src/cli/command.ts'
import { createLinks } from '../../src/console/operators/links.ts'
import { createOperatorStore } from '../../src/console/operators/store/index.ts'
import { createStore } from '../../src/engines/gate/store.ts'
import { SYSTEM_TENANT_ID } from '../../src/platform/system-tenant.ts'
import { bootTestApp } from '../support/app.ts'
import { cli } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { newOperator } from '../support/operator.ts'

const ADA = ['--email', 'ada@example.com']
const UNKNOWN = '--email: no operator has this address. See operator list\n'
const SECURED =
  'ada@example.com is not verified: any password, two-factor authentication, social login, session and invitation ' +
  'of the account was removed.\nTo sign them in: operator login-link --email ada@example.com\n'

/** `operator <verb>` on a data directory with one tenant. */
async function newHome() {
  const { path, [Symbol.dispose]: remove } = temporaryFolder()
  const gatehouse = cli(path)
  const { id } = (await gatehouse('tenant', 'create', '--name', 'Acme', '--json')).json()
  const acme: string = id
  const operator = (verb: string, ...more: string[]) => gatehouse('operator', verb, ...more)
  /** The audit log from the oldest row. */
  async function audited() {
    const { entries } = (await gatehouse('audit', 'list', '--json')).json()
    return entries.toReversed().slice(1)
  }
  return {
    ...{ acme, operator, audited, [Symbol.dispose]: remove },
    as: (role: string) => ['--tenant', acme, '--role', role],
    typed: (input: string, ...argv: string[]) => cli(path, { input })('operator', ...argv),
    create: (...more: string[]) => operator('create', ...ADA, ...more),
    list: async () => (await operator('list', '--json')).json().operators,
    actions: async () => (await audited()).map(({ action }: { action: string }) => action),
  }
}

test('operator create adds an operator with access, says how to sign them in, and is audited', async () => {
  using home = await newHome()
  expect((await home.operator('list')).out).toBe('No operators yet.\n')
  const given = ['--email', 'Ada@Example.com', '--name', ' Ada Berg ', '--admin', '--json']
  const { code, err, json } = await home.operator('create', ...given, ...home.as('owner'))
  expect({ code, err }).toEqual({ code: 0, err: '' })
  const known = { id: expect.any(String), created_at: expect.any(String), name: 'Ada Berg' }
  const email = { email: 'ada@example.com', email_verified: false }
  const access = { admin: true, tenants: [{ id: home.acme, name: 'Acme', role: 'owner' }] }
  const ada = { ...known, ...email, ...access, state: 'active' }
  expect(json()).toEqual({ ...ada, created: true })
  expect(await home.list()).toEqual([ada])
  const actor = { kind: 'cli', source: expect.stringContaining('uid ') }
  expect(await home.audited()).toMatchObject([
    { tenant_id: SYSTEM_TENANT_ID, action: 'identity.created', actor },
    { tenant_id: home.acme, action: 'member.added', actor },
    { tenant_id: SYSTEM_TENANT_ID, action: 'admin.added', actor },
  ])
  const { out } = await home.operator('create', '--email', 'ben@example.com')
  expect(out).toMatch(
    /^Created operator ben@example.com \(not verified\)\. Access: none yet\.\n[0-9a-f-]{36}\nTo sign them in: operator login-link --email ben@example.com\n$/,
  )
  const listed = (await home.operator('list')).out.split('\n').map((line) => line.split(/ {2,}/))
  const [id, state] = [expect.any(String), 'not verified']
  expect(listed).toEqual([
    ['ID', 'EMAIL', 'EMAIL STATUS', 'NAME', 'STATE', 'ACCESS'],
    [id, 'ada@example.com', state, 'Ada Berg', 'active', 'installation (admin), Acme (owner)'],
    [id, 'ben@example.com', state, '-', 'active', '-'],
    [''],
  ])
})

test('operator create names the option and the rule of what it refuses', async () => {
  using home = await newHome()
  const stdin = '--password-stdin'
  const nobody = '00000000-0000-7000-8000-000000000001'
  const refused: [string[], ExitCode, string, string?][] = [
    [['--email', 'ada'], 1, '--email: must be an email address'],
    [[...ADA, '--name', 'x'.repeat(201)], 1, '--name: must have at most 200 characters'],
    [[...ADA, '--tenant', nobody, '--role', 'owner'], 1, '--tenant: tenant not'],
    [[...ADA, '--tenant', SYSTEM_TENANT_ID, '--role', 'owner'], 1, '--tenant: tenant not'],
    [[...ADA, '--tenant', nobody], 2, '--tenant: add --role, one of owner'],
    [[...ADA, '--role', 'owner'], 2, '--role: add --tenant'],
    [[...ADA, stdin], 1, `${stdin}: standard input is empty`, '\n'],
    [[...ADA, stdin], 1, `${stdin}: must be one line`, 'a\nb'],
    [[...ADA, stdin], 1, `${stdin}: is too common`, 'password1234'],
  ]
  for (const [argv, code, message, input = ''] of refused) {
    const answer = await home.typed(input, 'create', ...argv)
    expect([argv, answer.code, answer.out]).toEqual([argv, code, ''])
    expect(answer.err).toStartWith(message)
  }
  expect(await home.list()).toEqual([])
})

test('operator create of an existing operator adds access or changes a role, but leaves a tenant its only owner', async () => {
  using home = await newHome()
  await home.create('--name', 'Ada')
  const { out } = await home.create(...home.as('viewer'), '--name', 'Eva')
  const ignored = 'Ignored --name: only for new operators.\n'
  expect(out).toBe(`Updated operator ada@example.com. Access: Acme (viewer).\n${ignored}${SECURED}`)
  expect((await home.create(...home.as('owner'))).out).toContain('Access: Acme (owner).')
  const admin = (await home.create(...home.as('owner'), '--admin', '--json')).json()
  expect(admin).toMatchObject({ created: false, name: 'Ada', admin: true })
  const only = 'this is the only owner who can sign in. Add another owner first'
  for (const [argv, err] of [
    [[], '--email: an operator already has this address'],
    [[...home.as('owner'), '--admin'], '--email: this operator already has that access'],
    [home.as('member'), `--role: ${only}`],
  ] as const)
    expect(await home.create(...argv)).toMatchObject({ code: 1, err: expect.stringContaining(err) })
  expect(await home.list()).toMatchObject([{ name: 'Ada', tenants: [{ role: 'owner' }] }])
  const changes = ['member.added', 'member.changed', 'admin.added']
  const wiped = changes.flatMap((action) => ['identity.credentials_wiped', action])
  expect(await home.actions()).toEqual(['identity.created', ...wiped])
})

test('operator deactivate, reactivate, sign-out and take-admin take effect, are audited, may be repeated, and leave an admin', async () => {
  using home = await newHome()
  for (const verb of ['deactivate', 'reactivate', 'sign-out', 'take-admin', 'login-link'])
    expect([verb, (await home.operator(verb, ...ADA)).err]).toEqual([verb, UNKNOWN])
  await home.create('--admin')
  for (const verb of ['deactivate', 'take-admin']) {
    const { code, err } = await home.operator(verb, ...ADA)
    expect([verb, code]).toEqual([verb, 1])
    expect(err).toStartWith('--email: this is the only admin of the installation.')
  }
  await home.operator('create', '--email', 'ben@example.com', '--admin')
  const before = (await home.audited()).length
  const verb = async (name: string, ...more: string[]) =>
    (await home.operator(name, '--email', 'ADA@example.com', ...more)).out
  const ada = 'ada@example.com (not verified)'
  expect(await verb('deactivate')).toBe(`${ada} is deactivated and signed out everywhere.\n`)
  expect(JSON.parse(await verb('deactivate', '--json'))).toMatchObject({ state: 'inactive' })
  const { err } = await home.operator('login-link', ...ADA)
  expect(err).toBe('--email: this account is deactivated. Run operator reactivate first\n')
  const active = 'ada@example.com is active and can sign in again.\n'
  expect(await verb('reactivate')).toBe(active + SECURED)
  expect(await verb('sign-out')).toBe(`${ada} is signed out everywhere.\n`)
  expect(JSON.parse(await verb('take-admin', '--json'))).toMatchObject({ admin: false })
  expect((await home.actions()).slice(before)).toEqual([
    ...['identity.state_changed', 'identity.credentials_wiped', 'identity.state_changed'],
    ...['sessions.revoked', 'admin.removed'],
  ])
})

test('operator login-link leads to the sign-in page at the configured address, and is audited', async () => {
  using home = await newHome()
  await home.create()
  const link = (...more: string[]) => home.operator('login-link', ...ADA, ...more)
  const at = ['--server-base-url', 'https://example.com/gate/']
  const { code, err, json } = await link(...at, '--json')
  expect({ code, err }).toEqual({ code: 0, err: '' })
  expect(json().url).toMatch(/^https:\/\/example\.com\/gate\/console\/link\/[\w-]{40,}$/)
  expect((await link(...at)).out).toMatch(
    /^https:\S+\/console\/link\/\S+\n\nThe link works once, for 10 minutes\.\nada@example\.com is not verified: using the link removes .*\n$/,
  )
  expect((await home.actions()).slice(1)).toEqual(Array(2).fill('login_link.created'))
  const local = await link('--json')
  expect(local.json().url).toStartWith('http://127.0.0.1:8420/console/link/')
  expect(local.err).toStartWith('If your browser uses another address')
})

test('On a running server a password is taken from standard input, a link works once for 10 minutes, and sign-out ends sessions', async () => {
  const password = ' seven green bicycles '
  await using app = await bootTestApp({ start: new Date().toISOString() })
  const cwd = dirname(app.db.file)
  const gatehouse = cli(cwd, { env: { GATEHOUSE_DATA_DIR: cwd }, input: `${password}\r\n` })
  const operator = (...argv: string[]) => gatehouse('operator', ...argv, '--json')
  const { db, clock, platform } = app
  const { id } = (await operator('create', ...ADA, '--password-stdin')).json()
  const stored = createStore(db).credentials.find(SYSTEM_TENANT_ID, id, 'password')
  const { hashed_password: hash } = JSON.parse(stored?.config ?? '{}')
  expect(await Bun.password.verify(password, hash)).toBe(true)
  const links = createLinks({ db, clock, audit: platform.audit, store: createOperatorStore(db) })
  const newToken = async (): Promise<string> =>
    (await operator('login-link', ...ADA)).json().url.split('/').at(-1)
  const [first, second] = [await newToken(), await newToken()]
  expect((await db.commit(() => links.useSignIn(first))).operatorId).toBe(id)
  expect(links.peek(first)).toBeUndefined()
  expect(links.peek(second)?.operatorId).toBe(id)
  await clock.advance(11 * 60_000)
  expect(links.peek(second)).toBeUndefined()
  const ben = await newOperator(app, { email: 'ben@example.com' })
  const { headers } = await ben.signIn()
  const status = async () => (await app.raw('/console/account', { headers })).status
  expect(await status()).toBe(200)
  await operator('sign-out', '--email', 'ben@example.com')
  expect(await status()).toBe(401)
})
