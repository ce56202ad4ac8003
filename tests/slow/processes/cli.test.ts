import { describe, expect, test } from 'bun:test'
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
import { until } from '../../support/binary.ts'
import { cli, testIo } from '../../support/cli.ts'
import { testConfig } from '../../support/config.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { freePort } from '../../support/port.ts'
import { collect } from '../../support/shown.ts'
import { outcomeOf, PROGRAM, ROOT, runProgram } from '../../support/source.ts'

const isRoot = process.getuid?.() === 0
const isLinux = process.platform === 'linux'

/** A tenant, and shell scripts in which `"$@"` is the program. */
async function newHome() {
  const folder = temporaryFolder()
  const run = (...args: string[]) => runProgram({ cwd: folder.path, args })
  const { id } = (await run('tenant', 'create', '--name', 'Acme', '--json')).json()
  const shell = (script: string, ...words: string[]) =>
    outcomeOf(
      Bun.spawn(['bash', '-c', script, 'bash', ...PROGRAM, ...words], {
        cwd: folder.path,
        env: process.env,
        stdout: 'pipe',
        stderr: 'pipe',
      }),
    )
  return {
    path: folder.path,
    dataDir: join(folder.path, 'data'),
    tenant: id as string,
    run,
    shell,
    /** Adds a log of about 3 MB. */
    async addLongLog() {
      const db = openDatabase({ dataDir: join(folder.path, 'data'), synchronous: 'normal' })
      const audit = createAudit({ db, clock: systemClock })
      const entry = { tenantId: 'acme', actor: { kind: 'cli' }, action: 'a', object: 'b' } as const
      await db.commit(() => {
        const detail = { text: 'x'.repeat(1000) }
        for (let n = 0; n < 3000; n++) audit.record({ ...entry, detail })
      })
      db.close()
    },
    [Symbol.dispose]: folder[Symbol.dispose],
  }
}

describe('standard output', () => {
  test.skipIf(!isLinux)('without room on its disk fails the command', async () => {
    using home = await newHome()
    for (const words of [
      ['export', '--tenant', home.tenant],
      ['audit', 'export'],
      ['key', 'create', '--tenant', home.tenant, '--engine', 'gate'],
      ['tenant', 'list', '--json'],
      ['--help'],
    ]) {
      const { code, err } = await home.shell('"$@" > /dev/full', ...words)
      expect([words[0], code]).toEqual([words[0], 1])
      expect(err).toContain('standard output: the disk is full')
      expect(err).not.toMatch(/Exported|entries/)
    }
    const { err } = await home.shell('"$@" > /dev/full', 'tenant', 'list')
    expect(err).toBe('standard output: the disk is full\n')

    // Blocks of 1024 bytes: the second help has no room.
    const limited = `trap '' XFSZ; ulimit -f 8; for n in 1 2 3; do "$@" --help >> out || exit 1; done`
    const cut = await home.shell(limited)
    expect([cut.code, cut.err]).toEqual([1, expect.stringContaining('standard output: ')])
  })

  test('may be closed early, unless an export is incomplete then', async () => {
    using home = await newHome()
    await home.addLongLog()
    const listed = await home.shell('set -o pipefail; "$@" | true', 'tenant', 'list')
    expect(listed).toMatchObject({ code: 0, err: '' })
    const script = 'set -o pipefail; "$@" | head -1 | wc -l'
    expect(await home.shell(script, 'audit', 'export')).toMatchObject({
      code: 1,
      out: '1\n',
      err: 'the output was closed before the export was complete\n',
    })
  })
})

describe('the file of an export', () => {
  const io = testIo(ROOT)

  test('gets its name when it is complete, and its folder holds nothing else', async () => {
    using folder = temporaryFolder()
    const file = join(folder.path, 'log')
    const dead = { ...thisProcess('test'), pid: 2 ** 22 + 1 }
    const left = openWorkFolder({ parent: folder.path, process: dead, now: Date.now() })
    writeFileSync(join(left.path, 'draft'), 'secret')
    {
      using sink = openSink(io, file)
      await sink.write('x'.repeat(200_000))
      expect(existsSync(file)).toBe(false)
      await sink.write('end')
      await sink.end()
      expect(sink.target).toEqual({ file })
    }
    expect(readFileSync(file, 'utf8')).toBe(`${'x'.repeat(200_000)}end`)
    expect(readdirSync(folder.path)).toEqual(['log'])
  })

  test('is not written over a file of another process', async () => {
    using folder = temporaryFolder()
    const file = join(folder.path, 'log')
    {
      using sink = openSink(io, file)
      writeFileSync(file, 'theirs')
      await expect(sink.end()).rejects.toThrow('already exists and is not overwritten')
    }
    expect(readFileSync(file, 'utf8')).toBe('theirs')
    expect(readdirSync(folder.path)).toEqual(['log'])
  })

  test('is not left half by Ctrl-C or a full disk', async () => {
    using home = await newHome()
    await home.addLongLog()
    const to = join(home.path, 'logs')
    mkdirSync(to)
    const script = `
      const { openSink } = await import('${ROOT}/src/cli/export-sink.ts')
      const sink = openSink({ out: () => {} }, '${to}/log')
      setImmediate(() => process.kill(process.pid, 'SIGINT'))
      for (;;) await sink.write('secret'.repeat(1000))
    `
    const interrupted = Bun.spawn([process.execPath, '-e', script], { cwd: ROOT })
    expect(await interrupted.exited).toBe(130)
    // Blocks of 1024 bytes: room for what SQLite needs, and less than the log.
    const limited = `trap '' XFSZ; ulimit -f 1024; exec "$@"`
    const full = await home.shell(limited, 'audit', 'export', '--to', 'logs')
    expect(full).toMatchObject({ code: 1, out: '' })
    expect(readdirSync(to)).toEqual([])
  })
})

const canMount =
  isLinux && Bun.spawnSync(['unshare', '-m', 'mount', '--bind', '/tmp', '/tmp']).exitCode === 0

test.skipIf(!canMount)(
  'a read-only file system allows exports, which say that they are not audited',
  async () => {
    using home = await newHome()
    await home.run('key', 'create', '--tenant', home.tenant, '--engine', 'relay')
    // Creates the master key.
    await home.run('export', '--tenant', home.tenant)
    mkdirSync(join(home.path, 'out'))
    const run = (...words: string[]) => {
      const mounted =
        'mount --bind data data && mount -o remount,bind,ro data && cd out && exec "$@" --data-dir ../data'
      const script = `export -n NODE_ENV; exec unshare -m bash -c '${mounted}' bash "$@"`
      return home.shell(script, ...words)
    }
    const state = () => [
      readdirSync(home.dataDir),
      Bun.hash(readFileSync(databaseFile(home.dataDir))),
    ]
    const before = state()

    const exported = await run('export', '--tenant', home.tenant)
    expect([exported.code, exported.out]).toEqual([0, expect.stringContaining('"Acme"')])
    expect(exported.err).toContain(
      'This export is not in the audit log: the database is read-only.',
    )
    expect(exported.err).toContain('Exported tenant Acme')
    const filed = await run('export', '--tenant', home.tenant, '--to', '.', '--json')
    expect(filed.json()).toMatchObject({ counts: { tenant: 1, api_key: 1 } })
    expect(readdirSync(join(home.path, 'out'))).toHaveLength(1)
    const log = await run('audit', 'export')
    expect([log.code, log.out]).toEqual([0, expect.stringContaining('"action":"tenant.created"')])
    const refused = await run('tenant', 'create', '--name', 'B')
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('read-only')])
    expect(state()).toEqual(before)
  },
)

test.skipIf(!isRoot)(
  'a data directory of another account is reported once, with its owner',
  async () => {
    using home = await newHome()
    const cwd = join(home.path, 'home')
    mkdirSync(cwd)
    for (const path of [home.path, cwd]) chmodSync(path, 0o777)
    chownSync(home.dataDir, 4711, 4711)
    const account = ['setpriv', '--reuid', '65534', '--clear-groups']
    const asNobody = (...words: string[]) =>
      outcomeOf(
        Bun.spawn([...account, ...PROGRAM, ...words, '--data-dir', home.dataDir], {
          cwd,
          stdout: 'pipe',
          stderr: 'pipe',
        }),
      )
    for (const words of [
      ['tenant', 'list'],
      ['tenant', 'create', '--name', 'B'],
    ]) {
      const { code, err } = await asNobody(...words)
      expect([code, err]).toEqual([1, expect.stringContaining("sudo -u '#4711'")])
      expect(err.split('gatehouse.db')).toHaveLength(2)
    }
    const { code, out } = await asNobody('doctor')
    expect([code, out]).toEqual([1, expect.stringContaining("sudo -u '#4711'")])
    // A file system in memory is a warning.
    expect(out).toMatch(/\n1 problem(, 1 warning)?\n$/)
  },
)

describe('the first steps', () => {
  test.each(['data', 'elsewhere', "o'ther place"])(
    'run as shown, with data in %p',
    async (name) => {
      using folder = temporaryFolder()
      const dataDir = join(folder.path, name)
      const io = { ...testIo(folder.path), program: '"$@"' }
      const config = testConfig({ 'data-dir': dataDir })
      const text = firstSteps({ io, config, port: 8420, setUpToken: undefined, hasTenant: false })
      const type = (verb: string, id = '') => {
        const line = text.split('\n').find((line) => line.includes(verb)) ?? ''
        const script = `${line.replace('<the id it shows>', id)} --json`
        const shell = ['bash', '-c', script, 'bash', ...PROGRAM]
        return outcomeOf(Bun.spawn(shell, { cwd: folder.path, stdout: 'pipe', stderr: 'pipe' }))
      }

      const tenant = await type('tenant create')
      expect(tenant).toMatchObject({ code: 0, err: '' })
      expect(await type('key create', tenant.json().id)).toMatchObject({ code: 0, err: '' })
      expect(existsSync(databaseFile(dataDir))).toBe(true)
    },
  )

  test('have a new setup link at each start; all are valid until there is an admin', async () => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, 'data')
    const LINK = /^ {2}http:\/\/127\.0\.0\.1:\d+\/setup\/(\S+)$/m

    /** What a server says on standard error until it shows something, and is ended then. */
    async function start(shows: RegExp): Promise<string> {
      const args = ['serve', '--server-port', '0', '--data-dir', dataDir]
      const stdio = ['ignore', 'pipe', 'pipe'] as const
      const child = Bun.spawn([...PROGRAM, ...args], {
        cwd: folder.path,
        env: {},
        stdio: [...stdio],
      })
      const [out, err] = [collect(child.stdout), collect(child.stderr)]
      const isUp = () => out.text.includes('listening') && shows.test(err.text)
      await until(
        () => isUp() || child.exitCode !== null,
        () => out.text + err.text,
      ).finally(() => child.kill('SIGTERM'))
      expect([await child.exited, isUp()]).toEqual([0, true])
      return err.text
    }
    const areValid = (tokens: string[]) => {
      const db = openDatabase({ dataDir, synchronous: 'normal' })
      const parts = { db, clock: systemClock, store: createOperatorStore(db) }
      const links = createLinks({ ...parts, audit: createAudit(parts) })
      const found = tokens.map((token) => links.peek(token) !== undefined)
      db.close()
      return found
    }

    const tokens = [await start(LINK), await start(LINK)].map((text) => LINK.exec(text)?.[1] ?? '')
    expect(new Set(tokens).size).toBe(2)
    expect(areValid(tokens)).toEqual([true, true])
    const gatehouse = cli(folder.path)
    await gatehouse('operator', 'create', '--email', 'ada@example.com', '--admin')
    expect(areValid(tokens)).toEqual([false, false])
    expect(await start(/tenant create/)).not.toContain('/setup/')
    await gatehouse('tenant', 'create', '--name', 'Acme')
    expect(await start(/^/)).toBe('')
  }, 60_000)
})

test('doctor finds a server while it runs and after it was killed', async () => {
  using home = await newHome()
  const gatehouse = cli(home.path)
  async function found(check: string, ...argv: string[]): Promise<string[]> {
    const { findings } = (await gatehouse('doctor', '--json', ...argv)).json()
    const ofCheck = findings.filter((finding: { check: string }) => finding.check === check)
    return ofCheck.map((of: { result: string; message: string }) => `${of.result}: ${of.message}`)
  }
  const [port, other] = [`${freePort()}`, `${freePort()}`]
  const args = ['serve', '--server-port', port, '--data-dir', home.dataDir]
  const server = Bun.spawn([...PROGRAM, ...args], { stdio: ['ignore', 'ignore', 'ignore'] })
  try {
    const isUp = async () => `${await found('server')}`.includes(`process ${server.pid}`)
    await until(isUp, () => `exit code ${server.exitCode}`)
    const url = `http://127.0.0.1:${port}`
    const reached = [`ok: ${url} reaches Gatehouse`]
    expect(await found('base_url', '--server-base-url', url)).toEqual(reached)
    expect(await found('base_url', '--server-port', port)).toEqual(reached)
    const elsewhere = expect.stringContaining('warning: a server is running, but not at')
    expect(await found('base_url', '--server-port', other)).toEqual([elsewhere])
  } finally {
    server.kill('SIGKILL')
    await server.exited
  }
  const killed = expect.stringContaining(`process ${server.pid}, last seen`)
  expect(await found('server')).toEqual(['ok: not running', killed])
})
