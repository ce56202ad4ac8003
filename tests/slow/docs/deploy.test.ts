import { expect, test } from 'bun:test'
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { EXIT } from '../../../src/cli/command.ts'
import { loadConfig } from '../../../src/config/index.ts'
import { testConfig } from '../../support/config.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { openPage } from '../../support/page.ts'
import { ROOT } from '../../support/source.ts'

const read = (path: string) => Bun.file(join(ROOT, path)).text()
const example = (name: string) => read(`docs/examples/${name}`)

/** `35s` as 35. */
const seconds = (text = ''): number => Number(/^(\d+)s$/.exec(text)?.[1])

/** The settings of a container without a file. Fails if they are invalid. */
function configOf(env: Record<string, string> = {}) {
  const readFile = (path: string) => {
    throw Object.assign(new Error(`no file ${path}`), { code: 'ENOENT' })
  }
  const loaded = loadConfig({ flags: {}, env, cwd: '/nowhere', readFile })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  expect(loaded.warnings).toEqual([])
  return loaded.config
}

/** Work under way has 25 seconds at a stop, and 3 more when it is cut short. */
const MAX_STOP_SECONDS = 28
/** Litestream uploads the rest for so long at a stop. */
const MAX_UPLOAD_SECONDS = 30
/** After this time, Gatehouse closes an idle connection. */
const IDLE_SECONDS = 30
/** A server of two then gives up its lease. */
const MAX_RELEASE_SECONDS = testConfig().replication.ttlMs / 1000
const MAX_HANDOVER_SECONDS = MAX_STOP_SECONDS + MAX_UPLOAD_SECONDS + MAX_RELEASE_SECONDS
const MAX_WAIT_SECONDS = 25

test('The systemd unit starts, stops and isolates the server as the page says', async () => {
  const unit = await read('docs/gatehouse.service')
  const page = await read('docs/deploy.md')
  const value = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1]
  const config = '--config /etc/gatehouse/gatehouse.toml'
  for (const [name, wanted] of [
    ['ExecStart', `/usr/local/bin/gatehouse serve ${config}`],
    ['KillSignal', 'SIGTERM'],
    ['Restart', 'on-failure'],
    ['RestartPreventExitStatus', `${EXIT.config}`],
    // The JavaScript engine compiles.
    ['MemoryDenyWriteExecute', undefined],
    ['StateDirectory', 'gatehouse'],
    ['StateDirectoryMode', '0700'],
    ['UMask', '0077'],
  ] as const)
    expect([name, value(name)]).toEqual([name, wanted])
  expect(Number(value('TimeoutStopSec'))).toBeGreaterThan(MAX_STOP_SECONDS)
  expect(page).toContain('data_dir = "/var/lib/gatehouse"')

  const [, script = ''] = /sed '([^']+)'/.exec(page) ?? []
  const two = `${Bun.spawnSync(['sed', script, join(ROOT, 'docs/gatehouse.service')]).stdout}`
  expect(two).toContain('serve --server-port %i --server-drain 6s --config /etc')
  expect(two).toContain('TimeoutStopSec=45')
})

test('The unit of one of two servers signals only Gatehouse, waits for the handover, and can be that of a standby', async () => {
  const dropIn = await example('gatehouse-pair.conf')
  const value = (text: string, name: string) => new RegExp(`^${name}=(.+)$`, 'm').exec(text)?.[1]
  expect(value(dropIn, 'KillMode')).toBe('mixed')
  expect(Number(value(dropIn, 'TimeoutStopSec'))).toBeGreaterThan(MAX_HANDOVER_SECONDS)
  const ofStandby = dropIn.replaceAll(/^#(?=ExecStart)/gm, '')
  const single = value(await read('docs/gatehouse.service'), 'ExecStart')
  expect(ofStandby).toContain('\nExecStart=\n')
  expect(value(ofStandby, 'ExecStart')?.replace(' --standby', '')).toBe(single)
})

test('The compose files are short, valid, and run the image as its own user; all YAML can be parsed', async () => {
  const dockerfile = await read('Dockerfile')
  const user = /^USER (\d+)/m.exec(dockerfile)?.[1]
  expect(dockerfile).toContain('GATEHOUSE_DATA_DIR=/data')
  const first = await read('compose.example.yaml')
  expect(first.trimEnd().split('\n').length).toBeLessThanOrEqual(20)
  const others = ['compose.caddy.yaml', 'compose.litestream.yaml', 'compose.replicated.yaml']
  for (const text of [first, ...(await Promise.all(others.map(example)))]) {
    // biome-ignore lint/suspicious/noExplicitAny: what has another shape fails the test
    const { gatehouse } = (Bun.YAML.parse(text) as any).services
    expect([gatehouse.user, gatehouse.volumes[0]]).toEqual([`${user}:${user}`, './data:/data'])
    expect(seconds(gatehouse.stop_grace_period)).toBeGreaterThan(MAX_STOP_SECONDS)
    configOf(gatehouse.environment)
  }
  const names = readdirSync(join(ROOT, 'docs/examples'), { encoding: 'utf8', recursive: true })
  for (const name of names.filter((name) => /\.ya?ml$/.test(name)))
    expect(Bun.YAML.parse(await example(name))).toBeObject()
  for (const name of ['deploy', 'proxies', 'litestream', 'upgrade', 'security'])
    for (const block of (await openPage(`${name}.md`)).blocks('yaml'))
      expect(Bun.YAML.parse(block)).toBeObject()
})

test('Litestream runs as the user of Gatehouse, shares its socket and stops after it', async () => {
  const socket = '/run/litestream/litestream.sock'
  const unit = await example('litestream.service.conf')
  const user = /^User=.*$/m.exec(await read('docs/gatehouse.service'))?.[0] ?? ''
  for (const line of [user, 'Before=gatehouse.service', 'RuntimeDirectory=litestream'])
    expect(unit.split('\n')).toContain(line)
  expect(Number(/^TimeoutStopSec=(.*)$/m.exec(unit)?.[1])).toBeGreaterThan(MAX_UPLOAD_SECONDS)
  const commented = (await example('litestream.yml')).replaceAll(/^# ( *\w+:)/gm, '$1')
  expect(Bun.YAML.parse(commented)).toMatchObject({ socket: { enabled: true, path: socket } })
  expect(await read('docs/litestream.md')).toContain(`socket = "${socket}"`)
})

test('In the compose file with object storage, buckets, regions and sockets agree, and Litestream stops after Gatehouse', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: what has another shape fails the test
  const { services } = Bun.YAML.parse(await example('compose.replicated.yaml')) as any
  const { gatehouse, litestream, restore, garage } = services
  // biome-ignore lint/suspicious/noExplicitAny: the same
  const { socket } = Bun.YAML.parse(await example('kubernetes/base/litestream.yml')) as any
  expect(gatehouse.environment.GATEHOUSE_REPLICATION_SOCKET).toBe(socket.path)
  expect(gatehouse.depends_on).toEqual({ litestream: { condition: 'service_started' } })
  expect(litestream.user).toBe(gatehouse.user)
  for (const volume of gatehouse.volumes) expect(litestream.volumes).toContain(volume)
  expect(seconds(litestream.stop_grace_period)).toBeGreaterThan(MAX_UPLOAD_SECONDS)
  expect(restore.command[0]).toContain('-if-db-not-exists -if-replica-exists /data/gatehouse.db')
  const { GARAGE_DEFAULT_BUCKET: bucket } = garage.environment
  expect(litestream.environment.LITESTREAM_REPLICA_URL).toStartWith(`s3://${bucket}/`)
  const [, backups = ''] = /bucket create (\S+)/.exec(await read('docs/deploy.md')) ?? []
  expect(gatehouse.environment.GATEHOUSE_BACKUP_TO).toStartWith(`s3://${backups}/`)
  expect(Bun.TOML.parse(await example('garage.toml'))).toMatchObject({
    ...{ metadata_fsync: true, data_fsync: true },
    s3_api: { s3_region: litestream.environment.LITESTREAM_REGION },
  })
})

test('In the compose file of two servers, each has its data, and their bucket, proxy and times to stop agree', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: what has another shape fails the test
  const { services, networks } = Bun.YAML.parse(await example('compose.pair.yaml')) as any
  const { one, two, objects, caddy } = services
  const [, folder = ''] = / objects\/(\S+) one two$/m.exec(await read('docs/deploy.md')) ?? []
  for (const server of [one, two]) {
    const { replication } = configOf(server.environment)
    expect([replication.role, replication.to]).toEqual(['auto', `s3://${folder}/pair`])
    expect(seconds(server.stop_grace_period)).toBeGreaterThan(MAX_HANDOVER_SECONDS)
  }
  expect([one, two].map(({ hostname, volumes }) => [hostname, volumes])).toEqual([
    ['one', ['./one:/data']],
    ['two', ['./two:/data']],
  ])
  expect([one.command, two.command]).toEqual([undefined, ['serve', '--standby']])
  expect(objects.environment.ROOT_ACCESS_KEY).toBe(one.environment.GATEHOUSE_S3_ACCESS_KEY_ID)
  expect(caddy.environment.UPSTREAMS).toBe('one:8420 two:8420')
  const [{ subnet }] = networks.default.ipam.config
  expect(one.environment.GATEHOUSE_SERVER_TRUSTED_PROXIES).toBe(subnet)
})

test('The proxies of two servers ask which one is active, and keep metrics inside', async () => {
  const [caddy, haproxy] = await Promise.all(['Caddyfile.pair', 'haproxy.pair.cfg'].map(example))
  const { port } = testConfig().server
  for (const text of [caddy, haproxy]) {
    expect(text).toContain('/readyz')
    for (const host of ['10.0.0.1', '10.0.0.2']) expect(text).toContain(`${host}:${port}`)
    const kept = /(?:keepalive|pool-purge-delay) (\d+s)\b/.exec(text ?? '')?.[1]
    expect(seconds(kept)).toBeLessThan(IDLE_SECONDS)
  }
  expect(caddy).toContain('@metrics path /metrics /metrics/\n\trespond @metrics 404\n')
  expect(haproxy).toContain('return status 404 if { path /metrics /metrics/ }')
  const wait = /timeout server (\d+s)/.exec(haproxy ?? '')?.[1]
  expect(seconds(wait)).toBeGreaterThan(MAX_WAIT_SECONDS)
})

test('The proxies use the default port, close connections before Gatehouse does, keep metrics inside and allow what Gatehouse allows', async () => {
  const names = ['Caddyfile', 'Caddyfile.two', 'nginx.conf', 'traefik-dynamic.yaml']
  const proxies = await Promise.all(names.map(example))
  const [caddy, caddies, nginx, traefik] = proxies as [string, string, string, string]
  const { port, maxBodyBytes } = testConfig().server
  for (const text of proxies) {
    const ports = [...text.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, found]) => Number(found))
    expect(ports[0]).toBe(port)
    expect(ports.filter((found) => found !== port && found !== port + 1)).toEqual([])
    const kept = /(?:keepalive|keepalive_timeout|idleConnTimeout:) (\d+s)\b/.exec(text)?.[1]
    expect(seconds(kept)).toBeLessThan(IDLE_SECONDS)
  }

  const METRICS = ['/metrics', '/metrics/']
  const metrics = await read('docs/metrics.md')
  for (const text of [nginx, metrics]) {
    const rule = new RegExp(/location ~ (\S+) \{\s*return 404;/.exec(text)?.[1] ?? '^$')
    for (const path of [...METRICS, '/x\\..\\metrics']) expect(path).toMatch(rule)
    for (const path of ['/', '/v1/metrics', '/metrics-of-mine']) expect(path).not.toMatch(rule)
  }
  for (const text of [caddy, caddies, metrics]) {
    const [, name, paths = ''] = /(@\w+) path (.+)/.exec(text) ?? []
    expect(paths.split(' ')).toEqual(METRICS)
    expect(text).toContain(`respond ${name} 404`)
  }
  const rule = METRICS.map((path) => `!Path(\`${path}\`)`).join(' && ')
  for (const text of [traefik, await read('docs/proxies.md')])
    expect(text).toContain(`Host(\`gatehouse.example.org\`) && ${rule}\n`)
  for (const text of [caddies, traefik]) expect(text).toContain('/readyz')
  const megabytes = Number(/client_max_body_size (\d+)m;/.exec(nginx)?.[1])
  expect(megabytes * 1024 * 1024).toBeGreaterThan(maxBodyBytes)
  expect(seconds(/proxy_read_timeout (\d+s);/.exec(nginx)?.[1])).toBeGreaterThan(MAX_WAIT_SECONDS)
})

test('Going back to an older version moves the log with its database', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  mkdirSync(data)
  const kept = ['gatehouse.db', 'gatehouse.db-shm', 'gatehouse.db-wal']
  for (const name of [...kept, 'master.key']) await Bun.write(join(data, name), name)
  const [, page = ''] = (await read('docs/upgrade.md')).split('## Go back')
  const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(page) ?? []
  // The other lines need an account, a service and a copy.
  const moving = block.split('\n').filter((line) => /\b(mv|rm|install -d)\b/.test(line))
  const script = moving
    .join('\n')
    .replaceAll('sudo ', '')
    .replaceAll('/var/lib/gatehouse', data)
    .replaceAll('/root', folder.path)
  expect(Bun.spawnSync(['sh', '-e', '-c', script]).exitCode).toBe(0)
  expect(readdirSync(data)).toEqual(['master.key'])
  expect(readdirSync(join(folder.path, 'after-upgrade')).toSorted()).toEqual(kept)
})

test('The page on upgrades explains messages that the program has', async () => {
  const sources = ['src/db/migrate.ts', 'src/db/errors.ts', 'src/cli/open.ts']
  const source = (await Promise.all(sources.map(read)))
    .join('\n')
    .replaceAll(/\$\{[^}]+\}/g, '…')
    .replaceAll(/\\?`/g, '')
  const [, page = ''] = (await read('docs/upgrade.md')).split('## When it fails')
  const quoted = [...page.matchAll(/^\| `([^`]+)`/gm), ...page.matchAll(/refuse: `([^`]+)`/g)]
  expect(quoted).toHaveLength(5)
  for (const [, message = ''] of quoted) expect(source).toContain(message)
})
