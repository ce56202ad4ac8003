import { expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSink } from '../../src/cli/export-sink.ts'
import { openDatabase } from '../../src/db/open.ts'
import { createAudit } from '../../src/platform/audit/index.ts'
import { openWorkFolder } from '../../src/platform/backup/work-folder.ts'
import { thisProcess } from '../../src/platform/process.ts'
import { testIo } from '../support/cli.ts'
import { createTestClock } from '../support/clock.ts'
import { temporaryFolder } from '../support/folder.ts'
import { MAIN, outcomeOf, ROOT } from '../support/source.ts'

const SINK = join(ROOT, 'src', 'cli', 'export-sink.ts')

const io = testIo(ROOT)

/** Of a shell script that finds paths in its environment. */
const outcome = (script: string, env: Record<string, string> = {}) =>
  outcomeOf(
    Bun.spawn(['bash', '-c', script], {
      cwd: ROOT,
      env: { ...process.env, BUN: process.execPath, MAIN, ...env },
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )

/** A data directory with a long audit log. */
async function longLog(dataDir: string) {
  const { code } = await outcome('"$BUN" "$MAIN" tenant create --name Acme --data-dir "$DATA"', {
    DATA: dataDir,
  })
  expect(code).toBe(0)
  const db = openDatabase({ dataDir, synchronous: 'normal' })
  const audit = createAudit({ db, clock: createTestClock('2026-03-01T00:00:00.000Z') })
  const detail = { text: 'x'.repeat(1000) }
  await db.commit(() => {
    for (let n = 0; n < 3000; n++)
      audit.record({ tenantId: 'acme', actor: { kind: 'cli' }, action: 'a', object: 'b', detail })
  })
  db.close()
}

test('a file has its name once all of it is there, and its folder has nothing else then', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'log')
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

test('of two that write the same file at once, one is refused', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'log')
  {
    using sink = openSink(io, file)
    writeFileSync(file, 'of the other one')
    await expect(sink.end()).rejects.toThrow('already exists and is not overwritten')
  }
  expect(readFileSync(file, 'utf8')).toBe('of the other one')
  expect(readdirSync(folder.path)).toEqual(['log'])
})

test('what a killed process has left keeps nobody from writing, and goes', async () => {
  using folder = temporaryFolder()
  const dead = { ...thisProcess('test'), pid: 2 ** 22 + 1 }
  const left = openWorkFolder({ parent: folder.path, process: dead, now: Date.now() })
  writeFileSync(join(left.path, 'draft'), 'secret')
  {
    using sink = openSink(io, join(folder.path, 'log'))
    await sink.end()
  }
  expect(readdirSync(folder.path)).toEqual(['log'])
})

test('Ctrl-C ends it at once, and leaves nothing of it', async () => {
  using folder = temporaryFolder()
  const program = `
    const { openSink } = await import(process.env.SINK)
    const sink = openSink({ out: () => {} }, process.env.FILE)
    setImmediate(() => process.kill(process.pid, 'SIGINT'))
    for (;;) await sink.write('secret'.repeat(1000))
  `
  const env = { SINK, FILE: join(folder.path, 'log'), PROGRAM: program }
  expect(await outcome('exec "$BUN" -e "$PROGRAM"', env)).toMatchObject({ code: 130 })
  expect(readdirSync(folder.path)).toEqual([])
})

test('an audit log that the disk has no room for is no file, and exit 1', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  await longLog(data)
  const to = join(folder.path, 'logs')
  mkdirSync(to)
  // Blocks of 1024 bytes: room for what SQLite needs, and less than the log.
  const script = `trap '' XFSZ; ulimit -f 1024; exec "$BUN" "$MAIN" audit export --data-dir "$DATA" --to "$TO"`
  const { code, out } = await outcome(script, { DATA: data, TO: to })
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(readdirSync(to)).toEqual([])
})

test('an audit log that its reader has not read to the end is not said to be exported', async () => {
  using folder = temporaryFolder()
  await longLog(folder.path)
  const script = `"$BUN" "$MAIN" audit export --data-dir "$DATA" | head -1 | wc -l; exit "\${PIPESTATUS[0]}"`
  expect(await outcome(script, { DATA: folder.path })).toMatchObject({
    code: 1,
    out: '1\n',
    err: 'the output was closed before the export was complete\n',
  })
})
