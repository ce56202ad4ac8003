import { expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { until } from '../../support/binary.ts'
import { openInstallation } from './support/installation.ts'

test('A scheduled backup is made at the start if due, finishes at SIGTERM, is repeated after a kill, and replaces no other archive', async () => {
  await using stack = new AsyncDisposableStack()
  const settings = {
    GATEHOUSE_BACKUP_ENABLED: 'true',
    GATEHOUSE_BACKUP_EVERY: '1m',
    GATEHOUSE_BACKUP_KEEP: '1',
  }
  const installation = openInstallation(stack, { settings })
  installation.newTenant()
  // Bytes that take a while to compress.
  installation.change('CREATE TABLE large AS SELECT randomblob(20000000)')
  const directory = join(installation.dataDir, 'backups')
  const named = (prefix: string) =>
    existsSync(directory) ? readdirSync(directory).filter((it) => it.startsWith(prefix)) : []
  const archives = () => named('gatehouse-')
  const isInWork = () => named('.gatehouse-work-').length > 0
  const good = () =>
    installation.rows("SELECT 1 FROM backups WHERE origin = 'schedule' AND bytes IS NOT NULL")
      .length
  const letAMinutePass = () =>
    installation.change(
      'UPDATE backups SET started_at = started_at - 61000, ended_at = ended_at - 61000',
    )

  const first = await installation.serve()
  await until(isInWork, first.out)
  expect(await first.terminate()).toBe(0)
  expect([good(), isInWork(), archives().length]).toEqual([1, false, 1])
  const [oldest] = archives()
  const ours = 'gatehouse-2026-01-01T00-00-00Z.tar.gz'
  await installation.done('backup', '--to', join(directory, ours))

  letAMinutePass()
  const killed = await installation.serve()
  await until(isInWork, killed.out)
  // Its child outlives it, and is slower than the next backup.
  const child = Number(named('.gatehouse-work-')[0]?.split('-')[3])
  process.kill(child, 'SIGSTOP')
  await killed.kill()
  const next = await installation.serve()
  await until(() => good() === 2, next.out)
  process.kill(child, 'SIGCONT')
  await until(() => !isInWork(), next.out)
  expect(await next.terminate()).toBe(0)
  expect(archives()).toHaveLength(2)
  expect(archives()).toContain(ours)
  expect(archives()).not.toContain(oldest)
  for (const archive of archives())
    await installation.done('backup', 'check', join(directory, archive))
}, 300_000)
