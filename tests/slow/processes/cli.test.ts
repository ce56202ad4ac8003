import { expect, test } from 'bun:test'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { openSink } from '../../../src/cli/export-sink.ts'
import { firstSteps } from '../../../src/cli/first-steps.ts'
import { databaseFile } from '../../../src/db/open.ts'
import { openWorkFolder } from '../../../src/platform/backup/work-folder.ts'
import { thisProcess } from '../../../src/platform/process.ts'
import { BINARY, outcomeOf, type Server, until } from '../../support/binary.ts'
import { testIo } from '../../support/cli.ts'
import { testConfig } from '../../support/config.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { ROOT } from '../../support/source.ts'
import { canMount } from '../resilience/support/disk.ts'
import { openInstallation } from '../resilience/support/installation.ts'

const isLinux = process.platform === 'linux'

/** An installation with a tenant and an audit log of 3 MB. */
function openHome(stack: AsyncDisposableStack) {
  const installation = openInstallation(stack)
  const { cwd, dataDir } = installation
  const tenant = installation.newTenant()
  installation.change(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
    INSERT INTO audit_log (at, tenant_id, actor_kind, action, object, detail)
    SELECT i, '${tenant}', 'cli', 'a', 'b', '{"text":"${'x'.repeat(1000)}"}' FROM n`)

  /** Runs a script in which `"$@"` is a command of the executable. */
  const shell = (script: string, ...words: string[]) =>
    outcomeOf(
      Bun.spawn(['bash', '-c', script, 'bash', BINARY, ...words], {
        cwd,
        env: { PATH: process.env.PATH, GATEHOUSE_DATA_DIR: dataDir },
        stdio: ['ignore', 'pipe', 'pipe'],
      }),
    )
  return { ...installation, tenant, shell }
}

test.skipIf(!isLinux)(
  'Standard output without room on its disk fails the command; it may be closed early, unless an export is incomplete then',
  async () => {
    await using stack = new AsyncDisposableStack()
    const { shell, tenant } = openHome(stack)
    for (const words of [
      ['export', '--tenant', tenant],
      ['key', 'create', '--tenant', tenant, '--engine', 'gate'],
      ['--help'],
    ]) {
      const { code, err } = await shell('"$@" > /dev/full', ...words)
      expect([words[0], code]).toEqual([words[0], 1])
      expect(err).toContain('standard output: the disk is full')
      expect(err).not.toMatch(/Exported|entries/)
    }
    // Blocks of 1024 bytes: the second help has no room.
    const limited = `trap '' XFSZ; ulimit -f 8; for n in 1 2 3; do "$@" --help >> out || exit 1; done`
    const cut = await shell(limited)
    expect([cut.code, cut.err]).toEqual([1, expect.stringContaining('standard output: ')])

    const listed = await shell('set -o pipefail; "$@" | true', 'tenant', 'list')
    expect(listed).toMatchObject({ code: 0, err: '' })
    const script = 'set -o pipefail; "$@" | head -1 | wc -l'
    expect(await shell(script, 'audit', 'export')).toMatchObject({
      code: 1,
      out: '1\n',
      err: 'the output was closed before the export was complete\n',
    })
  },
  120_000,
)

test('The file of an export gets its name when it is complete, over no other file, and is not left half by Ctrl-C or a full disk', async () => {
  await using stack = new AsyncDisposableStack()
  const { cwd, shell } = openHome(stack)
  const to = join(cwd, 'logs')
  mkdirSync(to)
  const dead = { ...thisProcess('test'), pid: 2 ** 22 + 1 }
  const left = openWorkFolder({ parent: to, process: dead, now: Date.now() })
  writeFileSync(join(left.path, 'draft'), 'secret')
  const [file, other] = [join(to, 'log'), join(to, 'other')]
  {
    using sink = openSink(testIo(cwd), file)
    await sink.write('x'.repeat(200_000))
    expect(existsSync(file)).toBe(false)
    await sink.end()
    using late = openSink(testIo(cwd), other)
    writeFileSync(other, 'theirs')
    await expect(late.end()).rejects.toThrow('already exists and is not overwritten')
  }
  const sizes = [file, other].map((path) => readFileSync(path, 'utf8').length)
  expect(sizes).toEqual([200_000, 'theirs'.length])

  const script = `
    const { openSink } = await import('${ROOT}/src/cli/export-sink.ts')
    const sink = openSink({ out: () => {} }, '${to}/half')
    setImmediate(() => process.kill(process.pid, 'SIGINT'))
    for (;;) await sink.write('secret'.repeat(1000))`
  const interrupted = Bun.spawn([process.execPath, '-e', script], { cwd: ROOT })
  expect(await interrupted.exited).toBe(130)
  // Blocks of 1024 bytes: room for what SQLite needs, and less than the log.
  const limited = `trap '' XFSZ; ulimit -f 1024; exec "$@"`
  const full = await shell(limited, 'audit', 'export', '--to', 'logs')
  expect(full).toMatchObject({ code: 1, out: '' })
  expect(readdirSync(to).toSorted()).toEqual(['log', 'other'])
}, 120_000)

test.skipIf(!canMount)(
  'A read-only file system allows exports, which say that they are not audited',
  async () => {
    await using stack = new AsyncDisposableStack()
    const { dataDir, newClient, shell, tenant } = openHome(stack)
    newClient(tenant, 'relay')
    // Creates the master key.
    await shell('"$@"', 'export', '--tenant', tenant)
    const run = (...words: string[]) => {
      const mounted = 'mount --bind data data && mount -o remount,bind,ro data && exec "$@"'
      return shell(`exec unshare -m bash -c '${mounted}' bash "$@"`, ...words)
    }
    const state = () => [readdirSync(dataDir), Bun.hash(readFileSync(databaseFile(dataDir)))]
    const before = state()

    const { code, out, err } = await run('export', '--tenant', tenant)
    expect([code, out]).toEqual([0, expect.stringContaining('"Acme"')])
    expect(err).toContain('This export is not in the audit log: the database is read-only.')
    expect(err).toContain('Exported tenant Acme')
    const log = await run('audit', 'export')
    expect([log.code, log.out]).toEqual([0, expect.stringContaining('"action":"a"')])
    const refused = await run('tenant', 'create', '--name', 'B')
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('read-only')])
    expect(state()).toEqual(before)
  },
  120_000,
)

test.skipIf(process.getuid?.() !== 0)(
  'A data directory of another account is reported once, with its owner',
  async () => {
    await using stack = new AsyncDisposableStack()
    const { cwd, dataDir, shell } = openHome(stack)
    chmodSync(cwd, 0o777)
    chownSync(dataDir, 4711, 4711)
    const asNobody = (...words: string[]) =>
      shell('exec setpriv --reuid 65534 --clear-groups "$@"', ...words)
    const created = await asNobody('tenant', 'create', '--name', 'B')
    expect([created.code, created.err]).toEqual([1, expect.stringContaining("sudo -u '#4711'")])
    expect(created.err.split('gatehouse.db')).toHaveLength(2)
    const { code, out } = await asNobody('doctor')
    expect([code, out]).toEqual([1, expect.stringContaining("sudo -u '#4711'")])
    // A file system in memory is a warning.
    expect(out).toMatch(/\n1 problem(, 1 warning)?\n$/)
  },
  120_000,
)

test('The first steps run as shown, with data in any folder', async () => {
  using folder = temporaryFolder()
  const dataDir = join(folder.path, "o'ther place")
  const io = { ...testIo(folder.path), program: '"$@"' }
  const config = testConfig({ 'data-dir': dataDir })
  const text = firstSteps({ io, config, port: 8420, setUpToken: undefined, hasTenant: false })
  const type = (verb: string, id = '') => {
    const line = text.split('\n').find((line) => line.includes(verb)) ?? ''
    const script = `${line.replace('<the id it shows>', id)} --json`
    const shell = ['bash', '-c', script, 'bash', BINARY]
    return outcomeOf(Bun.spawn(shell, { cwd: folder.path, stdout: 'pipe', stderr: 'pipe' }))
  }
  const tenant = await type('tenant create')
  expect(tenant).toMatchObject({ code: 0, err: '' })
  expect(await type('key create', tenant.json().id)).toMatchObject({ code: 0, err: '' })
  expect(existsSync(databaseFile(dataDir))).toBe(true)
}, 120_000)

test('Each start has a new setup link until there is an admin; doctor finds a server while it runs and after it was killed', async () => {
  await using stack = new AsyncDisposableStack()
  const { here, serve } = openInstallation(stack)
  const LINK = /^ {2}http:\/\/127\.0\.0\.1:\d+(\/setup\/\S+)$/m
  const linkOf = ({ err }: Server) => LINK.exec(err())?.[1]
  const first = await serve()
  await until(() => linkOf(first) !== undefined, first.err)
  await first.terminate()
  const server = await serve()
  await until(() => linkOf(server) !== undefined, server.err)
  const links = [linkOf(first), linkOf(server)]
  const statuses = async () =>
    await Promise.all(links.map(async (link) => (await fetch(server.url + link)).status))
  expect([links[0] === links[1], await statuses()]).toEqual([false, [200, 200]])
  await here('operator', 'create', '--email', 'ada@example.com', '--admin')
  expect(await statuses()).toEqual([404, 404])
  await here('tenant', 'create', '--name', 'Acme')
  expect((await serve()).err()).toBe('')

  const finds = async (words: string) => (await here('doctor')).out.includes(words)
  await until(() => finds(`process ${server.pid}`), server.out)
  await server.kill()
  expect(await finds(`process ${server.pid}, last seen`)).toBe(true)
}, 120_000)

test('secrets rotate fails where something cannot be opened, and lists 20 rows of each table', async () => {
  await using stack = new AsyncDisposableStack()
  const { change, here, newTenant } = openInstallation(stack)
  const refused = await here('secrets', 'rotate')
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('no data in')])
  const tenant = newTenant()
  for (let n = 0; n < 25; n++)
    change(
      `INSERT INTO mails (id, tenant_id, kind, recipient_hash, body, state, tries, due_at, expires_at, created_at)
       VALUES (?, ?, 'test', '', 'not sealed', 'kept', 0, 0, 0, 0)`,
      ...[`m${n}`, n === 0 ? null : tenant],
    )
  const json = await here('secrets', 'rotate', '--json')
  const { code, out } = await here('secrets', 'rotate')
  expect([json.code, code]).toEqual([1, 1])
  const { from, to, unopenable_rows, ...rest } = json.json()
  expect(rest).toMatchObject({ resealed: {}, unopenable: { mails: 25 } })
  expect(unopenable_rows.mails).toHaveLength(20)
  expect(unopenable_rows.mails[0]).toEqual({ id: 'm0', tenant_id: null })
  expect(out).toContain(
    `some secrets cannot be decrypted, so the old key ${from} is kept beside ${to}.`,
  )
  expect(out).toMatch(new RegExp(`mails: 25\n  m0\\s*\n  m1 +tenant ${tenant}\n`))
})
