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
async function startFixture() {
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
    using fixture = await startFixture()
    const before = fixture.state()
    const { code, out, err } = await fixture.run('export', '--tenant', fixture.tenant)
    expect(code).toBe(0)
    expect(out).toContain('"Acme"')
    expect(err).toContain('This export is not in the audit log: the database is read-only.')
    expect(err).toContain('Exported tenant Acme')
    const to = await fixture.run('export', '--tenant', fixture.tenant, '--to', '.', '--json')
    expect(to.json()).toMatchObject({ counts: { tenant: 1, api_key: 1 } })
    expect(readdirSync(fixture.out)).toHaveLength(1)
    expect(fixture.state()).toEqual(before)
  })

  test('the audit log can be exported; what writes is refused', async () => {
    using fixture = await startFixture()
    const { code, out } = await fixture.run('audit', 'export')
    expect(code).toBe(0)
    expect(out).toContain('"action":"tenant.created"')
    expect(await fixture.run('tenant', 'create', '--name', 'B')).toMatchObject({
      code: 1,
      err: expect.stringContaining('read-only'),
    })
  })
})
