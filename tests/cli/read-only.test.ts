import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { databaseFile } from '../../src/db/open.ts'
import { temporaryFolder } from '../support/folder.ts'
import { outcomeOf, runSource, SOURCE } from '../support/source.ts'

const canMount =
  process.platform === 'linux' &&
  Bun.spawnSync(['unshare', '-m', 'mount', '--bind', '/tmp', '/tmp']).exitCode === 0

/** A tenant in a data directory, and commands for which its file system is read-only. */
async function startWorld() {
  const folder = temporaryFolder()
  const dataDir = join(folder.path, 'data')
  // By processes of their own: nothing is left open that would write to the files afterwards.
  const write = async (...args: string[]) => {
    const outcome = await runSource({ cwd: folder.path, args })
    expect(outcome).toMatchObject({ code: 0 })
    return outcome
  }
  const { json } = await write('tenant', 'create', '--name', 'Acme', '--json')
  const tenant: string = json().id
  await write('key', 'create', '--tenant', tenant, '--engine', 'relay')
  // Makes the master key.
  await write('export', '--tenant', tenant)
  const out = join(folder.path, 'out')
  mkdirSync(out)
  const run = (...words: string[]) => {
    const script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
    const mounted = ['unshare', '-m', 'sh', '-c', script, 'sh', dataDir, ...SOURCE, ...words]
    return outcomeOf(Bun.spawn(mounted, { cwd: out, env: {}, stdout: 'pipe', stderr: 'pipe' }))
  }
  const state = () => [
    readdirSync(dataDir),
    createHash('sha256')
      .update(readFileSync(databaseFile(dataDir)))
      .digest('hex'),
  ]
  return {
    tenant,
    out,
    state,
    run: (...words: string[]) => run(...words, '--data-dir', dataDir),
    [Symbol.dispose]: folder[Symbol.dispose],
  }
}

describe.skipIf(!canMount)('on a file system that is read-only', () => {
  test('a tenant can be taken away; that this is not in the audit log is told', async () => {
    using world = await startWorld()
    const before = world.state()
    const { code, out, err } = await world.run('export', '--tenant', world.tenant)
    expect(code).toBe(0)
    expect(out).toContain('"Acme"')
    expect(err).toContain('This export is not in the audit log: the database is read-only.')
    expect(err).toContain('Exported tenant Acme')
    const to = await world.run('export', '--tenant', world.tenant, '--to', '.', '--json')
    expect(to.json()).toMatchObject({ counts: { tenant: 1, api_key: 1 } })
    expect(readdirSync(world.out)).toHaveLength(1)
    expect(world.state()).toEqual(before)
  })

  test('the audit log can be exported; what writes is refused', async () => {
    using world = await startWorld()
    const { code, out } = await world.run('audit', 'export')
    expect(code).toBe(0)
    expect(out).toContain('"action":"tenant.created"')
    expect(await world.run('tenant', 'create', '--name', 'B')).toMatchObject({
      code: 1,
      err: expect.stringContaining('read-only'),
    })
  })
})
