import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { BINARY } from '../../support/binary.ts'
import { installLitestream } from '../../support/fake-litestream.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { openPage } from '../../support/page.ts'
import { startS3Server } from '../../support/s3-server.ts'
import { ROOT } from '../../support/source.ts'
import { type Member, openMember } from '../resilience/support/pair.ts'

const page = await openPage('failover.md')
const dropIn = await Bun.file(join(ROOT, 'docs/examples/gatehouse-pair.conf')).text()

/** What the unit of the second machine adds to `serve`. */
const [, STANDBY = ''] = /^#ExecStart=\S+ serve (\S+) --config/m.exec(dropIn) ?? []

/** Without times and how far a standby is behind. */
const shapeOf = (text: string) =>
  text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>')
    .replaceAll(/[\d.]+(?= s behind)/g, '<n>')
    .trim()

/** Two machines with the configuration of the page. */
async function openMachines(stack: AsyncDisposableStack) {
  const { path: cwd } = stack.use(temporaryFolder())
  const s3 = stack.use(startS3Server({ bucket: 'my-bucket' }))
  const settings = join(cwd, 'gatehouse.toml')
  const toml = page.block('toml', 'role = "auto"').replaceAll('/etc/gatehouse', cwd)
  await Bun.write(settings, toml)
  await Bun.write(join(cwd, 's3.secret'), 'unused')
  const member = (name: string) =>
    openMember(stack, {
      ...{ cwd, name, s3 },
      given: {
        ...s3.envOf(name),
        GATEHOUSE_CONFIG: settings,
        GATEHOUSE_REPLICATION_LITESTREAM: installLitestream(cwd),
      },
    })

  /** Runs a script of the page, on the data directory `place`. */
  function bash(script: string, place = '') {
    const commands = script.replaceAll('sudo ', '').replaceAll('/var/lib/gatehouse', place)
    const text = `gatehouse() { "${BINARY}" "$@"; }\n${commands}`
    expect(Bun.spawnSync(['sh', '-ec', text], { cwd }).exitCode).toBe(0)
  }

  const changeFolder = (from: string, to: string) => Bun.write(settings, toml.replace(from, to))
  return { cwd, bash, one: member('one'), two: member('two'), changeFolder }
}

const tenantsOf = async (member: Member): Promise<string[]> =>
  (await member.run('tenant', 'list', '--json'))
    .json()
    .tenants.map(({ name }: { name: string }) => name)

test('Two servers are set up, one steps down for the other, and a backup is restored on both', async () => {
  await using stack = new AsyncDisposableStack()
  const { cwd, bash, one, two, changeFolder } = await openMachines(stack)
  const [keygen = ''] = page.block('sh', 'backup keygen').split('\n')
  bash(keygen)
  one.start()
  await one.becomes('ready')
  two.start(STANDBY)
  await two.isReady()
  const [line = '', ...shown] = page.block('console', 'replication status').split('\n')
  const { out } = await two.run(...line.split(' ').slice(2))
  expect(shapeOf(out)).toBe(shapeOf(shown.join('\n')))

  await one.run('tenant', 'create', '--name', 'Acme')
  const archive = join(cwd, 'backup.tar.gz')
  expect(await one.run('backup', '--to', archive)).toMatchObject({ code: 0 })
  await one.run('tenant', 'create', '--name', 'Later')
  expect(await one.run('replication', 'step-down')).toMatchObject({ code: 0 })
  await two.becomes('ready')
  expect(await tenantsOf(two)).toEqual(['Acme', 'Later'])

  await one.terminate()
  await two.terminate()
  const [, folder = ''] = /such as `(s3:\S+)`/.exec(page.text) ?? []
  await changeFolder('s3://my-bucket/gatehouse', folder)
  for (const { dataDir } of [one, two]) bash(page.block('sh', 'rm -rf'), dataDir)
  expect(await one.run('restore', archive)).toMatchObject({ code: 0 })
  one.start()
  await one.becomes('ready')
  bash('rm -f /var/lib/gatehouse/gatehouse.db*', two.dataDir)
  two.start(STANDBY)
  await two.isReady()
  expect(await tenantsOf(one)).toEqual(['Acme'])
}, 60_000)

test('The messages that troubleshooting explains are those of the program', async () => {
  const all = new Bun.Glob('src/**/*.ts')
  const files = await Array.fromAsync(all.scan({ cwd: ROOT, absolute: true }))
  const texts = await Promise.all(files.map((file) => Bun.file(file).text()))
  const source = texts.join('\n').replaceAll(/\$\{[^}]+\}/g, '…')
  const [, section = ''] = (await openPage('troubleshooting.md')).text.split('\n## Two servers\n')
  const [table = ''] = section.split('\n## ')
  const messages = [...table.matchAll(/^\| `([^|]+)` +\|/gm)].flatMap(([, cell = '']) =>
    cell.split('`, `'),
  )
  expect(messages.length).toBeGreaterThan(10)
  expect(messages.filter((message) => !source.includes(message))).toEqual([])
})
