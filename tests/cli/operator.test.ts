import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ExitCode } from '../../src/cli/command.ts'
import { createLinks } from '../../src/console/operators/links.ts'
import { createOperatorStore } from '../../src/console/operators/store/index.ts'
import { createHashing } from '../../src/engines/gate/credentials/passwords/index.ts'
import { createStore } from '../../src/engines/gate/store.ts'
import { SYSTEM_TENANT_ID } from '../../src/platform/system-tenant.ts'
import { bootTestApp, type TestApp } from '../support/app.ts'
import { cli } from '../support/cli.ts'
import { testConfig } from '../support/config.ts'
import { temporaryFolder } from '../support/folder.ts'
import { newOperator } from '../support/operator.ts'

const ADA = ['--email', 'ada@example.com']
const PASSWORD = 'seven green bicycles'
const SECURED =
  'ada@example.com is not verified: any password, two-factor authentication, social login, session and invitation ' +
  'of the account was removed.\nTo sign them in: operator login-link --email ada@example.com\n'

/** The command line on a data directory with one tenant. */
async function startFixture() {
  const folder = temporaryFolder()
  const gatehouse = cli(folder.path)
  const tenant = async (name: string): Promise<string> =>
    (await gatehouse('tenant', 'create', '--name', name, '--json')).json().id
  const acme = await tenant('Acme')
  const typed =
    (input: string) =>
    (verb: string, ...more: string[]) =>
      cli(folder.path, { input })('operator', verb, ...more)
  const operator = typed('')
  const dataDir = join(folder.path, 'data')

  function audited() {
    using db = new Database(join(dataDir, 'gatehouse.db'), { readonly: true })
    return db
      .query<{ tenant: string; action: string; kind: string; source: string }, []>(
        `SELECT tenant_id AS tenant, action, actor_kind AS kind, source FROM audit_log
         WHERE action NOT LIKE 'tenant.%' ORDER BY seq`,
      )
      .all()
  }

  return {
    folder,
    dataDir,
    cli: gatehouse,
    tenant,
    acme,
    typed,
    operator,
    create: (...more: string[]) => operator('create', ...ADA, ...more),
    list: async () => (await operator('list', '--json')).json().operators,
    link: (...more: string[]) => operator('login-link', ...ADA, ...more),
    audited,
    [Symbol.dispose]: folder[Symbol.dispose],
  }
}

const NOW = { start: new Date().toISOString() }

/** `operator <verb>` beside a running server, as objects. */
function beside({ db }: TestApp, { input = '' } = {}) {
  const cwd = dirname(db.file)
  const gatehouse = cli(cwd, { env: { GATEHOUSE_DATA_DIR: cwd }, input })
  return (verb: string, ...more: string[]) => gatehouse('operator', verb, ...more, '--json')
}

describe('operator create', () => {
  test('makes somebody who runs a tenant and the installation, as an object', async () => {
    using fixture = await startFixture()
    const part = ['--tenant', fixture.acme, '--role', 'owner']

    const { code, err, json } = await fixture.operator(
      'create',
      ...['--email', 'Ada@Example.com', '--name', ' Ada Berg ', '--admin', ...part, '--json'],
    )

    expect({ code, err }).toEqual({ code: 0, err: '' })
    const ada = {
      id: expect.any(String),
      email: 'ada@example.com',
      email_verified: false,
      name: 'Ada Berg',
      state: 'active',
      admin: true,
      tenants: [{ id: fixture.acme, name: 'Acme', role: 'owner' }],
      created_at: expect.any(String),
    }
    expect(json()).toEqual({ ...ada, created: true })
    expect(await fixture.list()).toEqual([ada])
  })

  test('and in words, with how to let them in', async () => {
    using fixture = await startFixture()
    const { out } = await fixture.create('--tenant', fixture.acme, '--role', 'viewer', '--admin')
    expect(out).toMatch(
      /^Created operator ada@example.com \(not verified\)\. Access: installation \(admin\), Acme \(viewer\)\.\n[0-9a-f-]{36}\nTo sign them in: operator login-link --email ada@example.com\n$/,
    )
  })

  test('makes somebody of no tenant yet, and in a folder without data', async () => {
    using folder = temporaryFolder()
    const { code, out } = await cli(folder.path)('operator', 'create', ...ADA)
    expect(code).toBe(0)
    expect(out).toStartWith('Created operator ada@example.com (not verified). Access: none yet.\n')
  })

  test('leaves rows of the command line in the log, of the tenant and of the system tenant', async () => {
    using fixture = await startFixture()
    await fixture.create('--tenant', fixture.acme, '--role', 'member', '--admin')
    const by = { kind: 'cli', source: expect.stringContaining('uid ') }
    expect(fixture.audited()).toEqual([
      { tenant: SYSTEM_TENANT_ID, action: 'identity.created', ...by },
      { tenant: fixture.acme, action: 'member.added', ...by },
      { tenant: SYSTEM_TENANT_ID, action: 'admin.added', ...by },
    ])
  })

  test('takes a password from standard input, less the end of its line', async () => {
    await using app = await bootTestApp(NOW)
    const { id } = (
      await beside(app, { input: ` ${PASSWORD} \r\n` })('create', ...ADA, '--password-stdin')
    ).json()
    const stored = createStore(app.db).credentials.find(SYSTEM_TENANT_ID, id, 'password')
    const { hashed_password: hash } = JSON.parse(stored?.config ?? '{}')
    expect(
      await createHashing(testConfig().gate.password).verify(
        { tenantId: SYSTEM_TENANT_ID },
        ` ${PASSWORD} `,
        hash,
      ),
    ).toBe(true)
  })

  describe('names the option and the rule', () => {
    const of = '00000000-0000-7000-8000-000000000001'
    const cases: [string, string[], string, ExitCode, string?][] = [
      ['no address', ['--email', 'ada'], '--email: must be an email address', 1],
      [
        'a long name',
        [...ADA, '--name', 'x'.repeat(201)],
        '--name: must have at most 200 characters',
        1,
      ],
      ['a name of two lines', [...ADA, '--name', 'a\nb'], '--name: must be one line', 1],
      ['no such tenant', [...ADA, '--tenant', of, '--role', 'owner'], '--tenant: tenant not', 1],
      [
        'the system tenant',
        [...ADA, '--tenant', SYSTEM_TENANT_ID, '--role', 'owner'],
        '--tenant: tenant not',
        1,
      ],
      ['a tenant alone', [...ADA, '--tenant', of], '--tenant: add --role, one of owner', 2],
      ['a role alone', [...ADA, '--role', 'owner'], '--role: add --tenant', 2],
      [
        'another role',
        [...ADA, '--tenant', of, '--role', 'king'],
        '--role: must be one of owner, member, viewer',
        2,
      ],
      [
        'no password',
        [...ADA, '--password-stdin'],
        '--password-stdin: standard input is empty',
        1,
        '\n',
      ],
      [
        'two passwords',
        [...ADA, '--password-stdin'],
        '--password-stdin: must be one line',
        1,
        'a\nb',
      ],
      [
        'a short one',
        [...ADA, '--password-stdin'],
        '--password-stdin: must have at least',
        1,
        'abc',
      ],
      [
        'a common one',
        [...ADA, '--password-stdin'],
        '--password-stdin: is too common',
        1,
        'password1234',
      ],
    ]
    test.each(cases)('%s', async (_, argv, message, code, input = '') => {
      using fixture = await startFixture()
      const answer = await fixture.typed(input)('create', ...argv)
      expect({ code: answer.code, out: answer.out }).toEqual({ code, out: '' })
      expect(answer.err).toStartWith(message)
      expect(await fixture.list()).toEqual([])
    })
  })

  test('makes no data where a tenant is named that would have to be there', async () => {
    using folder = temporaryFolder()
    const part = ['--tenant', SYSTEM_TENANT_ID, '--role', 'owner']
    const { code, err } = await cli(folder.path)('operator', 'create', ...ADA, ...part)
    expect(code).toBe(1)
    expect(err).toContain('no data in')
    expect(existsSync(join(folder.path, 'data'))).toBe(false)
  })
})

describe('operator create for somebody who is there', () => {
  test('is a conflict, however the address is spelt', async () => {
    using fixture = await startFixture()
    await fixture.create()
    const { code, err } = await fixture.operator('create', '--email', 'ADA@example.com')
    expect(code).toBe(1)
    expect(err).toStartWith('--email: an operator already has this address')
    expect(await fixture.list()).toHaveLength(1)
  })

  test('gives them a tenant or the installation, and says what it leaves', async () => {
    using fixture = await startFixture()
    await fixture.create('--name', 'Ada')
    const part = ['--tenant', fixture.acme, '--role', 'member']

    const { out } = await fixture.create(...part, '--name', 'Eva')
    expect(out).toBe(
      'Updated operator ada@example.com. Access: Acme (member).\n' +
        'Ignored --name: only for new operators.\n' +
        SECURED,
    )
    const admin = (await fixture.create(...part, '--admin', '--json')).json()
    expect(admin).toMatchObject({ created: false, name: 'Ada', admin: true })
    expect(await fixture.list()).toMatchObject([{ name: 'Ada', tenants: [{ role: 'member' }] }])
  })

  test('is a conflict when they have all of it', async () => {
    using fixture = await startFixture()
    const all = ['--tenant', fixture.acme, '--role', 'member', '--admin']
    await fixture.create(...all)
    const rows = fixture.audited().length
    const { code, err } = await fixture.create(...all)
    expect({ code, err }).toEqual({
      code: 1,
      err: '--email: this operator already has that access\n',
    })
    expect(fixture.audited()).toHaveLength(rows)
  })

  test('gives them another role, unless the tenant would have no owner left', async () => {
    using fixture = await startFixture()
    const as = (role: string) => fixture.create('--tenant', fixture.acme, '--role', role)
    await as('viewer')
    expect((await as('owner')).out).toContain('Access: Acme (owner).')
    expect(await as('member')).toMatchObject({
      code: 1,
      err: '--role: this is the only owner who can sign in. Add another owner first\n',
    })
    expect(fixture.audited().map(({ action }) => action)).toEqual([
      'identity.created',
      'member.added',
      'identity.credentials_wiped',
      'member.changed',
    ])
  })
})

describe('operator list', () => {
  test('shows who runs what, in the order in which they came', async () => {
    using fixture = await startFixture()
    expect((await fixture.operator('list')).out).toBe('No operators yet.\n')
    await fixture.create('--tenant', fixture.acme, '--role', 'owner', '--admin', '--name', 'Ada')
    await fixture.operator('create', '--email', 'ben@example.com')
    const rows = (await fixture.operator('list')).out.split('\n').map((line) => line.split(/ {2,}/))
    const ada = 'ada@example.com'
    expect(rows).toEqual([
      ['ID', 'EMAIL', 'EMAIL STATUS', 'NAME', 'STATE', 'ACCESS'],
      [
        expect.any(String),
        ada,
        'not verified',
        'Ada',
        'active',
        'installation (admin), Acme (owner)',
      ],
      [expect.any(String), 'ben@example.com', 'not verified', '-', 'active', '-'],
      [''],
    ])
  })
})

describe('operator deactivate, reactivate, sign-out and take-admin', () => {
  test('take effect, are noted, and may be said twice', async () => {
    using fixture = await startFixture()
    await fixture.create()
    await fixture.operator('create', '--email', 'ben@example.com', '--admin')
    const verb = async (name: string, ...more: string[]) =>
      (await fixture.operator(name, '--email', 'ADA@example.com', ...more)).out
    expect(await verb('deactivate')).toBe(
      'ada@example.com (not verified) is deactivated and signed out everywhere.\n',
    )
    expect(JSON.parse(await verb('deactivate', '--json'))).toMatchObject({ state: 'inactive' })
    expect(await verb('reactivate')).toBe(
      `ada@example.com is active and can sign in again.\n${SECURED}`,
    )
    expect(await verb('sign-out')).toBe(
      'ada@example.com (not verified) is signed out everywhere.\n',
    )
    await fixture.create('--admin')
    expect(JSON.parse(await verb('take-admin', '--json'))).toMatchObject({ admin: false })
    expect(fixture.audited().map(({ action }) => action)).toEqual([
      'identity.created',
      'identity.created',
      'admin.added',
      'identity.state_changed',
      'identity.credentials_wiped',
      'identity.state_changed',
      'sessions.revoked',
      'identity.credentials_wiped',
      'admin.added',
      'admin.removed',
    ])
  })

  test.each(['deactivate', 'take-admin'])('%s leaves somebody who runs it all', async (name) => {
    using fixture = await startFixture()
    await fixture.create('--admin')
    const { code, err } = await fixture.operator(name, ...ADA)
    expect({ code, err }).toEqual({
      code: 1,
      err: '--email: this is the only admin of the installation. Make another operator an admin first\n',
    })
    expect(await fixture.list()).toMatchObject([{ state: 'active', admin: true }])
  })

  test.each(['deactivate', 'reactivate', 'sign-out', 'take-admin'])(
    '%s names nobody that is not there',
    async (name) => {
      using fixture = await startFixture()
      const { code, err } = await fixture.operator(name, ...ADA)
      expect({ code, err }).toEqual({
        code: 1,
        err: '--email: no operator has this address. See operator list\n',
      })
    },
  )

  test('ends the sessions of a running server', async () => {
    await using app = await bootTestApp(NOW)
    const operator = beside(app)
    const { headers } = await (await newOperator(app, { email: 'ada@example.com' })).signIn()
    const status = async () => (await app.raw('/console/account', { headers })).status
    expect(await status()).toBe(200)
    await operator('sign-out', ...ADA)
    expect(await status()).toBe(401)
  })
})

describe('operator login-link', () => {
  const AT = ['--server-base-url', 'https://example.com/gate/']

  test('leads to the page that signs them in, at the address that people use', async () => {
    using fixture = await startFixture()
    await fixture.create()

    const { code, err, json } = await fixture.link(...AT, '--json')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    const url = expect.stringMatching(/^https:\/\/example\.com\/gate\/console\/link\/[\w-]{40,}$/)
    expect(json()).toEqual({ url })
    expect((await fixture.link(...AT)).out).toMatch(
      /^https:\S+\/console\/link\/\S+\n\nThe link works once, for 10 minutes\.\nada@example\.com is not verified: using the link removes .*\n$/,
    )
    expect(fixture.audited().map(({ action }) => action)).toEqual([
      'identity.created',
      'login_link.created',
      'login_link.created',
    ])
  })

  test('without such an address leads to this machine, and says so where it spoils no output', async () => {
    using fixture = await startFixture()
    await fixture.create()
    const { out, err, json } = await fixture.link('--json')
    expect(json().url).toStartWith('http://127.0.0.1:8420/console/link/')
    expect(err).toStartWith('If your browser uses another address')
    expect(out).not.toContain('If your browser')
  })

  test('is of a running server, good once and for 10 minutes', async () => {
    await using app = await bootTestApp(NOW)
    const operator = beside(app)
    const { id } = (await operator('create', ...ADA)).json()
    const { db, clock, platform } = app
    const store = createOperatorStore(db)
    const links = createLinks({ db, clock, audit: platform.audit, store })
    const token = async () =>
      (await operator('login-link', ...ADA)).json().url.split('/').at(-1) as string
    const [first, second] = [await token(), await token()]

    expect((await db.commit(() => links.useSignIn(first))).operatorId).toBe(id)
    expect(links.peek(first)).toBeUndefined()
    expect(links.peek(second)?.operatorId).toBe(id)
    await clock.advance(11 * 60_000)
    expect(links.peek(second)).toBeUndefined()
  })

  test('is made for operators who may come in alone', async () => {
    await using app = await bootTestApp(NOW)
    const operator = beside(app)
    const refused = async () => {
      const { code, out, err } = await operator('login-link', ...ADA)
      expect({ code, out }).toEqual({ code: 1, out: '' })
      return JSON.parse(err).error
    }
    expect(await refused()).toStartWith('--email: no operator has this address')

    const { id } = (await operator('create', ...ADA)).json()
    const { people } = app.gate
    const ada = people.existing(SYSTEM_TENANT_ID, id)
    await app.db.commit(() => void people.change(ada, { kind: 'system' }, { state: 'inactive' }))
    expect(await refused()).toBe(
      '--email: this account is deactivated. Run operator reactivate first',
    )
  })

  test('makes nothing where there is no data', async () => {
    using folder = temporaryFolder()
    const { code, err } = await cli(folder.path)('operator', 'login-link', ...ADA)
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('no data in') })
    expect(existsSync(join(folder.path, 'data'))).toBe(false)
  })
})
