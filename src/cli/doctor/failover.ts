import { join } from 'node:path'
import type { Config } from '../../config/index.ts'
import { listSetAside, pairFolder, readServerState } from '../../failover/data-directory.ts'
import { requireLitestream } from '../../failover/litestream.ts'
import { isoTime, systemClock } from '../../platform/clock.ts'
import { MINUTE_MS } from '../../platform/durations.ts'
import type { Lease } from '../../platform/replication/lease.ts'
import {
  openSharedFolder,
  reasonAgainst,
  type SharedFolder,
} from '../../platform/replication/pair.ts'
import { requireAtomicWrites } from '../../platform/replication/probe.ts'
import type { Report } from '../../platform/replication/reports.ts'
import { canSeal, createSealedKey, keyIdIn } from '../../platform/replication/sealed-key.ts'
import { type LeaseState, leaseState } from '../replication/shared.ts'
import { examined, type Finding, ok, problem, warning } from './finding.ts'
import { confirmation } from './replica.ts'

/** The newest version that Gatehouse was tested with. */
const NEWEST_TESTED = '0.5.18'
/** Object storage refuses requests of a clock that is off by 15 minutes. */
const MAX_SKEW_MS = 5 * MINUTE_MS

/** Whether servers that share a folder in object storage could take over from each other. */
export async function failover(config: Config): Promise<Finding[]> {
  if (config.replication.role === 'single') return []
  const folder = openSharedFolder(config)
  const found = await Promise.all([
    examined('shared folder', () => sharedFolder(folder)),
    examined('litestream', () => litestream(config)),
    examined('lease', () => servers(config, folder)),
    asideOn('this server', listSetAside(config.dataDir)),
  ])
  return found.flat()
}

async function sharedFolder(folder: SharedFolder): Promise<Finding[]> {
  await requireAtomicWrites(folder)
  return [ok('shared folder', `${folder.to}: of several writes at once, one succeeds`)]
}

function litestream({ replication }: Config): Finding[] {
  const version = requireLitestream(replication.litestream)
  return [
    Bun.semver.order(version, NEWEST_TESTED) > 0
      ? warning('litestream', `${version} is newer than the last tested version, ${NEWEST_TESTED}`)
      : ok('litestream', `version ${version}`),
  ]
}

async function servers(config: Config, folder: SharedFolder): Promise<Finding[]> {
  const lease = (await folder.leases.read())?.lease
  const now = systemClock.now()
  if (!lease) return [warning('lease', 'no server was ever active: run `gatehouse serve` on one')]
  const [state, reports] = await Promise.all([leaseState(folder, lease), folder.reports.list()])
  const standbys = reports.filter(({ id }) => id !== lease.server.id)
  const own = readServerState(config.dataDir)?.id
  return [
    ...judgeLease(lease, state, now),
    ...(await examined('master key in storage', () => sealedKey(config, folder, lease))),
    ...(own === lease.server.id && state === 'held'
      ? await examined('replica', () => uploads(config))
      : []),
    ...judgeStandbys(standbys, now, lease.ttlMs),
    ...reports.flatMap(({ id, name, setAside }) => (id === own ? [] : asideOn(name, setAside))),
  ]
}

/** The holder of a lease that was just renewed has the clock that it was renewed by. */
export function judgeLease(
  { server, generation, since, renewedAt, ttlMs }: Lease,
  state: LeaseState,
  now: number,
): Finding[] {
  const check = 'lease'
  const held = `${server.name}, generation ${generation}, since ${isoTime(since)}`
  if (state === 'released') return [warning(check, `${held}, has stepped down: start a standby`)]
  if (state === 'ending') return [warning(check, `${held}, is about to step down`)]
  if (state === 'expired')
    return [problem(check, `${held}, is not renewed: start ${server.name} or a standby`)]
  const skewMs = Math.abs(now - renewedAt)
  return [
    ok(check, `held by ${held}`),
    ...(skewMs > MAX_SKEW_MS + ttlMs
      ? [
          warning(
            'clock',
            `the clock of ${server.name} differs by ${Math.round(skewMs / MINUTE_MS)} minutes from this machine: use NTP on both`,
          ),
        ]
      : []),
  ]
}

async function sealedKey(config: Config, folder: SharedFolder, lease: Lease): Promise<Finding[]> {
  const { dataDir, replication } = config
  const { keyId } = lease
  if (keyId === undefined) return []
  const check = 'master key in storage'
  if (canSeal(replication)) {
    await createSealedKey({ ...folder, dataDir, secret: replication }).open(keyId)
    return [ok(check, 'this server can open it')]
  }
  return [
    keyIdIn(dataDir) === keyId
      ? ok(check, 'none, but this server has the same master.key as the active one')
      : problem(
          check,
          'this server has no master.key of the active one: copy the file, or set [replication] key_file on all servers',
        ),
  ]
}

const uploads = ({ dataDir }: Config): Promise<Finding[]> =>
  confirmation({ dataDir, socket: join(pairFolder(dataDir), 'litestream.sock') })

export function judgeStandbys(standbys: readonly Report[], now: number, ttlMs: number): Finding[] {
  const check = 'standby'
  if (standbys.length === 0)
    return [warning(check, 'none: if the active server stops, no other one takes over')]
  return standbys.map((report) => {
    const { name, lagMs, version } = report
    const reason = reasonAgainst(report, now, ttlMs)
    return reason === undefined
      ? ok(check, `${name} is ready, ${(lagMs / 1000).toFixed(1)} s behind, version ${version}`)
      : warning(check, `${name} cannot take over: ${reason}`)
  })
}

const asideOn = (name: string, folders: readonly string[]): Finding[] =>
  folders.map((folder) =>
    warning(
      'set aside',
      `${name} keeps ${folder}, which may have writes that no other server has. Compare it, then delete it`,
    ),
  )
