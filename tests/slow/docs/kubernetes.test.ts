import { expect, test } from 'bun:test'
import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { loadConfig } from '../../../src/config/index.ts'
import { databaseFile } from '../../../src/db/open.ts'
import { readMasterKey } from '../../../src/platform/sealing/key-file.ts'
import { bootTestApp } from '../../support/app.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { openPage } from '../../support/page.ts'
import { ROOT } from '../../support/source.ts'

/** The files for Kubernetes, without a cluster or Kustomize. */

const read = (name: string) => Bun.file(join(ROOT, 'docs/examples/kubernetes', name)).text()
// biome-ignore lint/suspicious/noExplicitAny: what has another shape fails the test
const parsed = async (name: string): Promise<any> => Bun.YAML.parse(await read(name))

type Named = { name: string }
const namesOf = (list: Named[]) => list.map(({ name }) => name)

const [base, overlay, set] = await Promise.all(
  ['base/kustomization.yaml', 'overlay/kustomization.yaml', 'base/statefulset.yaml'].map(parsed),
)
const pod = set.spec.template.spec
const [gatehouse] = pod.containers
const [prepare, restore, litestream] = pod.initContainers
const { text: page } = await openPage('deploy.md')

/** The variables that the overlay sets, and those of Secrets that the page names. */
const variables: Record<string, string> = Object.fromEntries([
  ...overlay.configMapGenerator
    .flatMap(({ literals }: { literals: string[] }) => literals)
    .map((literal: string) => literal.split(/=(.*)/)),
  ...[...page.matchAll(/`((?:GATEHOUSE|LITESTREAM)_\w*ACCESS_KEY\w*)`/g)].map(([, name]) => [
    name,
    'x',
  ]),
])

test('The settings are valid, and Litestream replicates this database and is asked on this socket', async () => {
  const dataDir = gatehouse.volumeMounts.find(({ name }: Named) => name === 'data').mountPath
  const toml = await read('base/gatehouse.toml')
  const env = { ...variables, GATEHOUSE_DATA_DIR: dataDir }
  const flags = { config: '/gatehouse.toml' }
  const loaded = loadConfig({ flags, env, cwd: '/', readFile: () => toml })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  const { replication, backup, warnings } = { ...loaded.config, ...loaded }
  expect([warnings, replication.acknowledge, backup.enabled]).toEqual([[], 'replicated', true])
  const yaml = await read('base/litestream.yml')
  expect(Bun.YAML.parse(yaml)).toMatchObject({
    socket: { enabled: true, path: replication.socket },
    dbs: [{ path: databaseFile(dataDir) }],
  })
  expect(restore.args[0]).toContain(`-if-db-not-exists -if-replica-exists ${databaseFile(dataDir)}`)
  for (const [, name = ''] of yaml.matchAll(/\$\{(\w+)\}/g)) expect(variables).toContainKey(name)
  for (const { volumeMounts } of [gatehouse, litestream])
    expect(volumeMounts).toContainEqual({ name: 'socket', mountPath: '/run/litestream' })
})

test('What is named exists: volumes, files, ConfigMaps, Secrets, ports, probes', async () => {
  const containers = [...pod.initContainers, gatehouse]
  const volumes = namesOf([...pod.volumes, set.spec.volumeClaimTemplates[0].metadata])
  for (const { volumeMounts } of containers)
    expect(volumes).toEqual(expect.arrayContaining(namesOf(volumeMounts)))
  const maps = namesOf(base.configMapGenerator)
  expect(maps).toEqual(expect.arrayContaining(namesOf(overlay.configMapGenerator)))
  const secrets = [...page.matchAll(/create secret generic (\S+)/g)].map(([, name]) => name)
  for (const { envFrom = [] } of containers)
    for (const { configMapRef, secretRef } of envFrom)
      expect(configMapRef ? maps : secrets).toContain((configMapRef ?? secretRef).name)
  for (const { configMap, secret } of pod.volumes) {
    if (configMap) expect(maps).toContain(configMap.name)
    if (secret) expect(secrets).toContain(secret.secretName)
  }
  const { spec: service, metadata } = await parsed('base/service.yaml')
  expect(set.spec.template.metadata.labels).toEqual(service.selector)
  expect(set.spec.selector.matchLabels).toEqual(service.selector)
  expect(set.spec.serviceName).toBe(metadata.name)
  expect(service.ports[0].targetPort).toBe(gatehouse.ports[0].name)
  const [rule] = (await parsed('overlay/ingress.yaml')).spec.rules
  const port = { name: service.ports[0].name }
  expect(rule.http.paths[0].backend.service).toEqual({ name: metadata.name, port })
  expect(variables.GATEHOUSE_SERVER_BASE_URL).toBe(`https://${rule.host}`)
  await using app = await bootTestApp()
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
    const { path, port } = gatehouse[probe].httpGet
    expect([port, (await app.raw(path)).status]).toEqual([gatehouse.ports[0].name, 200])
  }
})

test('One pod runs as the user of the image, without rights, and Litestream stops after Gatehouse', async () => {
  const dockerfile = await Bun.file(join(ROOT, 'Dockerfile')).text()
  const user = Number(/^USER (\d+)/m.exec(dockerfile)?.[1])
  expect(pod.securityContext).toMatchObject({
    ...{ runAsNonRoot: true, runAsUser: user, runAsGroup: user, fsGroup: user },
    fsGroupChangePolicy: 'OnRootMismatch',
  })
  for (const { securityContext, resources } of [...pod.initContainers, gatehouse]) {
    expect(securityContext).toEqual({
      ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true },
      capabilities: { drop: ['ALL'] },
    })
    expect(resources).toMatchObject({ requests: {}, limits: {} })
  }
  expect(gatehouse.ports[0].containerPort).toBe(Number(/^EXPOSE (\d+)/m.exec(dockerfile)?.[1]))
  expect(gatehouse.image.split(':')[0]).toBe(overlay.images[0].name)
  expect([set.spec.replicas, pod.enableServiceLinks]).toEqual([1, false])
  // A sidecar: Kubernetes starts it before the containers and stops it after them.
  expect(litestream.restartPolicy).toBe('Always')
  // 28 seconds for Gatehouse, 30 for Litestream.
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(58)
})

test('The component for two pods gives each its data, expects one that is never ready, and hands over before it is killed', async () => {
  const [component, pair] = await Promise.all(
    ['pair/kustomization.yaml', 'pair/pair.yaml'].map(parsed),
  )
  const { spec } = pair.spec.template
  const [patched] = spec.containers
  expect(component.patches).toEqual([{ path: 'pair.yaml' }])
  expect([pair.metadata.name, patched.name]).toEqual([set.metadata.name, gatehouse.name])
  expect(pair.spec).toMatchObject({ replicas: 2, podManagementPolicy: 'Parallel' })
  expect(pair.spec.updateStrategy.type).toBe('OnDelete')
  // 28 seconds for Gatehouse, 30 for Litestream, 10 for the lease.
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(68)
  const isDeleted = (one: { $patch?: string }) => one.$patch === 'delete'
  const deleted = namesOf(spec.initContainers.filter(isDeleted))
  expect(deleted).toEqual(namesOf([restore, litestream]))
  expect(namesOf(spec.volumes.filter(isDeleted))).toEqual(['socket'])

  const [copying] = spec.initContainers.filter((one: object) => !isDeleted(one))
  const [mount, unmount] = patched.volumeMounts
  expect(copying.securityContext).toEqual(gatehouse.securityContext)
  expect(copying.volumeMounts[0]).toMatchObject({ name: mount.name, mountPath: mount.mountPath })
  expect(gatehouse.volumeMounts).toContainEqual({ name: 'socket', mountPath: unmount.mountPath })
  const toml = await read('base/gatehouse.toml')
  const [, to = ''] = /- (GATEHOUSE_REPLICATION_TO=\S+)/.exec(page) ?? []
  const literals: string[] = [...component.configMapGenerator[0].literals, to]
  const more = Object.fromEntries(literals.map((literal) => literal.split(/=(.*)/)))
  const secret = { GATEHOUSE_REPLICATION_PASSPHRASE: 'x' }
  const env = { ...variables, ...more, ...secret, GATEHOUSE_DATA_DIR: '/data' }
  const flags = { config: '/gatehouse.toml' }
  const loaded = loadConfig({ flags, env, cwd: '/', readFile: () => toml })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.errors))
  expect([loaded.warnings, loaded.config.replication.role]).toEqual([[], 'auto'])
  expect(loaded.config.replication.litestream).toBe(copying.command.at(-1))
})

test('A new volume gets the master key of the Secret, and keeps the key that it has', async () => {
  using folder = temporaryFolder()
  const secret = join(folder.path, 'secret')
  const data = join(folder.path, 'data')
  mkdirSync(secret)
  const script = prepare.args[0]
    .replaceAll('/volume', folder.path)
    .replaceAll('/master-key', secret)
  const run = () => expect(Bun.spawnSync(['sh', '-ec', script]).exitCode).toBe(0)
  const put = async () => {
    const key = crypto.getRandomValues(Buffer.alloc(32)).toString('base64')
    const [, format = ''] = /printf '(\S+:%s)\\n'/.exec(page) ?? []
    await Bun.write(join(secret, 'master.key'), `${format.replace('%s', key)}\n`)
    run()
    return readMasterKey(data)?.id
  }
  run()
  expect(readMasterKey(data)).toBeUndefined()
  const first = await put()
  expect(first).toBeString()
  expect(await put()).toBe(first)
  expect(statSync(data).mode & 0o777).toBe(0o700)
  expect(statSync(join(data, 'master.key')).mode & 0o777).toBe(0o600)
})
