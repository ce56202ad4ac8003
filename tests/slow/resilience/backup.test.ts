import { beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { compileBinary, until } from '../../support/binary.ts'
import { MESSAGES, message } from './support/api.ts'
import { openInstallation } from './support/installation.ts'
import { slowestMs, startLoad } from './support/load.ts'
import { messagesAt, openRelay } from './support/relay.ts'

beforeAll(compileBinary, 120_000)

describe('A backup', () => {
  test('under load delays no request and has everything that was acknowledged before it', async () => {
    await using stack = new AsyncDisposableStack()
    const { installation, server, relay } = await openRelay(stack)
    const filling = 'x'.repeat(1000)
    const load = startLoad(48, (n) => relay.ask(server, 'POST', MESSAGES, message(n, filling)))
    await until(() => load.calls.length >= 3000)

    const ways = [
      { archive: 'one.tar.gz', command: '"$GATEHOUSE" backup --to one.tar.gz' },
      { archive: 'piped.tar.gz', command: '"$GATEHOUSE" backup --to - | cat > piped.tar.gz' },
    ]
    const made: { archive: string; before: string[] }[] = []
    for (const { archive, command } of ways) {
      const before = load.ids()
      const begunAt = performance.now()
      expect(await installation.inShell(command)).toBe(0)
      const meanwhile = load.calls.filter(({ answeredAt }) => answeredAt > begunAt)
      expect(meanwhile.length).toBeGreaterThan(0)
      expect(slowestMs(meanwhile)).toBeLessThan(3000)
      made.push({ archive, before })
    }
    await load.stop()
    expect(load.broken).toEqual([])
    expect(load.refused()).toEqual([])

    const sent = new Set(load.ids())
    for (const { archive, before } of made) {
      const copy = openInstallation(stack)
      await copy.done('restore', join(installation.cwd, archive))
      expect(await copy.problems()).toEqual([])
      const found = new Set(await messagesAt(await copy.serve(), relay))
      expect(before.filter((id) => !found.has(id))).toEqual([])
      expect([...found].filter((id) => !sent.has(id))).toEqual([])
    }
  }, 300_000)

  test('of the schedule is made at the start if it is due, replaces the last one and survives SIGTERM and a kill', async () => {
    await using stack = new AsyncDisposableStack()
    const settings = {
      GATEHOUSE_BACKUP_ENABLED: 'true',
      GATEHOUSE_BACKUP_EVERY: '1m',
      GATEHOUSE_BACKUP_KEEP: '1',
    }
    const { installation, server, relay } = await openRelay(stack, { settings })
    const directory = join(installation.dataDir, 'backups')
    const named = (prefix: string) => readdirSync(directory).filter((it) => it.startsWith(prefix))
    const archives = () => named('gatehouse-')
    const inWork = () => named('.gatehouse-work-')
    const good = () =>
      installation.rows("SELECT 1 FROM backups WHERE origin = 'schedule' AND bytes IS NOT NULL")
        .length
    const letAMinutePass = () =>
      installation.change(
        'UPDATE backups SET started_at = started_at - 61000, ended_at = ended_at - 61000',
      )
    await until(() => good() === 1, server.out)
    const [oldest] = archives()
    const ours = 'gatehouse-2026-01-01T00-00-00Z.tar.gz'
    await installation.done('backup', '--to', join(directory, ours))
    const load = startLoad(32, (n) => relay.ask(server, 'POST', MESSAGES, message(n)))
    await until(() => load.calls.length > 1500)
    await load.stop()
    expect(await server.terminate()).toBe(0)

    letAMinutePass()
    const second = await installation.serve()
    await until(() => inWork().length > 0, second.out)
    expect(await second.terminate()).toBe(0)

    expect(good()).toBe(2)
    expect(inWork()).toEqual([])
    expect(archives()).toHaveLength(2)
    expect(archives()).toContain(ours)
    expect(archives()).not.toContain(oldest)

    letAMinutePass()
    const killed = await installation.serve()
    await until(() => inWork().length > 0, killed.out)
    await killed.kill()
    const next = await installation.serve()
    // The orphaned file of the killed process counts, or the next process makes another.
    await until(() => good() === 3 && inWork().length === 0, next.out)
    expect(await next.terminate()).toBe(0)
    for (const archive of archives())
      await installation.done('backup', 'check', join(directory, archive))
    expect(await installation.problems()).toEqual([])
  }, 300_000)
})
