import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { firstSteps } from '../../src/cli/first-steps.ts'
import { createLinks } from '../../src/console/operators/links.ts'
import { createOperatorStore } from '../../src/console/operators/store/index.ts'
import { databaseFile, openDatabase } from '../../src/db/open.ts'
import { createAudit } from '../../src/platform/audit/index.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { until } from '../support/binary.ts'
import { cli, testIo } from '../support/cli.ts'
import { testConfig } from '../support/config.ts'
import { temporaryFolder } from '../support/folder.ts'
import { collect } from '../support/shown.ts'
import { outcomeOf, SOURCE } from '../support/source.ts'

interface Shown {
  isWatched?: boolean
  uid?: number | undefined
  setUpToken?: string | undefined
  hasTenant?: boolean
  flags?: Record<string, string>
}

const shown = ({ isWatched = true, flags, ...given }: Shown = {}) =>
  firstSteps({
    io: testIo('/', { isWatched }),
    config: testConfig(flags),
    port: 8420,
    uid: 0,
    setUpToken: 'TOKEN',
    hasTenant: false,
    ...given,
  })

test('in the log of a service the first steps say as whom they are taken', () => {
  expect(shown({ isWatched: false, uid: 998 })).toContain(
    "\n(as the server's account, uid 998: with sudo -u '#998', or in its container)\n\n  gatehouse",
  )
})

test('at a terminal, as root, or where there are no accounts, there is nothing to say of it', () => {
  for (const of of [
    { isWatched: true, uid: 998 },
    { isWatched: false, uid: 0 },
    { isWatched: false, uid: undefined },
  ])
    expect(shown(of)).not.toContain('(as')
})

describe('what is to be typed next works as it is shown', () => {
  test.each(['data', 'elsewhere', "o'ther place"])('with the data in %p', async (name) => {
    using folder = temporaryFolder()
    const dataDir = join(folder.path, name)
    const io = { ...testIo(folder.path), program: '"$@"' }
    const config = testConfig({ 'data-dir': dataDir })
    const text = firstSteps({ io, config, port: 8420, setUpToken: undefined, hasTenant: false })
    const typed = async (verb: string, id = '') => {
      const line = text.split('\n').find((line) => line.includes(verb)) ?? ''
      const words = line.replace('<the id it shows>', id)
      const script = ['bash', '-c', `${words} --json`, 'bash', ...SOURCE]
      const child = Bun.spawn(script, { cwd: folder.path, stdout: 'pipe', stderr: 'pipe' })
      return outcomeOf(child)
    }

    const tenant = await typed('tenant create')
    expect(tenant).toMatchObject({ code: 0, err: '' })
    expect(await typed('key create', tenant.json().id)).toMatchObject({ code: 0, err: '' })
    expect(existsSync(databaseFile(dataDir))).toBe(true)
  })
})
describe('the link to set up', () => {
  test('stands alone in its line, with how long it is good', () => {
    expect(shown()).toContain(
      'works once, for 30 minutes.\n\n  http://127.0.0.1:8420/setup/TOKEN\n',
    )
  })

  test('leads to the address that people use, with its path', () => {
    const text = shown({ flags: { 'server-base-url': 'https://example.com/gate/' } })
    expect(text).toContain('\n  https://example.com/gate/setup/TOKEN\n')
    expect(text).not.toContain('another address')
  })

  test('says what to do elsewhere where nobody has named that address', () => {
    expect(shown({ flags: { 'server-host': '0.0.0.0' } })).toContain(
      'uses another address, replace\nhttp://127.0.0.1:8420 with it. To change it permanently, set [server] base_url',
    )
  })

  test('is shown beside tenants too, and then with how to make an operator by command', () => {
    const text = shown({ hasTenant: true })
    expect(text).toContain('/setup/TOKEN\n')
    expect(text).toContain('gatehouse operator create --data-dir /nowhere/data --admin --email')
    expect(text).not.toContain('tenant create')
  })
})

test('without a browser there are commands up to the first job, also once there is an operator', () => {
  for (const setUpToken of ['TOKEN', undefined]) {
    const text = shown({ setUpToken })
    expect(text).toContain('gatehouse tenant create --data-dir /nowhere/data --name Acme\n')
    expect(text).toContain('curl http://127.0.0.1:8420/v1/clockwork/jobs')
  }
  expect(shown({ setUpToken: undefined })).not.toContain('/setup/')
})

test('there is nothing to say once somebody has set it up and there is a tenant', () => {
  expect(shown({ setUpToken: undefined, hasTenant: true })).toBe('')
})

const ROOT = join(import.meta.dir, '..', '..')

/** What a server says on standard error from its start to its end, which comes once it has shown that. */
async function saidAtStart(dataDir: string, shows: RegExp): Promise<string> {
  const args = ['src/main.ts', 'serve', '--server-port', '0', '--data-dir', dataDir]
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: ROOT,
    env: {},
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
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

test('each start makes another link, and the one before stays good, until there is an admin', async () => {
  using folder = temporaryFolder()
  const LINK = /^ {2}http:\/\/127\.0\.0\.1:\d+\/setup\/(\S+)$/m
  const tokenIn = (text: string) => LINK.exec(text)?.[1] ?? ''
  const dataDir = join(folder.path, 'data')
  const start = () => saidAtStart(dataDir, LINK)
  const tokens = [tokenIn(await start()), tokenIn(await start())]
  const areGood = () => {
    const db = openDatabase({ dataDir, synchronous: 'normal' })
    const parts = { db, clock: systemClock, store: createOperatorStore(db) }
    const links = createLinks({ ...parts, audit: createAudit(parts) })
    const found = tokens.map((token) => links.peek(token) !== undefined)
    db.close()
    return found
  }

  expect(new Set(tokens).size).toBe(2)
  expect(areGood()).toEqual([true, true])

  const gatehouse = cli(folder.path)
  await gatehouse('operator', 'create', '--email', 'ada@example.com', '--admin')
  expect(areGood()).toEqual([false, false])
  const later = await saidAtStart(dataDir, /tenant create/)
  expect(later).not.toContain('/setup/')
  await gatehouse('tenant', 'create', '--name', 'Acme')
  expect(await saidAtStart(dataDir, /^/)).toBe('')
}, 60_000)
