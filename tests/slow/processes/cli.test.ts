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
import { createLinks } from '../../../src/console/operators/links.ts'
import { createOperatorStore } from '../../../src/console/operators/store/index.ts'
import { databaseFile, openDatabase } from '../../../src/db/open.ts'
import { createAudit } from '../../../src/platform/audit/index.ts'
import { openWorkFolder } from '../../../src/platform/backup/work-folder.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { thisProcess } from '../../../src/platform/process.ts'
import { BINARY, outcomeOf, until } from '../../support/binary.ts'
import { testIo } from '../../support/cli.ts'
import { testConfig } from '../../support/config.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { freePort } from '../../support/port.ts'
import { ROOT } from '../../support/source.ts'
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
    await sink.write('end')
    await sink.end()
    expect(sink.target).toEqual({ file })
  }
  expect(readFileSync(file, 'utf8')).toBe(`${'x'.repeat(200_000)}end`)
  {
    using sink = openSink(testIo(cwd), other)
    writeFileSync(other, 'theirs')
    await expect(sink.end()).rejects.toThrow('already exists and is not overwritten')
  }
  expect(readFileSync(other, 'utf8')).toBe('theirs')

  const script = `
    const { openSink } = await import('${ROOT}/src/cli/export-sink.ts')
    const sink = openSink({ out: () => {} }, '${to}/half')
    setImmediate(() => process.kill(process.pid, 'SIGINT'))
    for (;;) await sink.write('secret'.repeat(1000))
  `
  const interrupted = Bun.spawn([process.execPath, '-e', script], { cwd: ROOT })
  expect(await interrupted.exited).toBe(130)
  // Blocks of 1024 bytes: room for what SQLite needs, and less than the log.
  const limited = `trap '' XFSZ; ulimit -f 1024; exec "$@"`
  const full = await shell(limited, 'audit', 'export', '--to', 'logs')
  expect(full).toMatchObject({ code: 1, out: '' })
  expect(readdirSync(to).toSorted()).toEqual(['log', 'other'])
}, 120_000)

const canMount =
  isLinux && Bun.spawnSync(['unshare', '-m', 'mount', '--bind', '/tmp', '/tmp']).exitCode === 0

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
  const { dataDir, here, serve } = openInstallation(stack)
  const LINK = /^ {2}http:\/\/127\.0\.0\.1:\d+\/setup\/(\S+)$/m
  const areValid = (tokens: string[]) => {
    const db = openDatabase({ dataDir, synchronous: 'normal' })
    const parts = { db, clock: systemClock, store: createOperatorStore(db) }
    const links = createLinks({ ...parts, audit: createAudit(parts) })
    const found = tokens.map((token) => links.peek(token) !== undefined)
    db.close()
    return found
  }
  const tokens: string[] = []
  for (let n = 0; n < 2; n++) {
    const server = await serve()
    await until(() => LINK.test(server.err()), server.err)
    tokens.push(LINK.exec(server.err())?.[1] ?? '')
    await server.terminate()
  }
  expect(new Set(tokens).size).toBe(2)
  expect(areValid(tokens)).toEqual([true, true])
  await here('operator', 'create', '--email', 'ada@example.com', '--admin')
  expect(areValid(tokens)).toEqual([false, false])
  await here('tenant', 'create', '--name', 'Acme')

  async function found(check: string, ...argv: string[]): Promise<string[]> {
    const { findings } = (await here('doctor', '--json', ...argv)).json()
    const ofCheck = findings.filter((finding: { check: string }) => finding.check === check)
    return ofCheck.map((of: { result: string; message: string }) => `${of.result}: ${of.message}`)
  }
  const server = await serve()
  expect(server.err()).toBe('')
  await until(async () => `${await found('server')}`.includes(`process ${server.pid}`), server.out)
  const { port } = new URL(server.url)
  const reached = [`ok: ${server.url} reaches Gatehouse`]
  expect(await found('base_url', '--server-base-url', server.url)).toEqual(reached)
  expect(await found('base_url', '--server-port', port)).toEqual(reached)
  const elsewhere = expect.stringContaining('warning: a server is running, but not at')
  expect(await found('base_url', '--server-port', `${freePort()}`)).toEqual([elsewhere])
  await server.kill()
  const killed = expect.stringContaining(`process ${server.pid}, last seen`)
  expect(await found('server')).toEqual(['ok: not running', killed])
}, 120_000)
