import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Change } from '../../src/manifest/changes.ts'
import { cli } from '../support/cli.ts'
import { temporaryFolder } from '../support/folder.ts'
import { ROOT } from '../support/source.ts'

const MANIFEST = `
[[jobs]]
name = "Report"
schedule = "0 3 * * *"
url = "https://example.com/report"
secret_headers = { authorization = "Bearer \${TOKEN}" }

[[keys]]
name = "Shop"
engines = ["relay"]
`

async function useFolder(outside: Parameters<typeof cli>[1] = {}) {
  const folder = temporaryFolder()
  const env = { TOKEN: 'job-secret' }
  const run = cli(folder.path, { env, ...outside })
  await run('tenant', 'create', '--name', 'Acme')
  const file = (name: string) => Bun.file(join(folder.path, name))
  await Bun.write(file('acme.toml'), MANIFEST)
  const apply = (...options: string[]) => run('apply', 'acme.toml', '--tenant', 'Acme', ...options)
  const tenants = async () => (await run('tenant', 'list', '--json')).json().tenants
  return {
    path: folder.path,
    run,
    apply,
    file,
    tenants,
    [Symbol.dispose]: () => folder[Symbol.dispose](),
  }
}

test('Shows a plan, applies it once, and shows secrets only then', async () => {
  using folder = await useFolder()
  const plan = await folder.apply('--plan')
  expect(plan).toMatchObject({ code: 0, err: '' })
  expect(plan.out).toContain('+ job Report\n    schedule: "0 3 * * *"\n')
  expect(plan.out).toContain('2 to create. Nothing has changed.')
  expect(plan.out).not.toContain('job-secret')
  const applied = await folder.apply()
  expect(applied.out).toContain('Applied: 2 created.')
  expect(applied.out).toMatch(/\n {2}key Shop: svc_relay_live_sk_\w+\n/)
  expect((await folder.apply()).out).toBe('No changes.\n')
  expect((await folder.apply('--json')).json()).toEqual({ applied: false, changes: [] })
})

test('Of two commands at once, one makes the changes and the other finds none', async () => {
  using folder = await useFolder()
  const [one, other] = await Promise.all([folder.apply(), folder.apply()])
  expect([one.out, other.out].toSorted()).toEqual([
    'No changes.\n',
    expect.stringContaining('Applied: 2 created.'),
  ])
})

test('Asks on a terminal, and changes nothing without a yes', async () => {
  let answer = 'no\n'
  const terminal = { isInTerminal: true, isOutTerminal: true, input: () => answer }
  using folder = await useFolder(terminal)
  expect(await folder.apply()).toMatchObject({
    code: 2,
    err: expect.stringContaining('Apply? [y/N]'),
  })
  expect((await folder.apply('--plan')).out).toContain('2 to create')
  answer = 'y\n'
  expect(await folder.apply()).toMatchObject({ code: 0 })
  expect((await folder.apply('--yes')).out).toBe('No changes.\n')
})

test('Creates a missing tenant only if asked, and only together with its configuration', async () => {
  using folder = await useFolder()
  const forNew = (...options: string[]) =>
    folder.run('apply', 'acme.toml', '--tenant', 'New', ...options)
  expect(await forNew()).toMatchObject({
    code: 1,
    err: '--tenant: no tenant has the ID or name New. See tenant list\n',
  })
  expect((await forNew('--create-tenant', '--plan')).out).toContain('+ tenant New\n+ job Report')
  await Bun.write(folder.file('acme.toml'), MANIFEST.replace('0 3', '61 3'))
  expect(await forNew('--create-tenant')).toMatchObject({
    code: 1,
    err: 'acme.toml:4: jobs.0.schedule: minute 61 is outside 0-59\n',
  })
  expect(await folder.tenants()).toHaveLength(1)
  await Bun.write(folder.file('acme.toml'), MANIFEST)
  const { changes } = (await forNew('--create-tenant', '--json')).json()
  expect(changes.map(({ kind }: Change) => kind)).toEqual(['tenant', 'job', 'key'])
  expect((await forNew('--create-tenant')).out).toBe('No changes.\n')
  expect((await forNew('--create-tenant', '--tenant', ' New ')).out).toBe('No changes.\n')
  expect(await folder.tenants()).toHaveLength(2)
})

test('Refuses a name that two tenants have, and finds each by its ID', async () => {
  using folder = await useFolder()
  const { id } = (await folder.run('tenant', 'create', '--name', 'Acme', '--json')).json()
  expect((await folder.apply()).err).toBe('--tenant: 2 tenants have this name: use an ID\n')
  expect((await folder.run('apply', 'acme.toml', '--tenant', id)).code).toBe(0)
})

test('The manifest of the documentation can be applied', async () => {
  const [, shown = ''] =
    /```toml\n([\s\S]+?)```/.exec(await Bun.file(join(ROOT, 'docs/manifest.md')).text()) ?? []
  const env = { REPORT_TOKEN: 'a', NTFY_TOKEN: 'tk_a' }
  using folder = await useFolder({ env })
  await Bun.write(folder.file('acme.toml'), shown)
  expect((await folder.apply()).out).toContain('Applied: 6 created, 6 updated.')
  expect((await folder.apply()).out).toBe('No changes.\n')
})

test('What is exported can be applied again, in TOML and JSON, from a file and standard input', async () => {
  using folder = await useFolder()
  await folder.apply()
  const out = await folder.run('export', '--as-code', '--tenant', 'Acme')
  expect(out.out).toContain('[[jobs]]\nname = "Report"\n')
  expect(out.out).toContain('authorization = "********"')
  await folder.run('export', '--as-code', '--tenant', 'Acme', '--to', 'acme.json')
  const again = await folder.run('apply', 'acme.json', '--tenant', 'Acme', '--prune')
  expect(again.out).toBe('No changes.\n')
  const piped = { input: out.out }
  expect((await cli(folder.path, piped)('apply', '-', '--tenant', 'Acme')).out).toBe(
    'No changes.\n',
  )
  await Bun.write(folder.file('acme.toml'), '[[jobs]]\nname = "Report"\nurl = "a')
  expect((await folder.apply()).err).toStartWith('acme.toml:3: not valid TOML')
})

test('An error quotes a file without what controls a terminal', async () => {
  using folder = await useFolder()
  await Bun.write(folder.file('acme.toml'), '"a\\u001b[2J" = 1\n')
  expect((await folder.apply()).err).toBe('acme.toml:1: a [2J: is not known here\n')
})
